//! `hookbox update`: finds newer versions of locked hooks, and shows what they change.

use std::path::PathBuf;

use clap::Args;
use hookbox::artifact::Change;
use hookbox_registry::resolve;

use super::{
    block_on,
    lock::{approve_first, diff},
    test::compare::{Compared, compare},
};
use crate::{exit::Exit, locks::Locks, print, registries};

/// Find newer versions of locked hooks, and show what they change, with the results of the cases in `tests/` before and after.
/// An update that needs no more permissions is written to the lock. More permissions, a less certain origin, or a
/// case that fails now waits for `hookbox approve`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox update\n  hookbox update command-guard")]
pub struct Update {
    /// The hooks: references, repositories or their last words; all when left out
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The configuration; `hooks.json` here, or the client's own settings, when left out
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The hook protocol, when the configuration does not say (default: claude)
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// Show what there is, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Update {
    pub fn run(self) -> anyhow::Result<Exit> {
        let mut locks = Locks::open(self.config, self.dialect.as_deref())?;
        let ((registry, trust), chosen) = (registries::of_files()?, locks.named(&self.names)?);
        let unapproved = block_on(async {
            let mut unapproved = Vec::new();
            for reference in &chosen {
                let name = reference.to_string();
                let Some(before) = locks.lock.components.get(&name).cloned() else {
                    let message = format!("`{name}` is not in {}", locks.path.display());
                    return Err(Exit::Stale.advised(message, &["run   hookbox lock"]));
                };
                let resolved = resolve(&registry, reference, &trust).await.map_err(registries::refused)?;
                if resolved.locked.digest == before.digest && resolved.locked.publisher == before.publisher {
                    print::out(format_args!("{name}: {} is the newest", short(&before.digest)));
                    continue;
                }
                let changes = before.changes(&resolved.locked);
                print::out(format_args!("{name}: {} -> {}", short(&before.digest), short(&resolved.locked.digest)));
                diff(&changes).iter().for_each(print::out);
                let regressed = cases(&locks, &name, &resolved.component).await?;
                if regressed || changes.iter().any(Change::needs_approval) {
                    locks.approval.pending.insert(name.clone(), resolved.locked.clone());
                    unapproved.push(name);
                    if !self.dry_run {
                        locks.keep(&resolved.component)?;
                    }
                } else if !self.dry_run {
                    locks.take(reference, &resolved)?;
                }
            }
            Ok(unapproved)
        })?;
        if !self.dry_run {
            locks.write()?;
        }
        approve_first(&unapproved)
    }
}

/// Prints the results of the cases beside the configuration with the locked and the new component. Returns true if a case
/// passed before and fails now: the new one may protect less, even with the same permissions.
async fn cases(locks: &Locks, name: &str, new: &[u8]) -> anyhow::Result<bool> {
    let before = locks.all_kept();
    if !before.contains_key(name) {
        return Ok(false);
    }
    let mut after = before.clone();
    after.insert(name.to_owned(), new.to_vec());
    let cases = compare(&locks.config.file, before, after).await?;
    if cases.is_empty() {
        return Ok(false);
    }
    let passed = |of: fn(&Compared) -> bool| cases.iter().filter(|case| of(case)).count();
    let (before, after) = (passed(|case| case.before), passed(|case| case.after));
    print::out(format_args!("    cases {before} -> {after} of {} pass", cases.len()));
    for case in cases.iter().filter(|case| case.before != case.after) {
        let word = if case.before { "! fails now: " } else { "  passes now: " };
        print::out(format_args!("  {word}{}", print::name(&case.name)));
    }
    Ok(cases.iter().any(|case| case.before && !case.after))
}

/// The first digits of a digest.
fn short(digest: &str) -> String {
    format!("{}…", digest.get(..19).unwrap_or(digest))
}
