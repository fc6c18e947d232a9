//! Resolves a reference in a configuration to the bytes of its component.

use std::sync::Arc;

use hookbox_sandbox::{beneath::Beneath, component::inspect, sha256};
use thiserror::Error;

use super::{
    ApprovalStore, Approvals, ComponentCache, ComponentCacheError, Lock, LockError, Locked, Power, Reference, Revoked,
    lock_file,
};
use crate::config::Config;

/// The reason why the component of a reference does not run. A missing entry, file or approval never causes a request
/// to a registry: that requires `hookbox lock`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NotLocked {
    /// The lock cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The lock does not contain the reference.
    #[error("`{reference}` is not in {}", lock.display())]
    Absent {
        /// The reference.
        reference: String,
        /// The lock.
        lock: std::path::PathBuf,
    },
    /// The user has not approved the entry.
    #[error("`{reference}` is locked to {digest}, which is not approved{}", list(changes))]
    NotApproved {
        /// The reference.
        reference: String,
        /// The digest of the component.
        digest: String,
        /// The differences to the approved entry.
        changes: Vec<String>,
    },
    /// It is revoked.
    #[error("`{reference}`: {what} is revoked")]
    Revoked {
        /// The reference.
        reference: String,
        /// The digest or the publisher.
        what: String,
    },
    /// The revocations cannot be read.
    #[error("cannot read what is revoked: {0}")]
    Revocations(std::io::Error),
    /// The approvals cannot be read.
    #[error("cannot read the approvals: {0}")]
    Approvals(std::io::Error),
    /// The component is not fetched.
    #[error("`{reference}` is locked to {digest}, which is not fetched")]
    NotFetched {
        /// The reference.
        reference: String,
        /// The digest of the component.
        digest: String,
    },
    /// The power in the lock differs from the component's.
    #[error("the lock says that `{reference}` {expected}, and the component {found}")]
    Lies {
        /// The reference.
        reference: String,
        /// The power in the lock.
        expected: String,
        /// The power of the component.
        found: String,
    },
    /// The folder of components cannot be used.
    #[error(transparent)]
    ComponentCache(#[from] ComponentCacheError),
}

impl NotLocked {
    /// The advice, in one line.
    pub fn help(&self) -> String {
        match self {
            Self::Lock(_) | Self::Absent { .. } | Self::Lies { .. } => "run   hookbox lock".into(),
            Self::NotApproved { .. } => "review it, then   hookbox approve".into(),
            Self::NotFetched { .. } => "run   hookbox lock --locked".into(),
            Self::Revoked { .. } => "update it, or take it out of the configuration".into(),
            Self::Revocations(_) => "correct registries.json".into(),
            Self::Approvals(_) | Self::ComponentCache(_) => "see that the folder is yours alone and can be read".into(),
        }
    }
}

fn list(changes: &[String]) -> String {
    if changes.is_empty() { String::new() } else { format!(" ({})", changes.join("; ")) }
}

/// Times that a lock is read again, because it changed before its approvals were read.
const RETRIES: usize = 5;

/// The locations of approvals and components.
#[derive(Debug, Clone)]
pub(crate) struct LockContext {
    pub(crate) approvals: Approvals,
    /// The folder of components. `None`: the user's.
    pub(crate) component_cache: Option<ComponentCache>,
    /// `None`: what the user revoked.
    pub(crate) revoked: Option<Revoked>,
    /// The lock has to be below this folder.
    pub(crate) within: Option<Arc<Beneath>>,
}

/// The entry of a reference. Checks that the lock is current and the entry approved. Its `attested` is true only if the
/// publisher was verified for this user, or the caller vouches for the lock.
pub(crate) fn entry(config: &Config, reference: &Reference, place: &LockContext) -> Result<Locked, NotLocked> {
    let path = lock_file(config);
    let mut lock = Lock::read(&path, place.within.as_deref())?;
    for _ in 0..RETRIES {
        let found = approved(config, reference, place, &lock);
        if !matches!(found, Err(NotLocked::NotApproved { .. })) {
            return found;
        }
        // A command may have written the lock and its approvals since the lock was read.
        let now = Lock::read(&path, place.within.as_deref())?;
        if now == lock {
            return found;
        }
        lock = now;
    }
    approved(config, reference, place, &lock)
}

