//! Files of the user. Whatever the command line writes for its user it writes here: to the file that it shows, whole or not
//! at all.
//!
//! A checkout may have links in any place, also where a temporary file or a backup would be. So links are resolved once, into
//! the path that is shown. The folders of that path are then opened one within another, none of them through a link, and the
//! file is written in the last of them under a random name before it gets its own.

use std::{
    ffi::OsStr,
    fs::{self, File, Metadata},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

use anyhow::Context;
use hookbox::private::open_regular;
use rustix::{
    fd::OwnedFd,
    fs::{
        AtFlags, FileType, Gid, Mode, OFlags, Uid, fchmod, fchown, mkdirat, open, openat, renameat, statat, unlinkat,
    },
    io::Errno,
};

/// Settings are small; a larger file is a mistake.
const MAX_BYTES: u64 = 16 << 20;
/// As many links one after another as Linux follows.
const MAX_LINKS: usize = 40;
/// Bits of a mode that a new version of a file keeps.
const PERMISSIONS: u32 = 0o777;

/// The path of a file without links: of its folders as far as they exist, and of itself.
///
/// # Errors
/// Links that form a circle, and folders that cannot be read.
pub fn real(file: &Path) -> io::Result<PathBuf> {
    let mut path = std::path::absolute(file)?;
    for _ in 0..MAX_LINKS {
        let Some(name) = path.file_name().map(OsStr::to_owned) else {
            return Err(no_name());
        };
        let folder = real_folder(path.parent().unwrap_or(Path::new("/")))?;
        let found = folder.join(&name);
        match found.read_link() {
            Ok(target) => path = folder.join(target),
            // It is not a link, or does not exist.
            Err(_) => return Ok(found),
        }
    }
    Err(io::Error::other("too many links"))
}

/// The path of a folder without links, of which the end may not exist yet.
fn real_folder(folder: &Path) -> io::Result<PathBuf> {
    match folder.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound && folder.symlink_metadata().is_err() => {
            let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return Err(error) };
            Ok(real_folder(parent)?.join(name))
        }
        found => found,
    }
}

/// The content of a file, if it exists. Pipes and devices are refused without waiting.
///
/// # Errors
/// Also for anything but a regular file of at most 16 MiB.
pub fn read(file: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    let read = || {
        let file = match open_regular(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut content = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut content)?;
        if content.len() as u64 > MAX_BYTES {
            return Err(io::Error::other(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
        }
        Ok(Some(content))
    };
    read().with_context(|| format!("cannot read {}", file.display()))
}

/// Writes a file whole or not at all, through links, and creates its folders. A file that exists keeps its mode and its owner;
/// other hard links to it keep the old content.
///
/// # Errors
/// Also where anything but a regular file has its name.
pub fn write(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    let written = real(file).and_then(|real| put(&real, content, fs::metadata(&real).ok().as_ref()));
    written.with_context(|| format!("cannot write {}", file.display()))
}

/// Writes a file whole or not at all, in place of a link that has its name, and creates its folders.
///
/// # Errors
/// As [`write`].
pub fn replace(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    let like = |real: &Path| fs::symlink_metadata(real).ok().filter(Metadata::is_file);
    let written = in_real_folder(file).and_then(|real| put(&real, content, like(&real).as_ref()));
    written.with_context(|| format!("cannot write {}", file.display()))
}

/// Writes a file beside `like`, with its mode and owner. A link that has the file's name is replaced, not followed.
///
/// # Errors
/// As [`write`].
pub fn write_beside(file: &Path, content: &[u8], like: &Path) -> anyhow::Result<()> {
    let written = in_real_folder(file).and_then(|real| put(&real, content, fs::metadata(like).ok().as_ref()));
    written.with_context(|| format!("cannot write {}", file.display()))
}

/// Removes a file, or the link that has its name; true where there was one.
///
/// # Errors
/// The file cannot be removed.
pub fn remove(file: &Path) -> anyhow::Result<bool> {
    let removed = in_real_folder(file).and_then(|real| match open_folder_of(&real, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        opened => {
            let (folder, name) = opened?;
            match unlinkat(&folder, name, AtFlags::empty()) {
                Ok(()) => Ok(true),
                Err(Errno::NOENT) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
    });
    removed.with_context(|| format!("cannot remove {}", file.display()))
}

/// Removes the folders of a file that are empty, up to `top`, which stays.
pub fn remove_empty_folders(file: &Path, top: &Path) {
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != top && folder.starts_with(top)) {
        // One that is not empty, or a link, is not removed.
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// The path of a file, of whose folders none is a link.
fn in_real_folder(file: &Path) -> io::Result<PathBuf> {
    let file = std::path::absolute(file)?;
    let name = file.file_name().ok_or_else(no_name)?;
    Ok(real_folder(file.parent().unwrap_or(Path::new("/")))?.join(name))
}

/// Writes a file of a path without links: under a random name in its open folder, and then under its own.
fn put(file: &Path, content: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    let (folder, name) = open_folder_of(file, true)?;
    match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::RegularFile | FileType::Symlink) | Err(Errno::NOENT) => {}
        Ok(_) => return Err(io::Error::other("something that is not a file has its name")),
        Err(error) => return Err(error.into()),
    }
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let draft = format!(".hookbox-{:016x}", u64::from_ne_bytes(random));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = if like.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
    let mut open = File::from(openat(&folder, &draft, flags, mode)?);
    let written = open.write_all(content).and_then(|()| {
        if let Some(like) = like {
            // Another user's file stays that user's where this user may give it to them.
            let _ = fchown(&open, Some(Uid::from_raw(like.uid())), Some(Gid::from_raw(like.gid())));
            fchmod(&open, Mode::from_raw_mode(like.mode() & PERMISSIONS))?;
        }
        open.sync_all()?;
        Ok(renameat(&folder, &draft, &folder, name)?)
    });
    if written.is_err() {
        let _ = unlinkat(&folder, &draft, AtFlags::empty());
    }
    written
}

/// Opens the folder of a file whose path has no links, one folder within another and none of them through a link.
fn open_folder_of(file: &Path, create: bool) -> io::Result<(OwnedFd, &OsStr)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = open("/", flags, Mode::empty())?;
    for part in file.parent().unwrap_or(Path::new("/")).components() {
        let Component::Normal(name) = part else { continue };
        folder = match openat(&folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if create => {
                match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                openat(&folder, name, flags, Mode::empty())?
            }
            opened => opened?,
        };
    }
    Ok((folder, file.file_name().ok_or_else(no_name)?))
}

fn no_name() -> io::Error {
    io::Error::other("it is not the name of a file")
}
