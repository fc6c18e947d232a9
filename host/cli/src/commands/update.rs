//! `hookbox update`: finds newer versions of locked hooks, and shows what they change.

use std::path::PathBuf;

use clap::Args;
use hookbox::artifact::Change;
use hookbox_registry::resolve;
use serde_json::{Value, json};

use super::{
    block_on,
    lock::{approve_first, diff, diff_json},
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
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Update {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let mut locks = Locks::open(self.config, self.dialect.as_deref())?;
        let ((registry, trust), chosen) = (registries::of_files()?, locks.named(&self.names)?);
        let (unapproved, updates) = block_on(async {
            let (mut unapproved, mut updates) = (Vec::new(), Vec::new());
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
                let cases = cases(&locks, &name, &resolved.component).await?;
                let waits = cases.has_regression() || changes.iter().any(Change::needs_approval);
                updates.push(json!({
                    "reference": name, "from": before, "to": resolved.locked, "changes": diff_json(&changes),
                    "cases": cases.json(), "needsApproval": waits, "written": !waits && !self.dry_run,
                }));
                if waits {
                    locks.approval.pending.insert(name.clone(), resolved.locked.clone());
                    unapproved.push(name);
                    if !self.dry_run {
                        locks.keep(&resolved.component)?;
                    }
                } else if !self.dry_run {
                    locks.take(reference, &resolved)?;
                }
            }
            Ok((unapproved, updates))
        })?;
        if !self.dry_run {
            locks.write()?;
        }
        print::result(&json!({ "lock": locks.path.to_string_lossy(), "updates": updates, "unapproved": unapproved }));
        approve_first(&unapproved)
    }
}

/// Cases with the locked and with the new component.
struct Cases(Vec<Compared>);

/// Runs the cases beside the configuration with the locked and the new component, and prints the differences.
async fn cases(locks: &Locks, name: &str, new: &[u8]) -> anyhow::Result<Cases> {
    let before = locks.all_kept();
    if !before.contains_key(name) {
        return Ok(Cases(Vec::new()));
    }
    let mut after = before.clone();
    after.insert(name.to_owned(), new.to_vec());
    let cases = Cases(compare(&locks.config.file, before, after).await?);
    cases.print();
    Ok(cases)
}

impl Cases {
    /// Returns true if a case passed before and fails now: the new component may protect less, even with the same
    /// permissions.
    fn has_regression(&self) -> bool {
        self.0.iter().any(|case| case.before && !case.after)
    }

    fn passed(&self, of: fn(&Compared) -> bool) -> usize {
        self.0.iter().filter(|case| of(case)).count()
    }

    fn print(&self) {
        if self.0.is_empty() {
            return;
        }
        let (before, after) = (self.passed(|case| case.before), self.passed(|case| case.after));
        print::out(format_args!("    cases {before} -> {after} of {} pass", self.0.len()));
        for case in self.0.iter().filter(|case| case.before != case.after) {
            let word = if case.before { "! fails now: " } else { "  passes now: " };
            print::out(format_args!("  {word}{}", print::name(&case.name)));
        }
    }

    fn json(&self) -> Vec<Value> {
        self.0.iter().map(|case| json!({ "name": case.name, "before": case.before, "after": case.after })).collect()
    }
}

/// The first digits of a digest.
fn short(digest: &str) -> String {
    format!("{}…", digest.get(..19).unwrap_or(digest))
}
