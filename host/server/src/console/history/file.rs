//! Saves the history to a file in the user's state folder, so that it survives a restart.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use hookbox::{folders, private::Folder, sha256};
use serde::{Deserialize, Serialize};

use super::{Point, Series};
use crate::console::hooks::SavedHook;

/// The largest file in bytes. A tenant with continuous events needs about 60 KiB.
const MAX_BYTES: usize = 64 << 20;
/// The version of the file. Files of other versions are ignored.
const VERSION: u32 = 1;

/// The content of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    pub version: u32,
    pub total: Series,
    pub tenants: BTreeMap<String, Series>,
    /// The start times of daemons, as Unix time in ms.
    pub starts: Vec<i64>,
    /// The time at which the hash of a token was first seen.
    pub tokens: BTreeMap<String, i64>,
    /// The counters of hooks.
    pub hooks: Vec<SavedHook>,
}

/// The file of the history. Daemons of the same user and folder of tenants share it.
#[derive(Debug)]
pub struct File {
    folder: Option<PathBuf>,
    name: String,
}

impl File {
    /// Determines the file for a folder of tenants, in the user's state folder.
    pub fn of(tenants: &Path) -> Self {
        let place = tenants.canonicalize().or_else(|_| std::path::absolute(tenants));
        let digest = sha256(place.unwrap_or_else(|_| tenants.to_owned()).as_os_str().as_encoded_bytes());
        Self { folder: folders::state(), name: format!("console-{}.json", digest.get(..16).unwrap_or_default()) }
    }

    /// Reads the file. A missing or invalid file is an empty history.
    pub fn read(&self) -> Saved {
        let Some(path) = &self.folder else { return Saved::default() };
        let read = Folder::open(path).and_then(|folder| {
            let Some(file) = folder.file(&self.name)? else { return Ok(Vec::new()) };
            crate::files::read(file, MAX_BYTES as u64)
        });
        let bytes = read.unwrap_or_else(|error| {
            tracing::warn!("{}: cannot read the console's history: {error}", path.join(&self.name).display());
            Vec::new()
        });
        let saved: Saved = serde_json::from_slice(&bytes).unwrap_or_default();
        let valid =
            |series: &Series| series.rings.iter().flatten().all(|(_, point): &(i64, Point)| point.times.is_valid());
        let is_valid = saved.version == VERSION
            && valid(&saved.total)
            && saved.tenants.values().all(valid)
            && saved.hooks.iter().all(SavedHook::is_valid);
        if is_valid { saved } else { Saved::default() }
    }

    /// Writes the file. If it is too large, tenants and hooks are left out.
    pub fn write(&self, saved: Saved) {
        let Some(path) = &self.folder else { return };
        let mut saved = Saved { version: VERSION, ..saved };
        let mut text = serde_json::to_vec(&saved).unwrap_or_default();
        if text.len() > MAX_BYTES {
            saved.tenants.clear();
            saved.hooks.clear();
            text = serde_json::to_vec(&saved).unwrap_or_default();
        }
        if let Err(error) = Folder::open(path).and_then(|folder| folder.write(&self.name, &[&text])) {
            tracing::warn!("{}: cannot save the console's history: {error}", path.join(&self.name).display());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{File, Saved, VERSION};
    use crate::console::{
        history::{History, WINDOWS},
        outcome::ResponseFacts,
    };

    #[test]
    fn a_history_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = File { folder: Some(folder.path().join("state")), name: "console.json".into() };
        assert_eq!(file.read(), Saved::default());
        let history = History::from(Saved::default(), 1000);
        history.count("acme", &ResponseFacts { decided: true, us: 20, ..ResponseFacts::default() }, 2000);
        let saved = Saved { version: VERSION, ..history.to_save() };
        file.write(saved.clone());
        assert_eq!(file.read(), saved);
        let again = History::from(file.read(), 3000);
        assert_eq!((again.sum(Some("acme"), WINDOWS[2], 3000).decisions, again.starts(0)), (1, vec![1000, 3000]));
        for broken in [
            &b"{"[..],
            br#"{"version":2}"#,
            br#"{"version":1,"total":{"rings":[[[0,{"n":1,"t":[[99,1]]}]],[],[]]}}"#,
            br#"{"version":1,"hooks":[{"tenant":"acme","dialect":"claude","pointer":"/0","counters":{"times":[[99,1]]}}]}"#,
        ] {
            std::fs::write(folder.path().join("state/console.json"), broken).unwrap();
            assert_eq!(file.read(), Saved::default());
        }
    }
}
