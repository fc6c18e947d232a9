//! The folder of fetched components, each under its digest.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use hookbox_sandbox::{private::Folder, sha256};
use thiserror::Error;

use crate::folders;

/// The default size limit of the folder: 2 GiB.
pub const CACHE_BYTES: u64 = 2 << 30;
/// The largest component, in bytes.
const MAX_COMPONENT: u64 = 256 << 20;

/// A folder of components. Each is written atomically and verified whenever it is read. A file that a power failure or
/// another program damaged counts as missing.
#[derive(Debug, Clone)]
pub struct ComponentCache {
    folder: PathBuf,
    max_bytes: u64,
}

/// The error of storing or reading a component.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ComponentCacheError {
    /// The location of the folder is unknown.
    #[error("no folder for components: HOME is not set")]
    NoPlace,
    /// The folder or a file in it cannot be read or written.
    #[error("cannot use {}: {error}", path.display())]
    Io {
        /// The folder or the file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The folder is full.
    #[error("{} has {used} of {max_bytes} bytes, and {needed} more are needed", path.display())]
    Full {
        /// The folder.
        path: PathBuf,
        /// The bytes in it.
        used: u64,
        /// The limit in bytes.
        max_bytes: u64,
        /// The size of the component in bytes.
        needed: u64,
    },
}

/// A component in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CachedComponent {
    /// The digest in hexadecimal, which is also the file's name.
    pub digest: String,
    /// The size in bytes.
    pub size: u64,
    /// The time of the fetch.
    pub fetched: Option<SystemTime>,
}

impl ComponentCache {
    /// The user's folder: `components` in hookbox's cache folder.
    ///
    /// # Errors
    /// [`ComponentCacheError::NoPlace`].
    pub fn of_user() -> Result<Self, ComponentCacheError> {
        folders::cache().map(|cache| Self::at(cache.join("components"))).ok_or(ComponentCacheError::NoPlace)
    }

    /// A folder of the embedder. It must be private to this user. It is created on the first write.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), max_bytes: CACHE_BYTES }
    }

    /// Sets the size limit in bytes.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the component with this digest (in hexadecimal), if it exists and is intact.
    ///
    /// # Errors
    /// [`ComponentCacheError::Io`], also if the folder or the file is not private to this user.
    pub fn get(&self, digest: &str) -> Result<Option<Vec<u8>>, ComponentCacheError> {
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
        read().map_err(|error| ComponentCacheError::Io { path, error })
    }

    /// Stores a component under its digest. Returns the digest.
    ///
    /// # Errors
    /// [`ComponentCacheError::Full`], [`ComponentCacheError::Io`].
    pub fn put(&self, bytes: &[u8]) -> Result<String, ComponentCacheError> {
        let digest = sha256(bytes);
        if self.get(&digest)?.is_some() {
            return Ok(digest);
        }
        let io = |error| ComponentCacheError::Io { path: self.folder.clone(), error };
        let folder = Folder::open(&self.folder).map_err(io)?;
        // Writers remove stale temporary files.
        folder.tidy();
        let (used, needed) = (self.files()?.iter().map(|file| file.size).sum::<u64>(), bytes.len() as u64);
        if used.saturating_add(needed) > self.max_bytes {
            return Err(ComponentCacheError::Full {
                path: self.folder.clone(),
                used,
                max_bytes: self.max_bytes,
                needed,
            });
        }
        // A lock that names the component is written after it.
        folder.write_durably(&name(&digest), &[bytes]).map_err(io)?;
        Ok(digest)
    }

    /// Lists the components, sorted by digest.
    ///
    /// # Errors
    /// [`ComponentCacheError::Io`].
    pub fn files(&self) -> Result<Vec<CachedComponent>, ComponentCacheError> {
        if !self.folder.exists() {
            return Ok(Vec::new());
        }
        let io = |error| ComponentCacheError::Io { path: self.folder.clone(), error };
        let names = Folder::open(&self.folder).and_then(|folder| folder.names()).map_err(io)?;
        let mut files: Vec<CachedComponent> = names
            .iter()
            .filter_map(|name| {
                let digest = name.to_str()?.strip_suffix(".wasm")?;
                let meta = fs::symlink_metadata(self.folder.join(name)).ok()?;
                Some(CachedComponent { digest: digest.to_owned(), size: meta.len(), fetched: meta.modified().ok() })
            })
            .collect();
        files.sort_by(|a, b| a.digest.cmp(&b.digest));
        Ok(files)
    }

    /// Removes a component. Returns true if it existed.
    ///
    /// # Errors
    /// [`ComponentCacheError::Io`].
    pub fn remove(&self, digest: &str) -> Result<bool, ComponentCacheError> {
        let io = |error| ComponentCacheError::Io { path: self.folder.clone(), error };
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

    use super::{ComponentCache, ComponentCacheError};

    #[test]
    fn cached_artifacts_are_complete_or_absent() {
        let home = tempfile::tempdir().unwrap();
        let cache = ComponentCache::at(home.path().join("components"));
        assert_eq!(cache.files().unwrap(), []);
        let digest = cache.put(b"component").unwrap();
        assert_eq!(cache.get(&digest).unwrap().unwrap(), b"component");
        // A power failure between the rename and the write of the content.
        let file = cache.folder().join(format!("{digest}.wasm"));
        fs::remove_file(&file).unwrap();
        fs::write(&file, b"comp").unwrap();
        assert_eq!(cache.get(&digest).unwrap(), None);
        assert_eq!(cache.put(b"component").unwrap(), digest);
        assert_eq!(cache.get(&digest).unwrap().unwrap(), b"component");
        assert!(cache.remove(&digest).unwrap());
        assert_eq!(cache.get(&digest).unwrap(), None);
    }

    #[test]
    fn a_link_in_place_of_a_component_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let cache = ComponentCache::at(home.path().join("components"));
        let digest = cache.put(b"component").unwrap();
        let (file, elsewhere) = (cache.folder().join(format!("{digest}.wasm")), home.path().join("elsewhere"));
        fs::rename(&file, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert!(matches!(cache.get(&digest), Err(ComponentCacheError::Io { .. })));
    }

    #[test]
    fn a_full_folder_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let cache = ComponentCache::at(home.path().join("components")).max_bytes(10);
        cache.put(b"12345678").unwrap();
        assert!(matches!(cache.put(b"123"), Err(ComponentCacheError::Full { used: 8, needed: 3, .. })));
        // Storing an existing component needs no space.
        cache.put(b"12345678").unwrap();
    }
}
