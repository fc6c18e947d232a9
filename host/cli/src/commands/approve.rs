//! `hookbox approve`: approves hooks that another person locked, and updates that ask for more.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{
    block_on,
    lock::{diff, diff_json},
};
use crate::{
    exit::Exit,
    locks::{self, Locks},
    print, registries,
};

/// Approve locked hooks that are new or need more permissions. What is approved is kept outside
/// the checkout, for this user and this lock.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox approve\n  hookbox approve command-guard")]
pub struct Approve {
    /// The hooks: references, repositories or their last words; all when left out
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The configuration; `hooks.json` here, or the client's own settings, when left out
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The hook protocol, when the configuration does not say (default: claude)
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// Only show what there is to approve
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Approve {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let mut locks = Locks::open(self.config, self.dialect.as_deref())?;
        let (client, chosen) = (registries::of_files()?, locks.named(&self.names)?);
        let mut approved = Vec::new();
        for reference in &chosen {
            let name = reference.to_string();
            let Some(locked) = locks.lock.components.get(&name).cloned() else {
                let message = format!("`{name}` is not in {}", locks.path.display());
                return Err(Exit::Stale.advised(message, &["run   hookbox lock"]));
            };
            // A pending update, or else the entry in the lock.
            let wanted = locks.approval.pending.get(&name).cloned().unwrap_or_else(|| locked.clone());
            if wanted == locked && locks.approval.covers(&name, &locked) {
                continue;
            }
            let (bytes, verified) = block_on(locks.component(&client, reference, &wanted))?;
            locks::check_power(reference, &wanted, &bytes)?;
            locks::show(reference, &wanted, verified.attested);
            let before = locks.approval.components.get(&name);
            let changes = before.map(|before| before.changes(&wanted)).unwrap_or_default();
            diff(&changes).iter().for_each(print::out);
            approved.push(json!({ "reference": name, "component": wanted, "changes": diff_json(&changes) }));
            if !self.dry_run {
                locks.keep(&bytes)?;
                locks.enter(reference, wanted);
                locks.approve(&name, verified);
            }
        }
        let word = if self.dry_run { "to approve" } else { "approved" };
        print::out(format_args!("{} {word}", approved.len()));
        if !self.dry_run {
            locks.write()?;
        }
        print::result(&json!({
            "lock": locks.path.to_string_lossy(), "components": approved, "approved": !self.dry_run,
        }));
        Ok(Exit::Ok)
    }
}
