//! The configuration file: reads it, validates it, and resolves it to a [`Config`].

mod authority_text;
mod bundled;
mod callback;
mod caller;
mod ceiling;
mod clients;
mod diagnostic;
mod file;
mod flat;
mod handler;
mod hints;
mod hook;
mod host;
mod lines;
mod load;
mod misplaced;
mod options;
mod own_files;
mod pointer;
mod process;
mod reader;
mod resolve;
mod schema;
mod validate;

use std::{
    collections::BTreeSet,
    fmt, io,
    path::{Path, PathBuf},
};

use hookbox_protocol::Dialect;

use crate::artifact::Reference;

pub(crate) use authority_text::authority_text;
pub use callback::CallbackEntry;
pub(crate) use ceiling::CeilingEntry;
pub use diagnostic::{ConfigErrors, Diagnostic, Severity, nearest};
pub use handler::{HANDLER_TYPES, Handler, Wasm};
pub use hints::{Hints, dialect_hint, fail_closed_hint, file_hints, hints};
pub use hook::{Hook, Mode};
pub use host::HostSettings;
pub use load::Loaded;
pub use process::Process;
pub use reader::{Reader, find};
pub use resolve::events::{Misnamed, misnamed};
#[cfg(feature = "schema")]
pub use schema::generated;
pub use schema::{DEFAULT_DIALECT, schema};

/// A loaded configuration. Its hooks are in the order in which the dialect merges them.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// The file, for messages. Relative paths are relative to its folder.
    pub file: PathBuf,
    /// The dialect, with its profile.
    pub dialect: &'static dyn Dialect,
    /// The dialect in which the hooks are written. It differs from `dialect` if another client calls them.
    pub written: &'static dyn Dialect,
    /// `failClosed`: every failure of hookbox on an event that can be blocked blocks it.
    pub fail_closed: bool,
    /// False if `disableAllHooks`, or blade's `enabled`, disables all hooks. It does not apply to `canUseTool`.
    pub enabled: bool,
    /// `maxConcurrentHooks` of blade: the maximum number of hooks that run concurrently.
    pub max_concurrent: Option<usize>,
    /// The hooks, in configuration order (under picoclaw: by priority, then name).
    pub hooks: Vec<Hook>,
    /// The references to components in registries, in the order of the lock.
    pub references: BTreeSet<Reference>,
    /// The memory of the compiled matchers in bytes, by estimate.
    pub matcher_bytes: usize,
    /// SHA-256 of the file's bytes, in hexadecimal, for records.
    pub digest: String,
    /// The settings under `host`.
    pub settings: HostSettings,
}

impl Config {
    /// The folder of the file. Relative paths are relative to it.
    pub fn folder(&self) -> &Path {
        match self.file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }

    /// The name of the tenant.
    pub fn tenant(&self) -> &str {
        self.settings.tenant.as_deref().unwrap_or("default")
    }

    /// The owner of a component's state within the tenant. Without a configured tenant, the owner includes the path of
    /// this file, because different projects may use the same component name. A configured tenant shares state between
    /// all its files.
    pub fn owner(&self, wasm: &Wasm) -> String {
        if self.settings.tenant.is_some() {
            return wasm.owner.clone();
        }
        let file = std::path::absolute(&self.file).unwrap_or_else(|_| self.file.clone());
        let folder = file.parent().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        // Not the target of a symlink: relative component paths are relative to the link.
        let file = folder.zip(file.file_name()).map_or(file.clone(), |(folder, name)| folder.join(name));
        let text =
            file.to_str().map_or_else(|| file.as_os_str().as_encoded_bytes().escape_ascii().to_string(), str::to_owned);
        // NUL separates the parts unambiguously, because no path contains it.
        format!("{text}\0{}", wasm.owner)
    }

    /// An error at a place in the file that is found only when a hook is loaded.
    pub(crate) fn error_at(&self, pointer: &str, message: String, help: Option<String>) -> Diagnostic {
        let text = reader::regular(&self.file).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        let text = text.unwrap_or_default();
        Diagnostic {
            severity: Severity::Error,
            file: self.file.clone(),
            pointer: pointer.to_owned(),
            line: lines::line(&text, pointer),
            message,
            help,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("file", &self.file).field("hooks", &self.hooks).finish_non_exhaustive()
    }
}

/// The event name of the permission callback.
pub(crate) const CAN_USE_TOOL: &str = "canUseTool";

#[cfg(test)]
mod tests;
