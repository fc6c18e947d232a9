//! Directories and environment variables, through WASI.

use std::path::{Path, PathBuf};

use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};

use crate::{error::LoadError, permission::Permissions};

/// Random bytes a component may draw at once.
const RANDOM_BYTES: u64 = 64 << 10;

/// What a hook was granted of them.
#[derive(Debug)]
pub(crate) struct WasiGrants {
    directories: Vec<(PathBuf, String, FsPerms)>,
    variables: Vec<String>,
}

impl WasiGrants {
    /// Opens every directory once, so that what is missing shows when the hook is loaded.
    pub(crate) fn new(permissions: &Permissions, folder: &Path) -> Result<Self, LoadError> {
        let read = permissions.read.iter().map(|(guest, host)| (folder.join(host), guest.clone(), FsPerms::ReadOnly));
        let write =
            permissions.write.iter().map(|(guest, host)| (folder.join(host), guest.clone(), FsPerms::ReadWrite));
        let grants = Self { directories: read.chain(write).collect(), variables: permissions.env.clone() };
        grants.context()?;
        Ok(grants)
    }

    /// The context of one call; `None` when nothing is granted.
    pub(crate) fn context(&self) -> Result<Option<Box<WasiCtx>>, LoadError> {
        if self.directories.is_empty() && self.variables.is_empty() {
            return Ok(None);
        }
        let mut context = inert();
        for (host, guest, perms) in &self.directories {
            context
                .preopened_dir(host, guest, *perms)
                .map_err(|e| LoadError::Directory { path: host.clone(), error: e.root_cause().to_string() })?;
        }
        for name in &self.variables {
            if let Ok(value) = std::env::var(name) {
                context.env(name, value);
            }
        }
        Ok(Some(Box::new(context.build())))
    }
}

/// No directory, no variable, no argument, closed stdio; clocks and randomness as they are.
pub(super) fn inert() -> WasiCtxBuilder {
    let mut context = WasiCtx::builder();
    context.max_random_size(RANDOM_BYTES);
    context
}
