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

/// Maximum number of random bytes per request.
const RANDOM_BYTES: u64 = 64 << 10;

/// Directories and environment variables granted to a hook.
#[derive(Debug, Default)]
pub(crate) struct WasiGrants {
    pub(super) directories: Vec<Directory>,
    variables: Vec<String>,
}

/// A granted directory, held open since the hook was loaded. Its path is never resolved again, so the hook does not see
/// a link or another directory that replaces it.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) guest: String,
    pub(super) perms: FsPerms,
    pub(super) folder: Arc<File>,
}

impl WasiGrants {
    /// Opens every directory, so that a missing one is reported when the hook is loaded.
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

    /// Builds the context of one call. The functions in [`super::files`] hand out its directories.
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

/// Opens a granted directory. With `bounds`, the directory must be below one of them: a link that was placed in the
/// path after the ceiling was checked causes an error.
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

/// A context without directories, variables and arguments, with closed stdio. Clocks and randomness are available.
fn inert() -> WasiCtxBuilder {
    let mut context = WasiCtx::builder();
    context.max_random_size(RANDOM_BYTES);
    context
}
