//! The user's approvals of locked components. They are in the user's state folder, because a person who can change a
//! checkout must not be able to approve the change.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

use hookbox_sandbox::{
    private::{self, Folder, append},
    sha256,
};
use serde::{Deserialize, Serialize};

use super::{Lock, Locked};
use crate::folders;

/// The time to wait for another process. It may wait for a registry meanwhile.
const BUSY: Duration = Duration::from_mins(3);

/// The approval that a locked component needs before it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Approvals {
    /// The user's approval: [`ApprovalStore::of_user`].
    #[default]
    User,
    /// An approval in a folder of the embedder.
    Folder(PathBuf),
    /// No approval: the caller trusts the lock as much as the configuration.
    Vouched,
}

/// The approved components of one lock. In its entries, `attested` is true only if the publisher's signature was verified
/// for this user; a lock may name a publisher that was not verified here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// The lock file.
    pub lock: PathBuf,
    /// The components that may run, by reference, with their entries at the time of approval.
    pub components: BTreeMap<String, Locked>,
    /// Approved components that are about to be written to the lock. Meanwhile a reader may find the old or the new
    /// lock.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub next: BTreeMap<String, Locked>,
    /// Components that `hookbox update` found, waiting for `hookbox approve`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pending: BTreeMap<String, Locked>,
}

impl Approval {
    /// Returns true if this component may run for this reference: of these bytes, of this publisher, and of this power, which was
    /// read from the bytes when it was approved.
    pub fn covers(&self, reference: &str, locked: &Locked) -> bool {
        self.approved(reference, locked).is_some()
    }

    /// The entry that approves this component, if one [does](Self::covers).
    pub fn approved(&self, reference: &str, locked: &Locked) -> Option<&Locked> {
        let same = |approved: &&Locked| {
            approved.digest == locked.digest
                && approved.publisher == locked.publisher
                && approved.power() == locked.power()
        };
        [&self.components, &self.next].into_iter().find_map(|approved| approved.get(reference).filter(same))
    }

    /// Approves the part of `next` that the lock got, and forgets the rest. A killed command leaves it to the next one, which
    /// must not replace what the lock has by what it is about to write.
    pub fn settle(&mut self, lock: &Lock) {
        for (name, approved) in std::mem::take(&mut self.next) {
            if lock.components.get(&name).is_some_and(|locked| locked.digest == approved.digest) {
                self.components.insert(name, approved);
            }
        }
    }
}

/// A folder of approvals: a file for each lock.
pub struct ApprovalStore(PathBuf);

impl ApprovalStore {
    /// The user's folder: `$XDG_STATE_HOME/hookbox/approvals`. `None` without a home directory.
    pub fn of_user() -> Option<Self> {
        Some(Self(folders::state()?.join("approvals")))
    }

    /// A folder of the embedder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Returns the approvals of a lock.
    ///
    /// # Errors
    /// The folder or the file cannot be read, or is not private to this user.
    pub fn get(&self, lock: &Path) -> io::Result<Approval> {
        let lock = place(lock);
        let none = Approval { lock: lock.clone(), ..Approval::default() };
        if !self.0.exists() {
            return Ok(none);
        }
        match Folder::open(&self.0)?.read(&name(&lock))? {
            // A power failure may leave a file without its content. Then nothing is approved, which opens no gate.
            Some(content) => Ok(serde_json::from_slice(&content).unwrap_or(none)),
            None => Ok(none),
        }
    }

    /// Waits until no other process changes a lock and its approvals. The returned file is the right to change them;
    /// closing it gives it back.
    ///
    /// # Errors
    /// Same as [`ApprovalStore::get`], or another process took longer than 3 minutes.
    pub fn exclusive(&self, lock: &Path) -> io::Result<File> {
        Folder::open(&self.0)?;
        let file = append(&self.0.join(format!("{}.busy", sha256(place(lock).as_os_str().as_bytes()))))?;
        if private::lock(&file, BUSY)? { Ok(file) } else { Err(io::Error::other("another hookbox is changing them")) }
    }

    /// Stores the approvals of a lock.
    ///
    /// # Errors
    /// Same as [`ApprovalStore::get`], or a write error.
    pub fn put(&self, approval: &Approval) -> io::Result<()> {
        let folder = Folder::open(&self.0)?;
        folder.tidy();
        folder.write_durably(&name(&approval.lock), &[&serde_json::to_vec(approval)?])
    }

    /// Returns all approvals, sorted by lock.
    ///
    /// # Errors
    /// Same as [`ApprovalStore::get`].
    pub fn all(&self) -> io::Result<Vec<Approval>> {
        if !self.0.exists() {
            return Ok(Vec::new());
        }
        let folder = Folder::open(&self.0)?;
        let mut all: Vec<Approval> = Vec::new();
        for name in folder.names()? {
            let is_approval = Path::new(&name).extension().is_some_and(|extension| extension == "json");
            let Some(name) = name.to_str().filter(|_| is_approval) else { continue };
            let content = folder.read(name)?;
            all.extend(content.and_then(|content| serde_json::from_slice::<Approval>(&content).ok()));
        }
        all.sort_by(|a, b| a.lock.cmp(&b.lock));
        Ok(all)
    }
}

/// The path that identifies a lock. Symlinks of its folder are resolved, so that all paths to a folder share its
/// approvals.
fn place(lock: &Path) -> PathBuf {
    let absolute = std::path::absolute(lock).unwrap_or_else(|_| lock.to_owned());
    let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else { return absolute };
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(name)
}

fn name(lock: &Path) -> String {
    format!("{}.json", sha256(lock.as_os_str().as_bytes()))
}
