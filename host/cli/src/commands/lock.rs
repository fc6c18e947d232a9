//! `hookbox lock`: pins and fetches the hooks that a configuration names.

use std::path::PathBuf;

use clap::Args;
use hookbox::artifact::{Change, Locked, Reference};
use hookbox_registry::{Registry, Trust, resolve};
use serde_json::{Value, json};

use super::block_on;
use crate::{
    exit::Exit,
    locks::{self, Locks},
    print, registries,
};

/// Pin the hooks of registries that a configuration names, and fetch them. Hooks that are locked stay as they are: `update`
/// changes them.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox lock hooks.json\n  hookbox lock --locked hooks.json")]
pub struct Lock {
    /// The configuration; `hooks.json` here, or the client's own settings, when left out
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The hook protocol, when the configuration does not say (default: claude)
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// Change nothing: fetch what the lock says, and fail where it is missing, stale or not approved
    #[arg(long)]
    locked: bool,
    /// With `--locked`: approve what the lock says, as a build job that vouches for its checkout
    #[arg(long, requires = "locked")]
    approve: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Lock {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let mut locks = Locks::open(self.file, self.dialect.as_deref())?;
        let client = registries::of_files()?;
        if self.locked {
            return block_on(fetch(&mut locks, &client, self.approve));
        }
        block_on(lock(&mut locks, &client))
    }
}

/// Resolves references that the lock lacks.
async fn lock(locks: &mut Locks, client: &(Registry, Trust)) -> anyhow::Result<Exit> {
    let (mut unapproved, mut added) = (Vec::new(), Vec::new());
    for reference in locks.config.references.clone() {
        let name = reference.to_string();
        match locks.lock.components.get(&name).cloned() {
            None => {
                let resolved = resolve(&client.0, &reference, &client.1).await.map_err(registries::refused)?;
                locks::show(&reference, &resolved.locked, true);
                locks.take(&reference, &resolved)?;
                added.push(name);
            }
            Some(locked) => unapproved.extend(ready(locks, client, &reference, locked).await?),
        }
    }
    locks.write()?;
    print::out(format_args!("{}: {} locked", locks.path.display(), count(locks.lock.components.len())));
    print_json(locks, &added, &unapproved);
    approve_first(&unapproved)
}

/// Fetches what the lock says, and nothing else.
async fn fetch(locks: &mut Locks, client: &(Registry, Trust), approve: bool) -> anyhow::Result<Exit> {
    let stale = |why: String| Exit::Stale.advised(why, &["run   hookbox lock"]);
    if !locks.is_there && !locks.config.references.is_empty() {
        return Err(stale(format!("{} does not exist", locks.path.display())));
    }
    if locks.is_there {
        locks.lock.check(&locks.config).map_err(|error| stale(error.to_string()))?;
    }
    let mut unapproved = Vec::new();
    for reference in locks.config.references.clone() {
        let name = reference.to_string();
        let Some(locked) = locks.lock.components.get(&name).cloned() else {
            return Err(stale(format!("`{name}` is not in {}", locks.path.display())));
        };
        if approve {
            let (bytes, verified) = locks.component(client, &reference, &locked).await?;
            locks::check_power(&reference, &locked, &bytes)?;
            locks.keep(&bytes)?;
            locks.approve(&name, verified);
        } else {
            unapproved.extend(ready(locks, client, &reference, locked).await?);
        }
    }
    locks.settle()?;
    let ready = locks.config.references.len() - unapproved.len();
    print::out(format_args!("{}: {} ready", locks.path.display(), count(ready)));
    print_json(locks, &[], &unapproved);
    approve_first(&unapproved)
}

/// Prints the lock as JSON.
fn print_json(locks: &Locks, added: &[String], unapproved: &[String]) {
    print::result(&json!({
        "lock": locks.path.to_string_lossy(), "components": locks.lock.components, "added": added,
        "unapproved": unapproved,
    }));
}

/// The changes of a power diff as JSON.
pub(super) fn diff_json(changes: &[Change]) -> Vec<Value> {
    changes
        .iter()
        .map(|change| json!({ "text": change.to_string(), "needsApproval": change.needs_approval() }))
        .collect()
}

/// Fetches a component of the lock if this user approved it, here or for another lock. Otherwise returns its name.
async fn ready(
    locks: &mut Locks,
    client: &(Registry, Trust),
    reference: &Reference,
    locked: Locked,
) -> anyhow::Result<Option<String>> {
    let name = reference.to_string();
    let (bytes, verified) = locks.component(client, reference, &locked).await?;
    locks::check_power(reference, &locked, &bytes)?;
    let known = locks.approval.covers(&name, &locked);
    let before = locks.approval.components.get(&name);
    // A changed entry must be shown to the user, even if it is approved elsewhere.
    if !known && (before.is_some() || !locks.approved_elsewhere(reference, &locked)) {
        locks::show(reference, &locked, verified.attested);
        for change in before.map(|before| before.changes(&locked)).unwrap_or_default() {
            print::out(format_args!("  {}{change}", if change.needs_approval() { "" } else { "  " }));
        }
        return Ok(Some(name));
    }
    locks.keep(&bytes)?;
    if !known {
        locks.approve(&name, verified);
    }
    Ok(None)
}

/// Ends a command that found unapproved components.
pub(super) fn approve_first(unapproved: &[String]) -> anyhow::Result<Exit> {
    if unapproved.is_empty() {
        return Ok(Exit::Ok);
    }
    let what = unapproved.join(", ");
    Err(Exit::Unapproved.advised(format!("not approved: {what}"), &["review it, then   hookbox approve"]))
}

/// Formats a number of components: `1 component`, `2 components`.
pub(super) fn count(number: usize) -> String {
    if number == 1 { "1 component".into() } else { format!("{number} components") }
}

/// The lines of a power diff. Changes that need approval come first.
pub(super) fn diff(changes: &[Change]) -> Vec<String> {
    let (power, other): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|change| change.needs_approval());
    power.into_iter().chain(other).map(|change| format!("  {change}")).collect()
}
