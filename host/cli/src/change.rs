//! A change to somebody's file: shown before it is made, and made whole or not at all.

use std::{
    io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use similar::TextDiff;

use crate::{exit::Exit, print, user_file};

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
    let text = user_file::read(file)?.map(String::from_utf8).transpose();
    text.map_err(|_| Exit::Config.error(format!("{}: it is not UTF-8; the file is left as it is", file.display())))
}

/// Where the backup of a file is.
pub fn backup(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".hookbox-backup");
    name.into()
}

impl Change {
    /// Returns true if nothing would change.
    pub fn is_none(&self) -> bool {
        self.before == self.after
    }

    /// Shows it, as `diff` does.
    pub fn show(&self) {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (before, after) = (text(&self.before), text(&self.after));
        let file = self.real().unwrap_or_else(|_| self.file.clone());
        let name = |there: bool| if there { file.display().to_string() } else { "/dev/null".to_owned() };
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
        let file = self.real()?;
        if read(&file)? != self.before {
            return Err(Exit::Software.error(format!("{} has changed meanwhile; do it again", file.display())));
        }
        let backup = backup(&self.file);
        match (self.backup, &self.before) {
            (Backup::Make, Some(before)) => user_file::write_beside(&backup, before.as_bytes(), &file)?,
            (Backup::Drop, _) => drop(user_file::remove(&backup)?),
            _ => {}
        }
        match &self.after {
            Some(after) => user_file::write(&file, after.as_bytes()),
            None => user_file::remove(&file).map(drop),
        }
    }

    /// The path of the file without links: people keep their settings elsewhere.
    fn real(&self) -> anyhow::Result<PathBuf> {
        user_file::real(&self.file).with_context(|| format!("cannot read {}", self.file.display()))
    }

    /// The target of a change that a link leads out of `project`.
    pub fn leads_out_of(&self, project: &Path) -> anyhow::Result<Option<PathBuf>> {
        let real = self.real()?;
        let root = project.canonicalize().with_context(|| format!("cannot read {}", project.display()))?;
        Ok(Some(real).filter(|real| self.file.starts_with(project) && !real.starts_with(root)))
    }
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
