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
mod hints;
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
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    path::{Path, PathBuf},
    time::Duration,
};

use hookbox_catalogue::Bundled;
use hookbox_protocol::{
    Dialect, Event, EventKind, FailurePolicy, authority::Authority, dialect::EventSpec, matcher::Matcher,
};
use hookbox_sandbox::{Limits, Permissions, limits};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::artifact::Reference;

pub(crate) use authority_text::authority_text;
pub use callback::CallbackEntry;
pub(crate) use ceiling::CeilingEntry;
pub use diagnostic::{ConfigErrors, Diagnostic, Severity, nearest};
pub use hints::{Hints, dialect_hint, fail_closed_hint, file_hints, hints};
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

/// One hook of a configuration.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hook {
    /// The name for diagnostics, records and metrics. Default: the file name of the component or command, or the host
    /// of the URL. Never a whole command line or URL, which may contain secrets.
    pub name: String,
    /// The JSON pointer of the handler in the file.
    pub pointer: String,
    /// The wire names of its events; `canUseTool` for the permission callback. Empty (a picoclaw hook without
    /// `intercept` and `observe`): all events that the component exports.
    pub events: Vec<String>,
    /// The matcher, which selects among events of these names.
    pub matcher: Matcher,
    /// The matcher as written, for `explain`.
    pub matcher_text: Option<String>,
    /// Picoclaw: true if the hook is only notified of events and decides nothing.
    pub observe_only: bool,
    /// Gemini: true if all hooks of the event run one after another. Each gets the event as the earlier ones rewrote
    /// it.
    pub sequential: bool,
    /// The timeout.
    pub timeout: Duration,
    /// True if the file sets the timeout, for this hook or for all.
    pub timeout_given: bool,
    /// The limit of a command's or server's output, in KiB. Components have [`Wasm::limits`].
    pub output_kib: u32,
    /// The failure policy. `None`: the dialect's default, or a block with `failClosed`.
    pub on_failure: Option<FailurePolicy>,
    /// The failure policy for timeouts. `None`: the default.
    pub on_timeout: Option<FailurePolicy>,
    /// The configured authority. [`Hook::bounds`] applies the defaults.
    pub authority: Option<Authority>,
    /// The mode: enforced or monitored.
    pub mode: Mode,
    /// The handler.
    pub handler: Handler,
}

impl Hook {
    /// The timeout for this event. Without a configured timeout, a component gets more time for a larger event.
    pub fn time_for(&self, event: &Event) -> Duration {
        match &self.handler {
            Handler::Wasm(_) if !self.timeout_given => self.timeout.saturating_add(limits::more_time(event.raw.size())),
            _ => self.timeout_on(event.kind()),
        }
    }

    /// The effective authority: the configured one, or a default. Components default to [`Authority::gate`], other
    /// handlers to [`Authority::trusted`]. `None` (commands and processes): unrestricted, because they are not
    /// sandboxed.
    pub fn bounds(&self) -> Option<Authority> {
        match (&self.authority, &self.handler) {
            (Some(authority), _) => Some(authority.clone()),
            (None, Handler::Command { .. } | Handler::Process(_)) => None,
            (None, Handler::Wasm(_)) => Some(Authority::gate()),
            (None, _) => Some(Authority::trusted()),
        }
    }

    /// Returns true if the hook is subscribed to this event of the dialect.
    pub(crate) fn may_be_asked(&self, spec: &EventSpec, dialect: &dyn Dialect) -> bool {
        // Compared by the name of the spec: some events have two names, and several share the kind `OtherEvent`.
        let named = |name: &String| dialect.spec_by_name(name).is_some_and(|named| named.name == spec.name);
        self.events.is_empty() || self.events.iter().any(named)
    }

    /// The timeout for events of this kind.
    pub fn timeout_on(&self, kind: EventKind) -> Duration {
        match &self.handler {
            Handler::Process(process) => process.timeout_on(kind).map_or(self.timeout, |time| time.min(self.timeout)),
            _ => self.timeout,
        }
    }
}

