//! `hookbox build --watch`: rebuilds when a file of the hook changes.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use crate::{print, report};

/// The polling interval. Reading a few folders is cheap. File notifications differ between systems, and are missing on
/// some file systems.
const PAUSE: Duration = Duration::from_millis(300);

/// Generated folders, which are not watched.
const LEFT_OUT: &[&str] = &["target", "node_modules", "__pycache__", "venv", "build", "dist"];

/// Each file with its modification time and size.
type Look = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Builds repeatedly until the process is ended. Errors in the hook are printed and do not end it.
pub fn watch(folder: &Path, build: impl Fn() -> anyhow::Result<()>) -> anyhow::Result<()> {
    loop {
        let seen = look(folder)?;
        if let Err(error) = build() {
            report::error(&error);
        }
        print::err(format_args!("watching {}; Ctrl-C ends it", folder.display()));
        while look(folder)? == seen {
            thread::sleep(PAUSE);
        }
        // Editors often write several files at once, so wait until the changes stop.
        let mut before = look(folder)?;
        loop {
            thread::sleep(PAUSE);
            let now = look(folder)?;
            if now == before {
                break;
            }
            before = now;
        }
    }
}

fn look(folder: &Path) -> io::Result<Look> {
    fn walk(folder: &Path, look: &mut Look) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if name.starts_with('.') || path.extension().is_some_and(|extension| extension == "wasm") {
                continue;
            }
            // The file was removed in the meantime.
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                if !LEFT_OUT.contains(&name.as_ref()) {
                    walk(&path, look)?;
                }
            } else {
                look.insert(path, (found.modified().ok(), found.len()));
            }
        }
        Ok(())
    }
    let mut found = Look::new();
    walk(folder, &mut found)?;
    Ok(found)
}
