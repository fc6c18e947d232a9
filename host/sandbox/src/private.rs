//! Folders that only one user can write to, for files that decide which code runs.
//!
//! The owner is checked on the open folder and on each open file, so that no rename can interfere.

use std::{
    ffi::OsString,
    fs::{DirBuilder, File},
    io::{self, Read, Write},
    os::unix::{ffi::OsStringExt, fs::DirBuilderExt},
    path::Path,
    process,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, fstat, fsync, open, openat, renameat, unlinkat},
    io::Errno,
    process::{Pid, geteuid, test_kill_process},
};

/// Opens a regular file for reading. Refuses pipes and devices without blocking.
///
/// # Errors
/// The file cannot be opened, or is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = File::from(open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

/// Opens a file for appending. Creates a missing one that only this user can read and write.
///
/// # Errors
/// Also when the path is a link (another user may control its target), when it is not a regular file, or when another
/// user owns it or may write to it. Never blocks.
pub fn append(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::RUSR | Mode::WUSR).map_err(|error| match error {
        Errno::LOOP => io::Error::other("it is a link"),
        error => error.into(),
    })?;
    check(&file, FileType::RegularFile)?;
    Ok(file.into())
}

/// Locks a file until it is closed. Returns false if another process holds the lock for this time. Some file systems do not
/// support locks: there it returns true at once.
///
/// # Errors
/// The file cannot be locked.
pub fn lock(file: &File, at_most: Duration) -> io::Result<bool> {
    let (until, mut pause) = (Instant::now() + at_most, Duration::from_millis(1));
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if Instant::now() < until => thread::sleep(pause),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) | Ok(()) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// An open folder that only this user (and root) can write to.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// Opens a folder. Creates a missing one that only this user can use.
    ///
    /// # Errors
    /// Also when the path is a link, or another user owns the folder or may write to it.
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

    /// Opens a file in the folder. Returns `None` if it is missing.
    ///
    /// # Errors
    /// As [`Folder::open`].
    pub fn file(&self, name: &str) -> io::Result<Option<File>> {
        // Do not block on a pipe with that name.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.0, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        check(&file, FileType::RegularFile)?;
        Ok(Some(file.into()))
    }

    /// Reads a file in the folder. Returns `None` if it is missing.
    ///
    /// # Errors
    /// As [`Folder::file`].
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        let Some(mut file) = self.file(name)? else { return Ok(None) };
        file.read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// Writes a file under a temporary name and renames it, so that no reader sees a partial file. The file is
    /// read-only afterwards: it is replaced and never changed.
    pub fn write(&self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        self.put(name, parts, false)
    }

    /// Writes a file as [`Folder::write`] does, and waits until the disk has the file and its name. After a power failure,
    /// files that were written durably one after another are all there up to the last.
    pub fn write_durably(&self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        self.put(name, parts, true)
    }

    fn put(&self, name: &str, parts: &[&[u8]], durably: bool) -> io::Result<()> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (temporary, mut file) = loop {
            let temporary = format!("{name}.{}.{}", process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
            match openat(&self.0, &temporary, flags, Mode::RUSR) {
                Ok(file) => break (temporary, File::from(file)),
                // A killed process of the same id left it.
                Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        };
        let written = parts.iter().try_for_each(|part| file.write_all(part));
        let synced = written.and_then(|()| if durably { file.sync_all() } else { Ok(()) });
        let done = synced.and_then(|()| Ok(renameat(&self.0, &temporary, &self.0, name)?));
        if done.is_err() {
            let _ = self.remove(&temporary);
        }
        done.and_then(|()| if durably { sync(&self.0) } else { Ok(()) })
    }

    /// Removes a file. Returns true if there was one.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        match unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the names of all entries in the folder.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            names.push(OsString::from_vec(entry?.file_name().to_bytes().to_vec()));
        }
        Ok(names)
    }

    /// Removes temporary files of [`Folder::write`] whose processes have ended.
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

/// Waits until the disk has the names in a folder. Some file systems cannot, and keep them in order anyway.
///
/// # Errors
/// The disk failed.
pub fn sync(folder: impl AsFd) -> io::Result<()> {
    match fsync(folder) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP) => Ok(()),
        synced => Ok(synced?),
    }
}

/// Checks that an open file or folder has this type, and that only this user can write to it.
///
/// # Errors
/// The first check that failed.
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
