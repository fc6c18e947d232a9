//! `hookbox save` and `hookbox load`: the components of a lock in one file, for machines without a network.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use hookbox::{artifact::LOCK_FILE, private::open_regular};
use serde_json::json;
use tar::{Archive, Builder, EntryType, Header};

use super::lock::count;
use crate::{exit::Exit, locks::Locks, print, user_file};

/// Bytes that are read of a file at most.
const MOST: u64 = 4 << 30;
/// Entries that are read of a file.
const ENTRIES: usize = 4096;

/// Write the components of a lock to one file, for a machine without a network.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox save hooks.tar")]
pub struct Save {
    /// The file
    #[arg(value_name = "FILE.tar")]
    file: PathBuf,
    /// The configuration; `hooks.json` here, or the client's own settings, when left out
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Take the components of a lock from a file that `save` wrote. They run once they are approved.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox load hooks.tar")]
pub struct Load {
    /// The file
    #[arg(value_name = "FILE.tar")]
    file: PathBuf,
    /// The configuration; `hooks.json` here, or the client's own settings, when left out
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Save {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let locks = Locks::open(self.config, None)?;
        let mut tar = Builder::new(Vec::new());
        add(&mut tar, LOCK_FILE, locks.lock.text().as_bytes())?;
        let mut saved = BTreeSet::new();
        for (name, locked) in &locks.lock.components {
            if !saved.insert(locked.hex()) {
                continue;
            }
            let bytes = locks.cached(locked)?.ok_or_else(|| {
                Exit::Stale.advised(format!("`{name}` is not fetched"), &["run   hookbox lock --locked"])
            })?;
            add(&mut tar, &file_name(locked.hex()), &bytes)?;
        }
        user_file::replace(&self.file, &tar.into_inner()?)?;
        print::out(format_args!("{}: {}", self.file.display(), count(locks.lock.components.len())));
        print::result(&json!({ "file": self.file.to_string_lossy(), "components": locks.lock.components.len() }));
        Ok(Exit::Ok)
    }
}

impl Load {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let locks = Locks::open(self.config, None)?;
        let shown = self.file.display().to_string();
        let file: File = open_regular(&self.file).with_context(|| shown.clone())?;
        let mut missing: BTreeMap<&str, u64> =
            locks.lock.components.values().map(|locked| (locked.hex(), locked.size)).collect();
        let wanted = missing.len();
        // Raw: names in extensions of the format may be as long as the file, and are read into memory.
        for entry in Archive::new(file.take(MOST)).entries()?.raw(true).take(ENTRIES) {
            let mut entry = entry.with_context(|| shown.clone())?;
            let path = entry.path()?.into_owned();
            // Only what the lock here names is taken, and once, whatever else the file has.
            let found = missing.iter().find(|(hex, _)| path == Path::new(&file_name(hex)));
            let found = found.filter(|_| entry.header().entry_type() == EntryType::Regular);
            let Some((&hex, &size)) = found else { continue };
            let mut bytes = Vec::new();
            entry.by_ref().take(size.saturating_add(1)).read_to_end(&mut bytes).with_context(|| shown.clone())?;
            if hookbox::sha256(&bytes) != hex {
                return Err(
                    Exit::Forged.error(format!("{shown}: the digest of {} differs from its name", path.display()))
                );
            }
            locks.keep(&bytes)?;
            missing.remove(hex);
        }
        print::out(format_args!("{shown}: {} of {} loaded", wanted - missing.len(), count(wanted)));
        let absent: Vec<String> = missing.keys().map(|hex| format!("sha256:{hex}")).collect();
        print::result(&json!({ "file": shown, "components": wanted, "missing": absent }));
        if !missing.is_empty() {
            let missing = format!("{shown} lacks components of {}", locks.path.display());
            return Err(Exit::Stale.advised(missing, &["save the components of this lock"]));
        }
        Ok(Exit::Ok)
    }
}

fn file_name(hex: &str) -> String {
    format!("components/{hex}.wasm")
}

/// Adds a file. Equal locks make equal files: no time and no user is noted.
fn add(tar: &mut Builder<Vec<u8>>, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let mut header = Header::new_ustar();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_entry_type(EntryType::Regular);
    Ok(tar.append_data(&mut header, name, bytes)?)
}
