//! Access to the project folder and nothing outside it.

use std::{
    fs::File,
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fd::OwnedFd,
    fs::{Dir, FileType, Mode, OFlags, fstat, open, openat},
    io::Errno,
};

/// The largest file that is read, in bytes.
pub(super) const MAX_FILE: u64 = 1024 * 1024;

/// An open project folder. Resolves paths one component at a time, never through a symlink and never upwards. So no
/// path leads outside, even if the folder changes meanwhile.
pub(super) struct Project {
    path: PathBuf,
    folder: OwnedFd,
}

/// A file or folder in the project, open for reading.
pub(super) enum Node {
    File(File),
    Folder(Dir),
}

impl Project {
    /// Opens the folder. The client chose this path, so symlinks in it are followed.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        if !path.is_absolute() {
            return Err(io::Error::other(format!("the project folder {} is not absolute", path.display())));
        }
        let folder = open(&path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { path, folder })
    }

    /// Converts a path to one relative to the project folder. Accepts absolute paths below the folder, because events
    /// contain such paths.
    pub(super) fn relative(&self, path: &str) -> Result<PathBuf, String> {
        let path = Path::new(path);
        let mut relative = PathBuf::new();
        for component in path.strip_prefix(&self.path).unwrap_or(path).components() {
            match component {
                Component::Normal(name) => relative.push(name),
                Component::CurDir => {}
                _ => return Err(format!("{} is outside the project", path.display())),
            }
        }
        Ok(relative)
    }

    /// Opens a path that [`Project::relative`] returned.
    pub(super) fn node(&self, relative: &Path) -> Result<Node, String> {
        let failed = |error: Errno| match error {
            // `O_NOFOLLOW` returns this error for a symlink.
            Errno::LOOP => format!("{}: a symlink, which is not followed", relative.display()),
            other => format!("{}: {other}", relative.display()),
        };
        // Opening a pipe or a device must not block or have effects.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut at = openat(&self.folder, ".", flags | OFlags::DIRECTORY, Mode::empty()).map_err(failed)?;
        let mut names = relative.iter().peekable();
        while let Some(name) = names.next() {
            let folder = if names.peek().is_some() { OFlags::DIRECTORY } else { OFlags::empty() };
            at = openat(&at, name, flags | folder, Mode::empty()).map_err(failed)?;
        }
        match FileType::from_raw_mode(fstat(&at).map_err(failed)?.st_mode) {
            FileType::RegularFile => Ok(Node::File(at.into())),
            FileType::Directory => Ok(Node::Folder(Dir::new(at).map_err(failed)?)),
            _ => Err(format!("{}: neither a file nor a folder", relative.display())),
        }
    }
}

/// Reads a whole text file.
pub(super) fn text(file: File) -> Result<String, String> {
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("the file is larger than {} KiB", MAX_FILE / 1024));
    }
    if bytes.contains(&0) {
        return Err("the file is not text".into());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Up to `limit` entries of a folder, sorted by name, and true if there are more.
pub(super) fn entries(folder: Dir, limit: usize) -> (Vec<(String, FileType)>, bool) {
    let named = folder.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        (!matches!(name.as_str(), "." | "..")).then(|| (name, entry.file_type()))
    });
    let mut entries: Vec<_> = named.take(limit + 1).collect();
    let more = entries.len() > limit;
    entries.truncate(limit);
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    (entries, more)
}
