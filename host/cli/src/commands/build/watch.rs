//! `hookbox build --watch`: builds again whenever a file of the hook changes.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use crate::{print, report};

/// Between two looks. Looking is reading a few folders; what an operating system would tell differs from one to the next, and
/// on some file systems it tells nothing.
const PAUSE: Duration = Duration::from_millis(300);

/// What is in a hook's folder and no source of it: what builds and package clients make.
const LEFT_OUT: &[&str] = &["target", "node_modules", "__pycache__", "venv", "build", "dist"];

/// Each file, with its time and size.
type Look = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Builds, and builds again, until the process is ended. What is wrong with the hook is told, and ends nothing.
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
        // Whoever writes one file often writes several.
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
            // One that went away meanwhile is not a file any more.
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
