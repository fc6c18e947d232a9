//! The folder of components that were fetched, each under its digest.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use hookbox_sandbox::{private::Folder, sha256};
use thiserror::Error;

use crate::folders;

/// Bytes that a folder of components may have, unless its owner says otherwise: 2 GiB.
pub const KEPT_BYTES: u64 = 2 << 30;
/// Bytes of one component at most.
const MAX_COMPONENT: u64 = 256 << 20;

/// A folder of components. Each is written once, whole or not at all, and verified whenever it is read: what a power cut or
/// another program left behind is as if it were not there.
#[derive(Debug, Clone)]
pub struct Kept {
    folder: PathBuf,
    most: u64,
}

/// Why a component cannot be kept or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeepError {
    /// There is no place for the folder.
    #[error("there is no place to keep components: HOME is not set")]
    NoPlace,
    /// The folder or a file in it cannot be used.
    #[error("cannot use {}: {error}", path.display())]
    Io {
        /// The folder or the file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The folder is full.
    #[error("{} has {used} of {most} bytes, and {needed} more are needed", path.display())]
    Full {
        /// The folder.
        path: PathBuf,
        /// Bytes in it.
        used: u64,
        /// Bytes that it may have.
        most: u64,
        /// Bytes of the component.
        needed: u64,
    },
}

/// A component in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// Its digest in hexadecimal, as its file is called.
    pub digest: String,
    /// Its bytes.
    pub size: u64,
    /// The time at which it was fetched.
    pub fetched: Option<SystemTime>,
}

impl Kept {
    /// The user's: `components` in hookbox's cache folder.
    ///
    /// # Errors
    /// [`KeepError::NoPlace`].
    pub fn of_user() -> Result<Self, KeepError> {
        folders::cache().map(|cache| Self::at(cache.join("components"))).ok_or(KeepError::NoPlace)
    }

    /// A folder of the caller's. It has to be this user's alone, and is made when it is first written to.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), most: KEPT_BYTES }
    }

    /// Bounds what it may have, in bytes.
    #[must_use]
    pub fn most(mut self, bytes: u64) -> Self {
        self.most = bytes;
        self
    }

    /// Its path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The component of a digest, in hexadecimal, if it is there and whole.
    ///
    /// # Errors
    /// [`KeepError::Io`]: also where the folder or the file is not this user's alone.
    pub fn get(&self, digest: &str) -> Result<Option<Vec<u8>>, KeepError> {
        if !self.folder.exists() {
            return Ok(None);
        }
        let path = self.folder.join(name(digest));
        let read = || {
            let Some(file) = Folder::open(&self.folder)?.file(&name(digest))? else { return Ok(None) };
            let mut bytes = Vec::new();
            file.take(MAX_COMPONENT).read_to_end(&mut bytes)?;
            Ok((sha256(&bytes) == digest).then_some(bytes))
        };
        read().map_err(|error| KeepError::Io { path, error })
    }

    /// Keeps a component under the digest of its bytes, which it returns.
    ///
    /// # Errors
    /// [`KeepError::Full`], [`KeepError::Io`].
    pub fn put(&self, bytes: &[u8]) -> Result<String, KeepError> {
        let digest = sha256(bytes);
        if self.get(&digest)?.is_some() {
            return Ok(digest);
        }
        let io = |error| KeepError::Io { path: self.folder.clone(), error };
        let folder = Folder::open(&self.folder).map_err(io)?;
        // Writers remove what those left behind that were ended while they wrote.
        folder.tidy();
        let (used, needed) = (self.files()?.iter().map(|file| file.size).sum::<u64>(), bytes.len() as u64);
        if used.saturating_add(needed) > self.most {
            return Err(KeepError::Full { path: self.folder.clone(), used, most: self.most, needed });
        }
        folder.write(&name(&digest), &[bytes]).map_err(io)?;
        Ok(digest)
    }

    /// The components in it, by digest.
    ///
    /// # Errors
    /// [`KeepError::Io`].
    pub fn files(&self) -> Result<Vec<KeptFile>, KeepError> {
        if !self.folder.exists() {
            return Ok(Vec::new());
        }
        let io = |error| KeepError::Io { path: self.folder.clone(), error };
        let names = Folder::open(&self.folder).and_then(|folder| folder.names()).map_err(io)?;
        let mut files: Vec<KeptFile> = names
            .iter()
            .filter_map(|name| {
                let digest = name.to_str()?.strip_suffix(".wasm")?;
                let meta = fs::symlink_metadata(self.folder.join(name)).ok()?;
                Some(KeptFile { digest: digest.to_owned(), size: meta.len(), fetched: meta.modified().ok() })
            })
            .collect();
        files.sort_by(|a, b| a.digest.cmp(&b.digest));
        Ok(files)
    }

    /// Removes a component; true where there was one.
    ///
    /// # Errors
    /// [`KeepError::Io`].
    pub fn remove(&self, digest: &str) -> Result<bool, KeepError> {
        let io = |error| KeepError::Io { path: self.folder.clone(), error };
        Folder::open(&self.folder).and_then(|folder| folder.remove(&name(digest))).map_err(io)
    }
}

fn name(digest: &str) -> String {
    format!("{digest}.wasm")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::{KeepError, Kept};

    #[test]
    fn what_is_kept_is_whole_or_not_there() {
        let home = tempfile::tempdir().unwrap();
        let kept = Kept::at(home.path().join("components"));
        assert_eq!(kept.files().unwrap(), []);
        let digest = kept.put(b"component").unwrap();
        assert_eq!(kept.get(&digest).unwrap().unwrap(), b"component");
        // A power cut between the new name and the content.
        let file = kept.folder().join(format!("{digest}.wasm"));
        fs::remove_file(&file).unwrap();
        fs::write(&file, b"comp").unwrap();
        assert_eq!(kept.get(&digest).unwrap(), None);
        assert_eq!(kept.put(b"component").unwrap(), digest);
        assert_eq!(kept.get(&digest).unwrap().unwrap(), b"component");
        assert!(kept.remove(&digest).unwrap());
        assert_eq!(kept.get(&digest).unwrap(), None);
    }

    #[test]
    fn a_link_in_place_of_a_component_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let kept = Kept::at(home.path().join("components"));
        let digest = kept.put(b"component").unwrap();
        let (file, elsewhere) = (kept.folder().join(format!("{digest}.wasm")), home.path().join("elsewhere"));
        fs::rename(&file, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert!(matches!(kept.get(&digest), Err(KeepError::Io { .. })));
    }

    #[test]
    fn a_full_folder_takes_no_more() {
        let home = tempfile::tempdir().unwrap();
        let kept = Kept::at(home.path().join("components")).most(10);
        kept.put(b"12345678").unwrap();
        assert!(matches!(kept.put(b"123"), Err(KeepError::Full { used: 8, needed: 3, .. })));
        // What is there takes no more room.
        kept.put(b"12345678").unwrap();
    }
}
