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
    compiler::{self, CompileLimits, Image},
    engine::Engine,
    error::LoadError,
};

/// What an entry begins with; the digest of the rest follows. Changes when the layout does.
const MAGIC: &[u8; 16] = b"hookbox cache 1\n";
const DIGEST_BYTES: usize = 32;

/// Takes a component from the cache, or compiles it. No state of the cache makes this fail.
pub(crate) fn compiled(engine: &Engine, bytes: &[u8], digest: &str) -> Result<Component, LoadError> {
    let options = engine.options();
    let folder = options.cache_dir.as_deref().and_then(Folder::open_or_warn);
    let get = |name: &str| folder.as_ref()?.get(name);
    let keep = |name: &str, content: &[u8]| {
        if let Some(Err(why)) = folder.as_ref().map(|folder| folder.put(name, content)) {
            tracing::warn!(%why, "a compiled component could not be cached");
        }
    };
    let key = key(engine, digest);
    let image_name = format!("{key}.cwasm");
    if let Some(component) = get(&image_name).and_then(|image| load(engine, &Image(image)).ok()) {
        return Ok(component);
    }
    // A component that was too much once is not tried again under the same limits: each try takes as long as they allow,
    // and a client waits only so long for its gate.
    let refusal = options.compiler.as_ref().map(|compiler| {
        let CompileLimits { seconds, memory_mib } = compiler.limits;
        format!("{key}-{seconds}s-{memory_mib}m.refused")
    });
    if let Some(why) = refusal.as_deref().and_then(get) {
        return Err(LoadError::TooComplex(String::from_utf8_lossy(&why).into_owned()));
    }
    let compiled = compiler::compile(engine.wasmtime(), options.compiler.as_ref(), bytes);
    if let (Err(LoadError::TooComplex(why)), Some(refusal)) = (&compiled, &refusal) {
        keep(refusal, why.as_bytes());
    }
    let image = compiled?;
    keep(&image_name, &image.0);
    load(engine, &image).map_err(|error| LoadError::Invalid(format!("{error:#}")))
}

/// Makes what was compiled part of this process.
fn load(engine: &Engine, image: &Image) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` must only be given what the compiler returned, unchanged. There are two ways to an `Image`.
    // `compiler::compile` has it from the compiler in this process, or through a pipe from a program that the host
    // names and that nobody else can write to. `compiled` has it from a `.cwasm` file that `put` of this user wrote: the
    // folder and the file are ours and nobody else can write to them (`check_private`, on the open descriptors, so no
    // renaming gets in between), and a digest shows that it is whole. It is in our memory, so nothing changes it while
    // it is used. An image of another engine or version has another name, and `deserialize` checks that again itself.
    #[allow(unsafe_code)]
    unsafe {
        Component::deserialize(engine.wasmtime(), &image.0)
    }
}

/// A name that changes with the component, the version of wasmtime and every setting that changes machine code.
fn key(engine: &Engine, digest: &str) -> String {
    let mut hasher = Sha256Hasher(Sha256::new());
    hasher.0.update(digest);
    engine.wasmtime().precompile_compatibility_hash().hash(&mut hasher);
    format!("{:x}", hasher.0.finalize())
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
    fn open_or_warn(path: &Path) -> Option<Self> {
        let warn =
            |why: &io::Error| tracing::warn!(folder = %path.display(), %why, "compiled components are not cached");
        Self::open(path).inspect_err(warn).ok()
    }

    /// Creates it when it is not there.
    fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let folder =
            open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        check_private(&folder, FileType::Directory)?;
        Ok(Self(folder))
    }

    /// The entry, if it is there and whole.
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        let entry = openat(&self.0, name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
        check_private(&entry, FileType::RegularFile).ok()?;
        let (mut file, mut magic, mut digest, mut content) = (File::from(entry), *MAGIC, [0; DIGEST_BYTES], Vec::new());
        file.read_exact(&mut magic).and_then(|()| file.read_exact(&mut digest)).ok()?;
        file.read_to_end(&mut content).ok()?;
        (magic == *MAGIC && digest == *Sha256::digest(&content)).then_some(content)
    }

    /// Writes an entry under another name first, so that no reader sees half of it.
    fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let temporary = format!("{name}.{}.{}", process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.0, &temporary, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(content))?;
        file.write_all(content)?;
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
