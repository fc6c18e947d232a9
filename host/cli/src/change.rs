//! A change to somebody's file: shown before it is made, and made whole or not at all.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use similar::TextDiff;

use crate::{exit::Exit, print};

/// What is to become of one file.
#[derive(Debug)]
pub struct Change {
    /// The file.
    pub file: PathBuf,
    /// What is in it; `None`: there is none.
    pub before: Option<String>,
    /// What is to be in it; `None`: it is to go.
    pub after: Option<String>,
    /// What becomes of the backup beside it.
    pub backup: Backup,
}

/// What becomes of the backup of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backup {
    /// The file as it is becomes the backup.
    Make,
    /// It stays as it is.
    Keep,
    /// It goes: the file is again what it was.
    Drop,
}

/// The text of a file, if it is there.
///
/// # Errors
/// It is not text: nothing that we could edit.
pub fn read(file: &Path) -> anyhow::Result<Option<String>> {
    match fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| Exit::Config.error(format!("{}: it is not UTF-8; the file is left as it is", file.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// Where the backup of a file is.
pub fn backup(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".hookbox-backup");
    name.into()
}

impl Change {
    /// Whether nothing would change.
    pub fn is_none(&self) -> bool {
        self.before == self.after
    }

    /// Shows it, as `diff` does.
    pub fn show(&self) {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (before, after) = (text(&self.before), text(&self.after));
        let name = |there: bool| if there { self.file.display().to_string() } else { "/dev/null".to_owned() };
        let diff = TextDiff::from_lines(&before, &after);
        let mut unified = diff.unified_diff();
        unified.header(&name(self.before.is_some()), &name(self.after.is_some())).missing_newline_hint(false);
        unified.to_string().lines().for_each(print::out);
    }

    /// Makes it.
    ///
    /// # Errors
    /// Also where the file is not any more what was shown.
    pub fn make(&self) -> anyhow::Result<()> {
        // Where a link leads: people keep their settings elsewhere.
        let file = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        if read(&file)? != self.before {
            return Err(Exit::Software.error(format!("{} has changed meanwhile; do it again", file.display())));
        }
        let backup = backup(&self.file);
        match (self.backup, &self.before) {
            (Backup::Make, Some(before)) => write(&backup, before, &file)?,
            (Backup::Drop, _) => drop(fs::remove_file(&backup)),
            _ => {}
        }
        match &self.after {
            Some(after) => write(&file, after, &file),
            None => fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display())),
        }
    }
}

/// Writes a file under another name first, so that no client reads half of it, with the mode of `like`.
fn write(file: &Path, text: &str, like: &Path) -> anyhow::Result<()> {
    let written = || -> io::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".{}", std::process::id()));
        let temporary = PathBuf::from(name);
        let done = fs::write(&temporary, text).and_then(|()| {
            if let Ok(meta) = fs::metadata(like) {
                fs::set_permissions(&temporary, meta.permissions())?;
            }
            fs::rename(&temporary, file)
        });
        if done.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        done
    };
    written().with_context(|| format!("cannot write {}", file.display()))
}

/// Shows what would change and asks, unless whoever called said yes beforehand. Whether it is to be made.
pub fn consent(yes: bool) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    print::err("Write this? [y/N]");
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    if read == 0 {
        return Err(Exit::Usage.error("nothing was written: nobody answered; --yes writes without asking"));
    }
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
