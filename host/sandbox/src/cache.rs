//! Compiled components on disk, so that a process that lives for one event does not compile.
//!
//! What is read back becomes machine code in this process. So the folder has to be the user's alone, which is checked
//! on the open folder itself, and each entry carries a digest of its content, so that what a crash or a full disk left
//! behind is compiled again instead of run.

use std::{
    hash::{Hash, Hasher},
    io::{self, Read},
    path::Path,
};

use sha2::{Digest, Sha256};
use wasmtime::component::Component;

use crate::{
    compiler::{self, CompileLimits, Image},
    engine::Engine,
    error::LoadError,
    loads,
    private::Folder,
};

/// What an entry begins with; the digest of the rest follows. Changes when the layout does.
const MAGIC: &[u8; 16] = b"hookbox cache 2\n";

/// Takes a component from the cache, or compiles it. No state of the cache makes this fail.
#[tracing::instrument(name = "compile", level = "debug", skip_all, fields(digest, bytes = bytes.len()))]
pub(crate) fn compiled(engine: &Engine, bytes: &[u8], digest: &str) -> Result<Component, LoadError> {
    let (options, loads, engine) = (engine.options(), &engine.codes().loads, engine.wasmtime());
    let folder = options.cache_dir.as_deref().and_then(open_or_warn);
    let get = |name: &str| get(folder.as_ref()?, name);
    let keep = |name: &str, content: &[u8]| {
        if let Some(Err(why)) = folder.as_ref().map(|folder| put(folder, name, content)) {
            tracing::warn!(%why, "a compiled component could not be cached");
        }
    };
    let key = key(engine, digest);
    let image_name = format!("{key}.cwasm");
    if let Some(component) = get(&image_name).and_then(|image| load(engine, &Image(image)).ok()) {
        loads::count(&loads.cache);
        return Ok(component);
    }
    // What could not be loaded once is not tried again under the same limits: each try takes as long as they allow, and a
    // client waits only so long for its gate.
    let limits = options.compiler.as_ref().map(|compiler| {
        let CompileLimits { seconds, memory_mib } = compiler.limits;
        format!("-{seconds}s-{memory_mib}m")
    });
    let (memory, tables) = (options.max_memory_mib, options.max_table_elements);
    let refusal = format!("{key}{}-{memory}m-{tables}t.refused", limits.unwrap_or_default());
    if let Some(error) = get(&refusal).and_then(|refused| read_refusal(&refused)) {
        loads::count(&loads.cache);
        return Err(error);
    }
    loads::count(&loads.compiler);
    let compiled = compiler::compile(engine, options.compiler.as_ref(), bytes).and_then(|image| {
        // An image that the pool refuses is of no use to anybody.
        let component = load(engine, &image).map_err(|error| LoadError::Invalid(format!("{error:#}")))?;
        Ok((component, image))
    });
    match compiled {
        Ok((component, image)) => {
            keep(&image_name, &image.0);
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

/// Makes what was compiled part of this process.
fn load(engine: &wasmtime::Engine, image: &Image) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` must only be given what the compiler returned, unchanged. There are two ways to an `Image`.
    // `compiler::compile` has it from the compiler in this process, or through a pipe from a program that the host
    // names and that nobody else can write to. `compiled` has it from a `.cwasm` file that `put` of this user wrote: the
    // folder and the file are ours and nobody else can write to them (`private::check`, on the open descriptors, so no
    // renaming gets in between), and a digest shows that it is whole. It is in our memory, so nothing changes it while
    // it is used. An image of another engine or version has another name, and `deserialize` checks that again itself.
    #[allow(unsafe_code)]
    unsafe {
        Component::deserialize(engine, &image.0)
    }
}

/// A name that changes with the component, the version of wasmtime and every setting that changes machine code.
fn key(engine: &wasmtime::Engine, digest: &str) -> String {
    let mut hasher = Sha256Hasher(Sha256::new());
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

/// The entry, if it is there and whole.
fn get(folder: &Folder, name: &str) -> Option<Vec<u8>> {
    let mut file = folder.file(name).ok()??;
    let (mut magic, mut digest, mut content) = (*MAGIC, [0; blake3::OUT_LEN], Vec::new());
    file.read_exact(&mut magic).and_then(|()| file.read_exact(&mut digest)).ok()?;
    file.read_to_end(&mut content).ok()?;
    (magic == *MAGIC && blake3::hash(&content) == digest).then_some(content)
}

fn put(folder: &Folder, name: &str, content: &[u8]) -> io::Result<()> {
    // Whoever writes pays for those that were ended while they did.
    folder.tidy();
    folder.write(name, &[MAGIC, blake3::hash(content).as_bytes(), content])
}
