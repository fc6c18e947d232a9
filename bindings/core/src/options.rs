//! Options as JSON objects. Unknown keys are errors.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    path::{Path, PathBuf},
};

use hookbox::{Ceiling, CompileLimits, Config, Tenant, config::Loaded};
use serde::{Deserialize, de::DeserializeOwned};

use crate::error::{Code, Error};

/// Options of a [`Runtime`](crate::Runtime); each has a default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RuntimeOptions {
    /// Compile components in this process, which a hostile component can exhaust.
    pub compile_in_process: bool,
    /// Limits of compiling one component in a separate process.
    pub compile_limits: CompileLimits,
    /// The folder of compiled components. Default: the user's cache folder.
    pub cache_dir: Option<PathBuf>,
    /// Components that run at the same time. Default: 16.
    pub max_instances: Option<NonZeroU32>,
    /// The largest `memoryMiB` that a hook may have. Default: 1024.
    #[serde(rename = "maxMemoryMiB")]
    pub max_memory_mib: Option<NonZeroU32>,
    /// The file of all state. Default: the one that a configuration names, or else the user's.
    pub state_file: Option<PathBuf>,
    /// Threads that run components for asynchronous calls. Default: one for each processor.
    pub threads: Option<NonZeroUsize>,
}

/// Options of one hook set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct LoadOptions {
    /// The dialect. It overrides the configuration's.
    pub dialect: Option<String>,
    /// Failures block, regardless of the configuration.
    pub fail_closed: bool,
    /// Load each hook when an event first needs it. A hook that cannot be loaded then has failed.
    pub lazy: bool,
    /// The tenant. Each tenant has its own state.
    pub tenant: Option<String>,
    /// Bounds of every hook: `authority`, `permissions` and `limits`, as a configuration has them.
    pub ceiling: Option<Ceiling>,
    /// Types of handlers that the ceiling allows in addition to `wasm`.
    pub handlers: Vec<String>,
    /// Bytes of state that all hooks of the tenant may keep.
    pub state_bytes: Option<u64>,
}

/// The origin of a configuration.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// The text of a configuration, and the folder that its relative paths refer to.
    Text(String, PathBuf),
}

/// The name of a configuration without a file, in messages. No file has this name.
const NO_FILE: &str = "<configuration>";

/// Reads an options object; an empty text means `{}`.
pub(crate) fn parse<T: DeserializeOwned + Default>(what: &str, text: &str) -> Result<T, Error> {
    if text.is_empty() {
        return Ok(T::default());
    }
    serde_json::from_str(text).map_err(|error| {
        // The package wrote the text, so a place in it is of no use to the caller.
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
        Error::new(Code::Options, format!("invalid {what} options: {message}"))
    })
}

impl RuntimeOptions {
    /// Reads the options from JSON; an empty text means `{}`.
    ///
    /// # Errors
    /// [`Code::Options`]
    pub fn parse(text: &str) -> Result<Self, Error> {
        parse("runtime", text)
    }
}

impl LoadOptions {
    /// Reads the options from JSON; an empty text means `{}`.
    ///
    /// # Errors
    /// [`Code::Options`]
    pub fn parse(text: &str) -> Result<Self, Error> {
        let options: Self = parse("load", text)?;
        if options.ceiling.is_none() && !options.handlers.is_empty() {
            let message = "invalid load options: `handlers` needs a `ceiling`";
            return Err(Error::new(Code::Options, message));
        }
        Ok(options)
    }

    /// Reads a configuration under these options.
    pub(crate) fn read(&self, source: &Source, runtime: &hookbox::Runtime) -> Result<Loaded, Error> {
        let mut reader = runtime.reader().fail_closed(self.fail_closed).with_files();
        if let Some(dialect) = &self.dialect {
            reader = reader.dialect(dialect);
        }
        Ok(match source {
            Source::File(file) => reader.file(file)?,
            Source::Text(text, folder) => reader.text(text, &file_in(folder))?,
        })
    }

    /// The tenant of a configuration.
    pub(crate) fn tenant(self, config: &Config) -> Tenant {
        let mut tenant = self.tenant.map_or_else(|| Tenant::of(config), Tenant::new);
        if let Some(ceiling) = self.ceiling {
            tenant = tenant.ceiling(self.handlers.into_iter().fold(ceiling, Ceiling::handler));
        }
        if let Some(bytes) = self.state_bytes {
            tenant = tenant.state_bytes(bytes);
        }
        tenant
    }
}

fn file_in(folder: &Path) -> PathBuf {
    folder.join(NO_FILE)
}
