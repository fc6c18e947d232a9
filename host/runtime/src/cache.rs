//! Compiled components on disk, so that a process that lives for one event does not compile.
//!
//! What is read back becomes machine code in this process. So the folder has to be the user's alone, which is checked
//! on the open folder itself, and each entry carries a digest of its content, so that what a crash or a full disk left
//! behind is compiled again instead of run.

use std::{
    fs::{DirBuilder, File},
    hash::{Hash, Hasher},
    io::{self, Read, Write},
    os::unix::fs::DirBuilderExt,
    path::Path,
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fd::OwnedFd,
    fs::{FileType, Mode, OFlags, fstat, open, openat, renameat},
    process::geteuid,
};
use sha2::{Digest, Sha256};
use wasmtime::component::Component;

use crate::{component::LoadError, engine::Engine};

/// What an entry begins with; the digest of the rest follows. Changes when the layout does.
const MAGIC: &[u8; 16] = b"hookbox cache 1\n";
const DIGEST_BYTES: usize = 32;

/// Compiles a component, or takes it from the cache. No state of the cache makes this fail.
pub(crate) fn compiled(engine: &Engine, bytes: &[u8], digest: &str) -> Result<Component, LoadError> {
    let compile = || Component::from_binary(engine.wasmtime(), bytes).map_err(|e| LoadError::Invalid(format!("{e:#}")));
    let Some(path) = &engine.options().cache_dir else { return compile() };
    let folder = match Folder::open(path) {
        Ok(folder) => folder,
        Err(why) => {
            tracing::warn!(folder = %path.display(), %why, "compiled components are not cached");
            return compile();
        }
    };
    let name = entry_name(engine, digest);
    if let Some(component) = folder.get(engine, &name) {
        return Ok(component);
    }
    let component = compile()?;
    let stored = component.serialize().map_err(io::Error::other).and_then(|image| folder.put(&name, &image));
    if let Err(why) = stored {
        tracing::warn!(folder = %path.display(), %why, "a compiled component could not be cached");
    }
    Ok(component)
}

/// A name that changes with the component, the version of wasmtime and every setting that changes machine code.
fn entry_name(engine: &Engine, digest: &str) -> String {
    let mut hasher = Sha256Hasher(Sha256::new());
    hasher.0.update(digest);
    engine.wasmtime().precompile_compatibility_hash().hash(&mut hasher);
    format!("{:x}.cwasm", hasher.0.finalize())
}

/// Feeds what implements [`Hash`] to SHA-256: the standard hasher may differ between builds.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    /// Not asked for; the digest is taken from inside.
    fn finish(&self) -> u64 {
        0
    }
}

/// An open folder that only this user (and root) can write to.
struct Folder(OwnedFd);

impl Folder {
    /// Creates it when it is not there.
    fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let folder =
            open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        check_private(&folder, FileType::Directory)?;
        Ok(Self(folder))
    }

    /// The entry, if it is there and whole.
    fn get(&self, engine: &Engine, name: &str) -> Option<Component> {
        let entry = openat(&self.0, name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
        check_private(&entry, FileType::RegularFile).ok()?;
        let mut bytes = Vec::new();
        File::from(entry).read_to_end(&mut bytes).ok()?;
        let (digest, image) = bytes.strip_prefix(MAGIC)?.split_at_checked(DIGEST_BYTES)?;
        if digest != Sha256::digest(image).as_slice() {
            return None;
        }
        // SAFETY: `deserialize` must only be given what `Component::serialize` returned, unchanged. `image` is bytes
        // that `put` of this user wrote after such a call: the folder and the file are ours and nobody else can write
        // to them (`check_private`, on the open descriptors, so no renaming gets in between), and the digest shows
        // that they are whole. They are in our memory, so nothing changes them while they are used. An image of
        // another engine or version has another name, and `deserialize` checks that again itself.
        #[allow(unsafe_code)]
        let component = unsafe { Component::deserialize(engine.wasmtime(), image) };
        component.ok()
    }

    /// Writes an entry under another name first, so that no reader sees half of it.
    fn put(&self, name: &str, image: &[u8]) -> io::Result<()> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let temporary = format!("{name}.{}.{}", process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.0, &temporary, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(image))?;
        file.write_all(image)?;
        renameat(&self.0, &temporary, &self.0, name)?;
        Ok(())
    }
}

fn check_private(file: &OwnedFd, expected: FileType) -> io::Result<()> {
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
