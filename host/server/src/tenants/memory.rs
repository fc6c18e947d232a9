//! Persists the known tenants for the next start of the daemon: their token hashes and `failClosed`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use hookbox::{folders, private::Folder, sha256};
use serde::{Deserialize, Serialize};

use crate::token::Tokens;

/// The maximum size of the file, in bytes. A tenant needs some hundred.
const MAX_BYTES: usize = 16 << 20;

/// The content of the file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SavedTenants {
    pub tenants: BTreeMap<String, SavedTenant>,
    /// The names of files that were loaded as hooks files. They do not become tenants.
    pub hooks_files: BTreeSet<String>,
}

/// One tenant in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedTenant {
    pub tokens: Tokens,
    /// True if failures block.
    pub closed: bool,
    /// True if its hooks were ever loaded.
    pub served: bool,
}

/// The path of a folder. It is the same while the folder is away, such as a volume that is not mounted.
fn place_of(folder: &Path) -> PathBuf {
    let real = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    let parent = folder.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let place = match (parent, folder.file_name()) {
        (Some(parent), Some(name)) => real(parent).map(|parent| parent.join(name)),
        _ => real(folder),
    };
    place.unwrap_or_else(|_| folder.to_owned())
}

/// The file.
pub struct Memory {
    folder: Option<PathBuf>,
    name: String,
    /// Its current text.
    written: String,
}

impl Memory {
    /// Determines the file for a folder of tenants, in the user's state folder.
    pub fn of(tenants: &Path) -> Self {
        let place = place_of(tenants);
        let digest = sha256(place.as_os_str().as_encoded_bytes());
        let name = format!("tenants-{}.json", digest.get(..16).unwrap_or_default());
        let folder = folders::state();
        if folder.is_none() {
            tracing::warn!("neither HOME nor XDG_STATE_HOME is set: data about tenants will not survive a restart");
        }
        Self { folder, name, written: String::new() }
    }

    /// Reads the file. Returns the default if it cannot be read.
    pub fn read(&mut self) -> SavedTenants {
        let Some(path) = &self.folder else { return SavedTenants::default() };
        let read = Folder::open(path).and_then(|folder| {
            folder.tidy();
            let Some(file) = folder.file(&self.name)? else { return Ok(Vec::new()) };
            crate::files::read(file, MAX_BYTES as u64)
        });
        let bytes = read.unwrap_or_else(|error| {
            tracing::warn!("{}: cannot read the data about tenants: {error}", path.join(&self.name).display());
            Vec::new()
        });
        self.written = String::from_utf8(bytes).unwrap_or_default();
        serde_json::from_str(&self.written).unwrap_or_default()
    }

    /// Writes the file, unless nothing has changed.
    pub fn write(&mut self, known: &SavedTenants) {
        let Some(path) = &self.folder else { return };
        let Ok(text) = serde_json::to_string(known) else { return };
        if text == self.written {
            return;
        }
        let written = if text.len() > MAX_BYTES {
            Err(std::io::Error::other(format!("it would be larger than {} MiB", MAX_BYTES >> 20)))
        } else {
            Folder::open(path).and_then(|folder| folder.write(&self.name, &[text.as_bytes()]))
        };
        if let Err(error) = written {
            tracing::warn!("{}: cannot save the data about tenants: {error}", path.join(&self.name).display());
        }
        // Also after an error, so that it is logged once. The next change retries.
        self.written = text;
    }
}
