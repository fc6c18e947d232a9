//! A temporary folder of this process.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use anyhow::Context;
use hookbox::capability::state::SqliteStore;

/// A temporary folder that only its user can read. It is removed on drop.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(what: &str) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("hookbox-{what}-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file in the folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
        let file = self.0.join(name);
        fs::write(&file, text).with_context(|| file.display().to_string())
    }

    /// A state store in the folder.
    pub fn store(&self) -> SqliteStore {
        SqliteStore::new(self.0.join("state.db"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