/// The handler of a hook: the code that runs when it is called.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a configuration has a few of them, and most are components")]
pub enum Handler {
    /// A component.
    Wasm(Wasm),
    /// A command that reads and writes the dialect's JSON. It runs with `sh -c`, or directly if `args` are given.
    Command {
        /// The command line, or the executable if there are `args`.
        command: String,
        /// The arguments. With them, no shell is used.
        args: Option<Vec<String>>,
        /// The working directory: the folder of the configuration file.
        dir: PathBuf,
    },
    /// A process that speaks `PicoClaw`'s JSON-RPC.
    Process(Box<Process>),
    /// A POST request with the event.
    Http {
        /// The URL.
        url: String,
        /// Additional headers, with `$VAR` already replaced.
        headers: Vec<(String, String)>,
        /// The environment variables that headers may use.
        variables: Vec<String>,
    },
    /// A single question to a model.
    Prompt {
        /// The prompt. `$ARGUMENTS` is replaced by the event.
        prompt: String,
        /// The model's name. `None`: the host's default.
        model: Option<String>,
    },
    /// A model with read-only tools.
    Agent {
        /// The prompt. `$ARGUMENTS` is replaced by the event.
        prompt: String,
        /// The model's name. `None`: the host's default.
        model: Option<String>,
        /// The maximum number of turns.
        max_turns: u32,
    },
    /// A handler of a type that the embedder adds ([`RuntimeBuilder::handler`](crate::RuntimeBuilder::handler)).
    Own {
        /// The type.
        kind: String,
        /// The entry's own options, without those that every handler has.
        options: Map<String, Value>,
    },
    /// A handler of a type that hookbox does not run. It fails on every event.
    LeftOut {
        /// The type.
        kind: &'static str,
    },
    /// A callback from code. It is in no file.
    Callback,
    /// A hook that the program which loads the configuration disables. It fails on every event.
    Withheld {
        /// The reason.
        why: String,
        /// The advice.
        help: String,
    },
}

/// The event name of the permission callback.
pub(crate) const CAN_USE_TOOL: &str = "canUseTool";

/// The types of handlers that are part of hookbox.
pub const HANDLER_TYPES: [&str; 7] = ["wasm", "command", "http", "prompt", "agent", "mcp_tool", "process"];

impl Handler {
    /// The `type` of its entry in the file.
    pub fn kind(&self) -> &str {
        match self {
            Self::Wasm(_) => "wasm",
            Self::Command { .. } => "command",
            Self::Process(_) => "process",
            Self::Http { .. } => "http",
            Self::Prompt { .. } => "prompt",
            Self::Agent { .. } => "agent",
            Self::Own { kind, .. } => kind,
            Self::LeftOut { kind } => kind,
            Self::Callback => "callback",
            Self::Withheld { .. } => "withheld",
        }
    }
}

/// The effect of a hook's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It does.
    #[default]
    Enforce,
    /// It runs and is recorded, and decides nothing.
    Monitor,
}

/// A component and its permissions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Wasm {
    /// The component's path or name, as written.
    pub name: String,
    /// The absolute path of the component's file. For a reference, the path of the lock beside the configuration.
    pub component: PathBuf,
    /// The reference, if the component is in a registry.
    pub reference: Option<Reference>,
    /// True if a failure to load it blocks: for a reference without its own `onFailure`.
    pub must_load: bool,
    /// The owner of the component's state within the configuration: the hook's own name if the file sets one, otherwise
    /// the component's path as written. The file name is chosen by the component's author, and the digest changes with
    /// updates.
    pub owner: String,
    /// The capabilities, directories and environment variables that it may use.
    pub permissions: Permissions,
    /// Its `config` value.
    pub config: Value,
    /// The limits: the hook's own, or else the file's.
    pub limits: Limits,
    /// The configured limits: the JSON pointer of each by its key.
    pub limits_given: BTreeMap<String, String>,
    /// The SHA-256 that the component must have, in hexadecimal. `None`: any.
    pub digest: Option<String>,
}

impl Wasm {
    /// Returns true if the component is bundled: `hookbox:NAME`.
    pub fn is_bundled(&self) -> bool {
        self.bundled().is_some()
    }

    pub(crate) fn bundled(&self) -> Option<&'static Bundled> {
        hookbox_catalogue::name_in(&self.name).and_then(hookbox_catalogue::by_name)
    }
}

#[cfg(test)]
mod tests;
