//! Directories and environment variables, through WASI.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};

use super::files::OpenFiles;
use crate::{
    beneath::{self, Beneath},
    error::LoadError,
    permission::Permissions,
};

/// Random bytes a component may draw at once.
const RANDOM_BYTES: u64 = 64 << 10;

/// What a hook was granted of them.
#[derive(Debug, Default)]
pub(crate) struct WasiGrants {
    pub(super) directories: Vec<Directory>,
    variables: Vec<String>,
}

/// A granted directory, held open from the load of the hook on. Its path is never resolved again, so a link or another
/// directory that takes its place is not what the hook sees.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) guest: String,
    pub(super) perms: FsPerms,
    pub(super) folder: Arc<File>,
}

impl WasiGrants {
    /// Opens every directory, so that what is missing shows when the hook is loaded.
    pub(crate) fn new(permissions: &Permissions, folder: &Path, files: &OpenFiles) -> Result<Self, LoadError> {
        let Permissions { read, write, env, bounds, .. } = permissions;
        let bounds = bounds.as_ref();
        let read = read.iter().map(|grant| (grant, FsPerms::ReadOnly, bounds.map(|bounds| &*bounds.read)));
        let write = write.iter().map(|grant| (grant, FsPerms::ReadWrite, bounds.map(|bounds| &*bounds.write)));
        let directories = read.chain(write).map(|((guest, host), perms, bounds)| {
            let path = folder.join(host);
            let opened = open(&path, bounds).and_then(|opened| files.keep(opened));
            let folder = opened.map_err(|error| LoadError::Directory { path, error: error.to_string() })?;
            Ok(Directory { guest: guest.clone(), perms, folder })
        });
        Ok(Self { directories: directories.collect::<Result<_, _>>()?, variables: env.clone() })
    }

    /// The context of one call. Its directories are handed out by [`super::files`].
    pub(super) fn context(&self) -> Box<WasiCtx> {
        let mut context = inert();
        for name in &self.variables {
            if let Ok(value) = std::env::var(name) {
                context.env(name, value);
            }
        }
        Box::new(context.build())
    }
}

/// Opens a granted directory, below one of the bounds where there are any: a link that was put in the path's way after
/// the ceiling was checked leads to an error.
fn open(path: &Path, bounds: Option<&[PathBuf]>) -> io::Result<File> {
    let Some(bounds) = bounds else { return beneath::folder(path) };
    let path = path.canonicalize()?;
    for bound in bounds {
        let Ok(inside) = bound.canonicalize().and_then(|real| path.strip_prefix(real).map_err(io::Error::other)) else {
            continue;
        };
        return Beneath::open(bound)?.folder(inside);
    }
    Err(beneath::leads_out())
}

/// No directory, no variable, no argument, closed stdio; clocks and randomness as they are.
fn inert() -> WasiCtxBuilder {
    let mut context = WasiCtx::builder();
    context.max_random_size(RANDOM_BYTES);
    context
}
