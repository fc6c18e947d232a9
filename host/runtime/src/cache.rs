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

use crate::{
    compiler::{self, Image},
    engine::Engine,
    error::LoadError,
};

/// What an entry begins with; the digest of the rest follows. Changes when the layout does.
const MAGIC: &[u8; 16] = b"hookbox cache 1\n";
const DIGEST_BYTES: usize = 32;

/// Takes a component from the cache, or compiles it. No state of the cache makes this fail.
pub(crate) fn compiled(engine: &Engine, bytes: &[u8], digest: &str) -> Result<Component, LoadError> {
    let path = engine.options().cache_dir.as_deref();
    let folder = path.and_then(|path| {
        let unusable = |why| tracing::warn!(folder = %path.display(), %why, "compiled components are not cached");
        Folder::open(path).map_err(unusable).ok()
    });
    let name = entry_name(engine, digest);
    let cached = folder.as_ref().and_then(|folder| folder.get(&name));
    if let Some(component) = cached.and_then(|image| load(engine, &image).ok()) {
        return Ok(component);
    }
    let image = compiler::compile(engine.wasmtime(), engine.options().compiler.as_ref(), bytes)?;
    if let Some(Err(why)) = folder.map(|folder| folder.put(&name, &image)) {
        tracing::warn!(?path, %why, "a compiled component could not be cached");
    }
    load(engine, &image).map_err(|error| LoadError::Invalid(format!("{error:#}")))
}

/// Makes what was compiled part of this process.
fn load(engine: &Engine, image: &Image) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` must only be given what the compiler returned, unchanged. There are two ways to an `Image`.
    // `compiler::compile` has it from the compiler in this process, or through a pipe from a program that the host
    // names and that nobody else can write to. `Folder::get` has it from a file that `put` of this user wrote: the
    // folder and the file are ours and nobody else can write to them (`check_private`, on the open descriptors, so no
    // renaming gets in between), and a digest shows that it is whole. It is in our memory, so nothing changes it while
    // it is used. An image of another engine or version has another name, and `deserialize` checks that again itself.
    #[allow(unsafe_code)]
    unsafe {
        Component::deserialize(engine.wasmtime(), &image.0)
    }
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
    fn get(&self, name: &str) -> Option<Image> {
        let entry = openat(&self.0, name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
        check_private(&entry, FileType::RegularFile).ok()?;
        let (mut file, mut magic, mut digest, mut image) = (File::from(entry), *MAGIC, [0; DIGEST_BYTES], Vec::new());
        file.read_exact(&mut magic).and_then(|()| file.read_exact(&mut digest)).ok()?;
        file.read_to_end(&mut image).ok()?;
        (magic == *MAGIC && digest == *Sha256::digest(&image)).then_some(Image(image))
    }

    /// Writes an entry under another name first, so that no reader sees half of it.
    fn put(&self, name: &str, Image(image): &Image) -> io::Result<()> {
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
