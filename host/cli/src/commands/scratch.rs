//! A temporary folder of this process, with a state store.

use std::{fs, path::PathBuf};

use anyhow::Context;
use hookbox::capability::state::SqliteStore;

/// A temporary folder. It is removed on drop.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(what: &str) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("hookbox-{what}-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
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
