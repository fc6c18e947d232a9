//! Reads and writes the user's files. Every write goes to the path that was shown, and happens completely or not at
//! all.
//!
//! A checkout may contain symlinks anywhere, even in place of a temporary file or a backup. So symlinks are resolved
//! once, to the path that is shown. Then the folders of that path are opened one by one without following symlinks, and
//! the file is written in the last one under a random name before it is renamed.

use std::{
    ffi::OsStr,
    fs::{self, File, Metadata},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use anyhow::Context;
use hookbox::private::{open_regular, sync};
use rustix::{
    fd::OwnedFd,
    fs::{
        AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid, fchmod, fchown, mkdirat, open, openat, renameat, statat,
        unlinkat,
    },
    io::Errno,
    process::geteuid,
};

/// The maximum size. Settings are small, so a larger file is a mistake.
const MAX_BYTES: u64 = 16 << 20;
/// The maximum number of consecutive symlinks, as in Linux.
const MAX_LINKS: usize = 40;
/// The beginning of the names of temporary files. 16 hexadecimal digits follow.
const DRAFT: &str = ".hookbox-";
/// The age of a temporary file whose writer has certainly ended. Writing takes less than a second.
const STALE: Duration = Duration::from_mins(10);
/// The maximum number of names that are read in search of temporary files.
const MAX_NAMES: usize = 10_000;
/// The mode bits that a new version of a file keeps.
const PERMISSIONS: u32 = 0o777;

/// The real path of a file, with symlinks of its existing folders and of the file itself resolved.
///
/// # Errors
/// A cycle of symlinks, or an unreadable folder.
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
            // It is not a symlink, or does not exist.
            Err(_) => return Ok(found),
        }
    }
    Err(io::Error::other("too many links"))
}

/// The real path of a folder. Its last parts may not exist yet.
fn real_folder(folder: &Path) -> io::Result<PathBuf> {
    match folder.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound && folder.symlink_metadata().is_err() => {
            let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return Err(error) };
            Ok(real_folder(parent)?.join(name))
        }
        found => found,
    }
}

/// Reads a file. `None` if it does not exist. Rejects pipes and devices without blocking.
///
/// # Errors
/// An I/O error, or anything but a regular file of at most 16 MiB.
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

/// Writes a file completely or not at all. Follows symlinks and creates folders. An existing file keeps its mode and
/// owner. Other hard links to it keep the old content.
///
/// # Errors
/// An I/O error, also if the path is neither a regular file nor free.
pub fn write(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    let written = real(file).and_then(|real| put(&real, content, fs::metadata(&real).ok().as_ref()));
    written.with_context(|| format!("cannot write {}", file.display()))
}

/// Writes a file completely or not at all, and creates its folders. Replaces a symlink at its path.
///
/// # Errors
/// Same as [`write`].
pub fn replace(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    let like = |real: &Path| fs::symlink_metadata(real).ok().filter(Metadata::is_file);
    let written = in_real_folder(file).and_then(|real| put(&real, content, like(&real).as_ref()));
    written.with_context(|| format!("cannot write {}", file.display()))
}

/// Writes a file with the mode and owner of `like`. Replaces a symlink at its path.
///
/// # Errors
/// Same as [`write`].
pub fn write_beside(file: &Path, content: &[u8], like: &Path) -> anyhow::Result<()> {
    let written = in_real_folder(file).and_then(|real| put(&real, content, fs::metadata(like).ok().as_ref()));
    written.with_context(|| format!("cannot write {}", file.display()))
}

/// Removes a file, or the symlink at its path. Returns true if there was one.
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

/// Removes the empty folders of a file up to `top`, which stays.
pub fn remove_empty_folders(file: &Path, top: &Path) {
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != top && folder.starts_with(top)) {
        // This fails for a folder that is not empty, and for a symlink.
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// The path of a file with the symlinks of its folders resolved.
fn in_real_folder(file: &Path) -> io::Result<PathBuf> {
    let file = std::path::absolute(file)?;
    let name = file.file_name().ok_or_else(no_name)?;
    Ok(real_folder(file.parent().unwrap_or(Path::new("/")))?.join(name))
}

/// Writes a file at a path without symlinks: first under a random name in its opened folder, then renamed.
fn put(file: &Path, content: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    let (folder, name) = open_folder_of(file, true)?;
    match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::RegularFile | FileType::Symlink) | Err(Errno::NOENT) => {}
        Ok(_) => return Err(io::Error::other("it is not a regular file")),
        Err(error) => return Err(error.into()),
    }
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let draft = format!("{DRAFT}{:016x}", u64::from_ne_bytes(random));
    tidy(&folder);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = if like.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
    let mut open = File::from(openat(&folder, &draft, flags, mode)?);
    let written = open.write_all(content).and_then(|()| {
        if let Some(like) = like {
            // The new file keeps the owner, if this user may set it.
            let _ = fchown(&open, Some(Uid::from_raw(like.uid())), Some(Gid::from_raw(like.gid())));
            fchmod(&open, Mode::from_raw_mode(like.mode() & PERMISSIONS))?;
        }
        open.sync_all()?;
        renameat(&folder, &draft, &folder, name)?;
        sync(&folder)
    });
    if written.is_err() {
        let _ = unlinkat(&folder, &draft, AtFlags::empty());
    }
    written
}

/// Removes temporary files whose writers were killed.
fn tidy(folder: &OwnedFd) {
    let Ok(names) = Dir::read_from(folder) else { return };
    for entry in names.take(MAX_NAMES).flatten() {
        let name = entry.file_name();
        let is_draft = name.to_str().ok().and_then(|name| name.strip_prefix(DRAFT)).is_some_and(|random| {
            random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        });
        if !is_draft {
            continue;
        }
        let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let written = u64::try_from(stat.st_mtime).ok().map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
        let is_stale = written.and_then(|written| written.elapsed().ok()).is_some_and(|age| age > STALE);
        let is_own = stat.st_uid == geteuid().as_raw();
        if is_stale && is_own && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            let _ = unlinkat(folder, name, AtFlags::empty());
        }
    }
}

/// Opens the folder of a file at a path without symlinks, one folder after another, following none.
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
    io::Error::other("it is not a file name")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{fs::File, os::unix::fs::symlink, time::SystemTime};

    use super::*;

    #[test]
    fn a_write_removes_the_temporary_files_of_killed_writers_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let put = |name: &str, age: Duration| {
            let file = File::create(path(name)).unwrap();
            file.set_modified(SystemTime::now().checked_sub(age).unwrap()).unwrap();
        };
        let (old, new) = (STALE * 2, Duration::ZERO);
        put(".hookbox-0123456789abcdef", old);
        let stays = [
            (".hookbox-0123456789abcde0", new),
            (".hookbox-0123456789abcdefa", old),
            (".hookbox-0123456789ABCDEF", old),
            (".hookbox-notes", old),
            ("settings.json.bak", old),
        ];
        for (name, age) in stays {
            put(name, age);
        }
        symlink(path("settings.json.bak"), path(".hookbox-00000000000000ff")).unwrap();
        write(&path("settings.json"), b"{}").unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        let mut expected: Vec<std::ffi::OsString> = stays.iter().map(|(name, _)| (*name).into()).collect();
        expected.extend([".hookbox-00000000000000ff".into(), "settings.json".into()]);
        expected.sort();
        assert_eq!(left, expected);
    }
}
