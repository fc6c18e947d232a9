//! Compiled components on disk, so that a process that lives for one event does not compile.
//!
//! What is read back becomes machine code in this process. So the folder has to be the user's alone, which is checked
//! on the open folder itself, and each entry carries a digest of its content, so that what a crash or a full disk left
//! behind is compiled again instead of run.

use std::{
    fs::File,
    hash::{Hash, Hasher},
    io::{self, Read},
    os::fd::AsRawFd,
    path::Path,
};

use sha2::{Digest, Sha256};
use wasmtime::component::Component;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::{
    compiler::{self, CompileLimits, Image},
    engine::{Engine, Profile},
    error::LoadError,
    loads,
    private::Folder,
    sealed,
};

/// What an entry ends with, behind the digest of the rest, which can so be mapped as it is. Changes when the layout does.
const MAGIC: [u8; 16] = *b"hookbox cache 4\n";

/// Takes a component from the cache, if it is there and can be used.
pub(crate) fn cached(engine: &Engine, digest: &str) -> Option<Component> {
    let folder = Folder::open(engine.options().cache_dir.as_deref()?).ok()?;
    image(engine, &folder, &key(engine.wasmtime(), digest))
}

/// Takes a component from the cache, or compiles it. No state of the cache makes this fail.
#[tracing::instrument(name = "compile", level = "debug", skip_all, fields(digest, bytes = bytes.len()))]
pub(crate) fn compiled(engine: &Engine, bytes: &[u8], digest: &str) -> Result<Component, LoadError> {
    let key = key(engine.wasmtime(), digest);
    let folder = engine.options().cache_dir.as_deref().and_then(open_or_warn);
    if let Some(component) = folder.as_ref().and_then(|folder| image(engine, folder, &key)) {
        return Ok(component);
    }
    let (options, loads, engine) = (engine.options(), &engine.codes().loads, engine.wasmtime());
    let keep = |name: &str, content: &[u8]| {
        if let Some(Err(why)) = folder.as_ref().map(|folder| put(folder, name, content)) {
            tracing::warn!(%why, "a compiled component could not be cached");
        }
    };
    // What could not be loaded once is not tried again under the same limits: each try takes as long as they allow, and a
    // client waits only so long for its gate.
    let limits = options.compiler.as_ref().map(|compiler| {
        let CompileLimits { seconds, memory_mib } = compiler.limits;
        format!("-{seconds}s-{memory_mib}m")
    });
    let (memory, tables) = (options.max_memory_mib, options.max_table_elements);
    let refusal = format!("{key}{}-{memory}m-{tables}t.refused", limits.unwrap_or_default());
    let refused = folder.as_ref().and_then(|folder| get(folder, &refusal, all));
    if let Some(error) = refused.and_then(|(refused, _)| read_refusal(&refused)) {
        loads::count(&loads.cache);
        return Err(error);
    }
    loads::count(&loads.compiler);
    let compiled = compiler::compile(engine, options.compiler.as_ref(), bytes).and_then(|image| {
        // An image that the pool refuses is of no use to anybody.
        let component =
            load(engine, &Compiled::Image(&image)).map_err(|error| LoadError::Invalid(format!("{error:#}")))?;
        Ok((component, image))
    });
    match compiled {
        Ok((component, image)) => {
            keep(&image_name(&key), &image.0);
            Ok(component)
        }
        Err(error) => {
            if let Some(refused) = refusal_text(&error) {
                keep(&refusal, refused.as_bytes());
            }
            Err(error)
        }
    }
}

/// The component that is kept under this key.
fn image(engine: &Engine, folder: &Folder, key: &str) -> Option<Component> {
    let name = image_name(key);
    // A resident process does not depend on a file for that long: its file system can go away.
    let file = if engine.options().profile == Profile::Resident {
        get(folder, &name, sealed::copy).map(|(copy, _)| copy)
    } else {
        get(folder, &name, |content| sealed::read_through(content, |_| Ok(()))).map(|((), file)| file)
    };
    let mapped = file.and_then(|file| load(engine.wasmtime(), &Compiled::File(file)).ok());
    let component =
        mapped.or_else(|| load(engine.wasmtime(), &Compiled::Image(&Image(get(folder, &name, all)?.0))).ok())?;
    loads::count(&engine.codes().loads.cache);
    Some(component)
}

