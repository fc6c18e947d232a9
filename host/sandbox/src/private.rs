//! Folders that are one user's alone: what is read back from them decides what runs.
//!
//! Whose they are is checked on the open folder and on each open file, so that no renaming gets in between.

use std::{
    ffi::OsString,
    fs::{DirBuilder, File},
    io::{self, Read, Write},
    os::unix::{ffi::OsStringExt, fs::DirBuilderExt},
    path::Path,
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, open, openat, renameat, unlinkat},
    process::{Pid, geteuid, test_kill_process},
};

/// Opens a regular file to read it. What stands in its place and could be waited for without end, a pipe or a device, is
/// refused, and not waited for.
///
/// # Errors
/// It cannot be opened, or is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = File::from(open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

/// Opens a file to write on after its end, and makes it, for this user alone, where there is none.
///
/// # Errors
/// Also when it is a link, whose place may be another's to choose, or no regular file, or somebody else's, or others may
/// write to it. It is not waited for.
pub fn append(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::RUSR | Mode::WUSR).map_err(|error| match error {
        rustix::io::Errno::LOOP => io::Error::other("it is a link"),
        error => error.into(),
    })?;
    check(&file, FileType::RegularFile)?;
    Ok(file.into())
}

/// An open folder that only this user (and root) can write to.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// Opens it; creates it, for this user alone, when it is not there.
    ///
    /// # Errors
    /// Also when it is a link, or somebody else's, or others may write to it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match open(path, flags, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => {
                DirBuilder::new().recursive(true).mode(0o700).create(path)?;
                open(path, flags, Mode::empty())
            }
            opened => opened,
        }?;
        check(&folder, FileType::Directory)?;
        Ok(Self(folder))
    }

    /// An open file in it, if it is there.
    ///
    /// # Errors
    /// As [`Folder::open`].
    pub fn file(&self, name: &str) -> io::Result<Option<File>> {
        // A pipe in its place must not be waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.0, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        check(&file, FileType::RegularFile)?;
        Ok(Some(file.into()))
    }

    /// The content of a file in it, if it is there.
    ///
    /// # Errors
    /// As [`Folder::file`].
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        let Some(mut file) = self.file(name)? else { return Ok(None) };
        file.read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// Writes a file under another name first, so that no reader sees half of it. From then on nobody may write to it: it is
    /// replaced, and never changed.
    pub fn write(&self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let temporary = format!("{name}.{}.{}", process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.0, &temporary, flags, Mode::RUSR)?);
        let written = parts.iter().try_for_each(|part| file.write_all(part));
        let done = written.and_then(|()| Ok(renameat(&self.0, &temporary, &self.0, name)?));
        if done.is_err() {
            let _ = self.remove(&temporary);
        }
        done
    }

    /// Removes a file; true when there was one.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        match unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The names of what is in it.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            names.push(OsString::from_vec(entry?.file_name().to_bytes().to_vec()));
        }
        Ok(names)
    }

    /// Removes what [`Folder::write`] of processes that are no more left unfinished.
    pub fn tidy(&self) {
        for name in self.names().unwrap_or_default() {
            let Some(name) = name.to_str() else { continue };
            let mut parts = name.rsplitn(3, '.');
            let number = |part: Option<&str>| part.and_then(|part| part.parse::<i32>().ok());
            let (Some(_), Some(process), Some(_)) = (number(parts.next()), number(parts.next()), parts.next()) else {
                continue;
            };
            let alive =
                Pid::from_raw(process).is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH));
            if !alive {
                let _ = self.remove(name);
            }
        }
    }
}

/// Returns true if an open file or folder is of this type, this user's, and nobody else's to write to.
///
/// # Errors
/// What is wrong with it.
pub fn check(file: impl AsFd, expected: FileType) -> io::Result<()> {
    let stat = fstat(file)?;
    let mode = Mode::from_raw_mode(stat.st_mode);
    let complaint = if FileType::from_raw_mode(stat.st_mode) != expected {
        "it is of another type"
    } else if stat.st_uid != geteuid().as_raw() {
        "it belongs to another user"
    } else if mode.intersects(Mode::WGRP | Mode::WOTH) {
        "others may write to it"
    } else {
        return Ok(());
    };
    Err(io::Error::other(complaint))
}
