//! Cache of compiled components on disk, so that a process that handles one event does not compile.
//!
//! The content of the cache becomes machine code in this process. So the folder must be private to the user, which is
//! checked on the open folder itself. Each entry carries a digest of its content, so that an entry damaged by a crash
//! or a full disk is compiled again and never run.

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

/// Last bytes of an entry, after the digest of the content. The content comes first, so that it can be mapped as it is.
/// Change this value when the layout changes.
const MAGIC: [u8; 16] = *b"hookbox cache 4\n";

/// Takes a component from the cache. Returns `None` if it is missing or unusable.
pub(crate) fn cached(engine: &Engine, digest: &str) -> Option<Component> {
    let folder = Folder::open(engine.options().cache_dir.as_deref()?).ok()?;
    image(engine, &folder, &key(engine.wasmtime(), digest))
}

/// Takes a component from the cache, or compiles it. A broken cache never causes an error.
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
    // A component that failed to load is not tried again under the same limits: each attempt may take the whole limit,
    // and a client waits only a limited time for its gate.
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
        // Do not keep an image that the pool refuses.
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

/// Loads the component that is cached under this key.
fn image(engine: &Engine, folder: &Folder, key: &str) -> Option<Component> {
    let name = image_name(key);
    // A resident process copies the code into memory, because the file system of the cache may go away later.
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

/// Returns the cached form of a refusal, or `None` if the component did not cause the error.
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

/// Machine code in a place that nothing can change.
enum Compiled<'a> {
    Image(&'a Image),
    /// An open file that is mapped: only the pages that are used take memory.
    File(File),
}

/// Loads machine code into this process.
fn load(engine: &wasmtime::Engine, code: &Compiled<'_>) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` requires bytes that the compiler returned, unchanged. A `Compiled` has one of two sources.
    // `compiler::compile` gets it from the compiler in this process, or through a pipe from a program that the host
    // names and that no other user can write to.
    // `image` gets it from a `.cwasm` file that `put` of this user wrote. The folder and the file belong to this user
    // and no other user can write to them (`private::check`, on the open descriptors, so no rename can interfere), and
    // a digest shows that the file is complete.
    // The bytes do not change while they are in use. They are a copy in this process's memory, or a file that the
    // system has sealed (`sealed`), or, in a process that ends after a few calls, the open file itself. Nobody has
    // write permission on that file, this user included, and hookbox replaces such files and never changes them. So
    // only an attacker who can change the programs that this user runs could change it.
    // An image of another engine or version has another name, and `deserialize` checks the engine and the version
    // again.
    #[allow(unsafe_code)]
    unsafe {
        match code {
            Compiled::Image(image) => Component::deserialize(engine, &image.0),
            // This path names the descriptor that is already open.
            Compiled::File(file) => Component::deserialize_file(engine, format!("/proc/self/fd/{}", file.as_raw_fd())),
        }
    }
}

/// Returns the name of a cache entry. It depends on the component, the layout of entries, the version of wasmtime and
/// every setting that changes machine code. It depends on the processor's features only if this process compiles, but
/// an image that needs missing features does not load.
fn key(engine: &wasmtime::Engine, digest: &str) -> String {
    let mut hasher = Sha256Hasher(Sha256::new());
    hasher.0.update(MAGIC);
    hasher.0.update(digest);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{:x}", hasher.0.finalize())
}

/// Feeds values that implement [`Hash`] to SHA-256. The standard hasher may differ between builds.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    /// Unused: the digest is taken from the inner hasher.
    fn finish(&self) -> u64 {
        0
    }
}

/// Opens the cache, or logs why it cannot be used.
fn open_or_warn(path: &Path) -> Option<Folder> {
    let warn = |why: &io::Error| tracing::warn!(folder = %path.display(), %why, "compiled components are not cached");
    Folder::open(path).inspect_err(warn).ok()
}

/// Returns the content of an entry, read by `take`, and its open file. Returns `None` if it is missing, damaged or
/// writable.
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

/// A reader that computes the digest of the bytes read so far.
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
    // Writers remove the temporary files of processes that were killed while writing.
    folder.tidy();
    folder.write(name, &[content, &xxh3_128(content).to_le_bytes(), &MAGIC])
}