fn image_name(key: &str) -> String {
    format!("{key}.cwasm")
}

/// What is kept of a refusal; nothing of failures that are not the component's.
fn refusal_text(error: &LoadError) -> Option<String> {
    match error {
        LoadError::TooComplex(why) => Some(format!("complex\n{why}")),
        LoadError::Invalid(why) => Some(format!("invalid\n{why}")),
        _ => None,
    }
}

fn read_refusal(refused: &[u8]) -> Option<LoadError> {
    match std::str::from_utf8(refused).ok()?.split_once('\n')? {
        ("complex", why) => Some(LoadError::TooComplex(why.to_owned())),
        ("invalid", why) => Some(LoadError::Invalid(why.to_owned())),
        _ => None,
    }
}

/// What was compiled, where nothing changes it.
enum Compiled<'a> {
    Image(&'a Image),
    /// Only what is used of it becomes this process's.
    File(File),
}

/// Makes what was compiled part of this process.
fn load(engine: &wasmtime::Engine, code: &Compiled<'_>) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` must only be given what the compiler returned, unchanged. There are two ways to a `Compiled`.
    // `compiler::compile` has it from the compiler in this process, or through a pipe from a program that the host
    // names and that nobody else can write to. `image` has it from a `.cwasm` file that `put` of this user wrote: the
    // folder and the file are ours and nobody else can write to them (`private::check`, on the open descriptors, so no
    // renaming gets in between), and a digest shows that it is whole. It stays as it is while it is used: it is a copy in
    // our memory, or one that the system lets nobody change (`sealed`), or, in a process that ends after a few calls, the
    // open file itself. That one nobody may write to, us included; hookbox replaces such files and never changes one, so
    // only who takes pains to change what this user runs could, as with any program. An image of another engine or version
    // has another name, and `deserialize` checks that again itself.
    #[allow(unsafe_code)]
    unsafe {
        match code {
            Compiled::Image(image) => Component::deserialize(engine, &image.0),
            // The name leads to our own descriptor.
            Compiled::File(file) => Component::deserialize_file(engine, format!("/proc/self/fd/{}", file.as_raw_fd())),
        }
    }
}

/// A name that changes with the component, the layout of entries, the version of wasmtime and every setting that changes
/// machine code. With what the processor can do it changes only where this process compiles, but an image that needs more
/// than there is does not load.
fn key(engine: &wasmtime::Engine, digest: &str) -> String {
    let mut hasher = Sha256Hasher(Sha256::new());
    hasher.0.update(MAGIC);
    hasher.0.update(digest);
    engine.precompile_compatibility_hash().hash(&mut hasher);
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

/// Opens the cache, or says why not.
fn open_or_warn(path: &Path) -> Option<Folder> {
    let warn = |why: &io::Error| tracing::warn!(folder = %path.display(), %why, "compiled components are not cached");
    Folder::open(path).inspect_err(warn).ok()
}

/// The content of an entry as `take` takes it, and its open file, if it is there, whole, and nobody may write to it.
fn get<T>(folder: &Folder, name: &str, take: impl FnOnce(&mut dyn Read) -> io::Result<T>) -> Option<(T, File)> {
    let mut file = folder.file(name).ok()??;
    let (mut digest, mut magic) = ([0; size_of::<u128>()], [0; MAGIC.len()]);
    let entry = file.metadata().ok()?;
    if !entry.permissions().readonly() {
        return None;
    }
    let length = entry.len().checked_sub((digest.len() + magic.len()) as u64)?;
    let mut content = Digested { from: (&file).take(length), digest: Xxh3::new() };
    let taken = take(&mut content).ok()?;
    let found = content.digest.digest128().to_le_bytes();
    file.read_exact(&mut digest).and_then(|()| file.read_exact(&mut magic)).ok()?;
    (magic == MAGIC && digest == found).then_some((taken, file))
}

fn all(content: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    content.read_to_end(&mut all)?;
    Ok(all)
}

/// What is read, and its digest so far.
struct Digested<R> {
    from: R,
    digest: Xxh3,
}

impl<R: Read> Read for Digested<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.digest.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

fn put(folder: &Folder, name: &str, content: &[u8]) -> io::Result<()> {
    // Whoever writes pays for those that were ended while they did.
    folder.tidy();
    folder.write(name, &[content, &xxh3_128(content).to_le_bytes(), &MAGIC])
}