/// The entry of a reference in a lock that was read, if it is current and approved.
fn approved(config: &Config, reference: &Reference, place: &LockContext, lock: &Lock) -> Result<Locked, NotLocked> {
    let (path, name) = (lock_file(config), reference.to_string());
    lock.check(config)?;
    let Some(locked) = lock.components.get(&name) else {
        return Err(NotLocked::Absent { reference: name, lock: path });
    };
    let revoked = match &place.revoked {
        Some(revoked) => revoked.clone(),
        None => Revoked::of_user().map_err(NotLocked::Revocations)?,
    };
    if let Some(what) = revoked.find([&locked.digest, &locked.manifest], locked.publisher.as_deref()) {
        return Err(NotLocked::Revoked { reference: name, what: what.to_owned() });
    }
    let store = match &place.approvals {
        Approvals::Vouched => return Ok(locked.clone()),
        Approvals::Folder(folder) => ApprovalStore::at(folder),
        Approvals::User => ApprovalStore::of_user().ok_or(NotLocked::ComponentCache(ComponentCacheError::NoPlace))?,
    };
    let approval = store.get(&path).map_err(NotLocked::Approvals)?;
    if let Some(approved) = approval.approved(&name, locked) {
        // A lock may say another manifest than the approved one, which may be revoked.
        if let Some(what) = revoked.find([&approved.digest, &approved.manifest], approved.publisher.as_deref()) {
            return Err(NotLocked::Revoked { reference: name, what: what.to_owned() });
        }
        return Ok(Locked { attested: locked.attested && approved.attested, ..locked.clone() });
    }
    let before = approval.components.get(&name);
    let changes = before.map(|before| before.changes(locked)).unwrap_or_default();
    let changes = changes.iter().filter(|change| change.needs_approval()).map(ToString::to_string).collect();
    Err(NotLocked::NotApproved { reference: name, digest: locked.digest.clone(), changes })
}

/// Returns the entry of a reference in the lock of a configuration, and its verified bytes.
///
/// # Errors
/// The reason why the component does not run.
pub fn component(config: &Config, reference: &Reference, approvals: Approvals) -> Result<(Locked, Vec<u8>), NotLocked> {
    fetch(config, reference, &LockContext { approvals, component_cache: None, revoked: None, within: None })
}

/// The entry of a reference and its bytes: locked, approved, fetched and verified.
pub(crate) fn fetch(
    config: &Config,
    reference: &Reference,
    place: &LockContext,
) -> Result<(Locked, Vec<u8>), NotLocked> {
    let locked = entry(config, reference, place)?;
    let component_cache = place.component_cache.clone().map_or_else(ComponentCache::of_user, Ok)?;
    let Some(bytes) = component_cache.get(locked.hex())? else {
        return Err(NotLocked::NotFetched { reference: reference.to_string(), digest: locked.digest });
    };
    // Who approved it has approved the power that was read from these bytes.
    if place.approvals == Approvals::Vouched {
        verify(reference, &locked, &bytes)?;
    }
    Ok((locked, bytes))
}

/// Checks that the bytes have the digest in the lock, and that their power equals that in the lock, which people
/// review.
pub(crate) fn verify(reference: &Reference, locked: &Locked, bytes: &[u8]) -> Result<(), NotLocked> {
    if sha256(bytes) != locked.hex() {
        return Err(NotLocked::NotFetched { reference: reference.to_string(), digest: locked.digest.clone() });
    }
    // An invalid component fails later, when it is loaded.
    let Ok(found) = inspect(bytes) else { return Ok(()) };
    let (expected, found) = (locked.power(), Power::of(&found));
    if expected == found {
        return Ok(());
    }
    let words = |power: &Power| {
        let list = |words: &std::collections::BTreeSet<String>| {
            if words.is_empty() { "nothing".to_owned() } else { words.iter().cloned().collect::<Vec<_>>().join(", ") }
        };
        format!("handles {} and imports {}", list(&power.exports), list(&power.imports))
    };
    Err(NotLocked::Lies { reference: reference.to_string(), expected: words(&expected), found: words(&found) })
}
