//! A folder of this process, and a store in it.

use std::{fs, path::PathBuf};

use anyhow::Context;
use hookbox::capability::state::SqliteStore;

/// Gone when it is dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(what: &str) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("hookbox-{what}-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }

    /// State that nobody else has.
    pub fn store(&self) -> SqliteStore {
        SqliteStore::new(self.0.join("state.db"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
