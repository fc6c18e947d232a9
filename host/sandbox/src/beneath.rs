//! Access to files below a folder. Paths and links that lead out of it are refused.
//!
//! The system resolves a path while it opens it, so that no link can be inserted after a check.

use std::{
    fs::{File, Metadata},
    io,
    path::{Path, PathBuf},
};

use cap_primitives::{
    ambient_authority,
    fs::{FollowSymlinks, OpenOptions, OpenOptionsExt, open, open_ambient_dir, open_dir, stat},
};
use rustix::fs::OFlags;

pub use cap_primitives::fs::{Metadata as MetadataBeneath, MetadataExt};

/// A folder, held open. A folder that replaces it later is a different one.
#[derive(Debug)]
pub struct Beneath {
    path: PathBuf,
    folder: File,
}

impl Beneath {
    /// Opens a folder. Links in its own path are followed, because the caller chose it.
    ///
    /// # Errors
    /// The path cannot be opened, or is not a folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let folder = folder(&path)?;
        Ok(Self { path, folder })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a regular file for reading. `path` is relative to the folder, or begins with the folder's own path. Pipes
    /// and devices are refused without blocking.
    ///
    /// # Errors
    /// Also when the path, or a link in it, leads out of the folder.
    pub fn file(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default();
        options.read(true).custom_flags(flags);
        let file = open(&self.folder, self.inside(path)?, &options).map_err(outside)?;
        let meta: Metadata = file.metadata()?;
        if meta.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
    }

    /// Returns the metadata of a file without opening it.
    ///
    /// # Errors
    /// As [`Beneath::file`].
    pub fn metadata(&self, path: &Path) -> io::Result<MetadataBeneath> {
        stat(&self.folder, self.inside(path)?, FollowSymlinks::Yes).map_err(outside)
    }

    /// Opens a folder below this one.
    ///
    /// # Errors
    /// As [`Beneath::file`].
    pub fn folder(&self, path: &Path) -> io::Result<File> {
        let inside = self.inside(path)?;
        let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        open_dir(&self.folder, inside).map_err(outside)
    }

    fn inside<'a>(&self, path: &'a Path) -> io::Result<&'a Path> {
        if path.is_relative() {
            return Ok(path);
        }
        path.strip_prefix(&self.path).map_err(|_| leads_out())
    }
}

/// Opens a folder by its path. Links are followed.
pub(crate) fn folder(path: &Path) -> io::Result<File> {
    open_ambient_dir(path, ambient_authority())
}

pub(crate) fn leads_out() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "it is outside of the allowed folder")
}

/// Replaces errors of paths that lead out: those have no code of the operating system.
fn outside(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() { leads_out() } else { error }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        fs,
        io::{Read, Result},
        os::unix::fs::symlink,
        path::Path,
    };

    use super::Beneath;

    #[test]
    fn links_inside_are_followed_and_links_out_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in ["a/..2026/deep", "b"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("a/..2026/hooks.json"), "inside").unwrap();
        fs::write(at("b/hooks.json"), "outside").unwrap();
        // This is the layout of a ConfigMap mounted by Kubernetes.
        symlink("..2026", at("a/..data")).unwrap();
        symlink("..data/hooks.json", at("a/hooks.json")).unwrap();
        symlink("../hooks.json", at("a/..2026/deep/up.json")).unwrap();
        symlink("../b/hooks.json", at("a/relative.json")).unwrap();
        symlink(at("b/hooks.json"), at("a/absolute.json")).unwrap();
        symlink("../b", at("a/folder")).unwrap();
        symlink("/proc/self/root", at("a/magic")).unwrap();
        fs::hard_link(at("a/..2026/hooks.json"), at("a/hard.json")).unwrap();
        let folder = Beneath::open(&at("a")).unwrap();
        let read = |path: &Path| -> Result<String> {
            let mut text = String::new();
            folder.file(path)?.read_to_string(&mut text)?;
            Ok(text)
        };
        for inside in ["hooks.json", "./hooks.json", "..data/deep/up.json", "..data/../hooks.json", "hard.json"] {
            assert_eq!(read(Path::new(inside)).unwrap(), "inside", "{inside}");
            assert_eq!(read(&at("a").join(inside)).unwrap(), "inside", "{inside}");
            assert!(folder.metadata(Path::new(inside)).is_ok(), "{inside}");
        }
        for out in
            ["relative.json", "absolute.json", "folder/hooks.json", "../b/hooks.json", "../a/hooks.json", "magic/etc"]
        {
            for path in [Path::new(out).to_owned(), at("a").join(out)] {
                let error = read(&path).unwrap_err().to_string();
                assert!(error.contains("outside of the allowed folder"), "{out}: {error}");
                assert!(folder.metadata(&path).is_err(), "{out}");
            }
        }
        assert!(read(&at("b/hooks.json")).unwrap_err().to_string().contains("outside of the allowed folder"));
        // A folder that replaces it later is a different one.
        fs::rename(at("a"), at("c")).unwrap();
        symlink("b", at("a")).unwrap();
        assert_eq!(read(Path::new("hooks.json")).unwrap(), "inside");
    }

    #[test]
    fn pipes_and_devices_are_refused_and_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let pipe = root.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let error = Beneath::open(root.path()).unwrap().file(Path::new("pipe")).unwrap_err();
        assert_eq!(error.to_string(), "it is not a regular file");
        let error = Beneath::open(Path::new("/dev")).unwrap().file(Path::new("zero")).unwrap_err();
        assert_eq!(error.to_string(), "it is not a regular file");
    }
}
