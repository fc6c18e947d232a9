//! A change to a user's file: shown before it is made, and applied completely or not at all.

use std::{
    io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use similar::TextDiff;

use crate::{exit::Exit, print, user_file};

/// A change to one file.
#[derive(Debug)]
pub struct Change {
    /// The file.
    pub file: PathBuf,
    /// The current content. `None`: the file does not exist.
    pub before: Option<String>,
    /// The new content. `None`: the file is removed.
    pub after: Option<String>,
    /// The treatment of the backup beside it.
    pub backup: Backup,
}

/// The treatment of a file's backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backup {
    /// Saves the current file as the backup.
    Make,
    /// Keeps the existing backup.
    Keep,
    /// Removes the backup, because the file is restored.
    Drop,
}

/// Reads the text of a file. `None` if it does not exist.
///
/// # Errors
/// The file is not UTF-8, so it cannot be edited.
pub fn read(file: &Path) -> anyhow::Result<Option<String>> {
    let text = user_file::read(file)?.map(String::from_utf8).transpose();
    text.map_err(|_| Exit::Config.error(format!("{}: not UTF-8; the file was not changed", file.display())))
}

/// The path of a file's backup.
pub fn backup(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".hookbox-backup");
    name.into()
}

impl Change {
    /// Returns true if the change is empty.
    pub fn is_none(&self) -> bool {
        self.before == self.after
    }

    /// Prints the change as a diff.
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

    /// Applies the change.
    ///
    /// # Errors
    /// An I/O error, or the file has changed since it was read.
    pub fn make(&self) -> anyhow::Result<()> {
        let file = self.real()?;
        if read(&file)? != self.before {
            return Err(Exit::Software.error(format!("{} has changed meanwhile; try again", file.display())));
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

    /// The path with symlinks resolved, because users may keep their settings elsewhere.
    fn real(&self) -> anyhow::Result<PathBuf> {
        user_file::real(&self.file).with_context(|| format!("cannot read {}", self.file.display()))
    }

    /// The target of the change, if a symlink in `project` leads outside of it.
    fn leads_out_of(&self, project: &Path) -> anyhow::Result<Option<PathBuf>> {
        let real = self.real()?;
        let root = project.canonicalize().with_context(|| format!("cannot read {}", project.display()))?;
        Ok(Some(real).filter(|real| self.file.starts_with(project) && !real.starts_with(root)))
    }

    /// Warns about a symlink out of the project, which may come from a checkout.
    ///
    /// # Errors
    /// With `yes` the user cannot be asked, so such a link requires `follow_links`.
    pub fn tell_of_link(&self, project: &Path, yes: bool, follow_links: bool) -> anyhow::Result<()> {
        let Some(target) = self.leads_out_of(project)? else { return Ok(()) };
        let link = format!("{} is a link out of the project, to {}", self.file.display(), target.display());
        if yes && !follow_links {
            let message = format!("nothing was written: {link}");
            return Err(Exit::Usage.advised(message, &["to write there, add --follow-links, or leave out --yes"]));
        }
        print::out(link);
        Ok(())
    }
}

/// Asks the user for consent, unless `yes` is set. Returns true if the changes are to be written.
pub fn consent(yes: bool) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    print::err("Write this? [y/N]");
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    if read == 0 {
        return Err(Exit::Usage.error("nothing was written: no confirmation; --yes writes without asking"));
    }
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
