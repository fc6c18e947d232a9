//! The configuration file: what it may say, and what it means ([`Config`]).

mod authority_text;
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
mod own_files;
mod pointer;
mod process;
mod resolve;
mod schema;
mod validate;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    path::{Path, PathBuf},
    time::Duration,
};

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
pub use load::{Loaded, Reader, find};
pub use process::Process;
pub use resolve::events::{Misnamed, misnamed};
#[cfg(feature = "schema")]
pub use schema::generated;
pub use schema::{DEFAULT_DIALECT, schema};

/// A loaded configuration: every hook, in the order in which its dialect merges them.
#[derive(Clone)]
pub struct Config {
    /// The file it came from, for messages; relative paths are relative to its folder.
    pub file: PathBuf,
    /// The dialect, with its profile.
    pub dialect: &'static dyn Dialect,
    /// The dialect in which its hooks are written: another one where another client than the file's calls.
    pub written: &'static dyn Dialect,
    /// `failClosed`: any failure of ours on an event that can be blocked blocks it.
    pub fail_closed: bool,
    /// False when `disableAllHooks`, or blade's `enabled`, turns every hook off. `canUseTool` is none.
    pub enabled: bool,
    /// blade: `maxConcurrentHooks`.
    pub max_concurrent: Option<usize>,
    /// The hooks, in configuration order (under picoclaw: by priority, then name).
    pub hooks: Vec<Hook>,
    /// The references to components in registries, in the order of the lock.
    pub references: BTreeSet<Reference>,
    /// SHA-256 of the file's bytes, in hexadecimal, for records.
    pub digest: String,
    /// The `state`, `llm` and `tenant` settings of the host.
    pub settings: HostSettings,
}

impl Config {
    /// The folder relative paths are relative to.
    pub fn folder(&self) -> &Path {
        match self.file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }

    /// Whose hooks these are.
    pub fn tenant(&self) -> &str {
        self.settings.tenant.as_deref().unwrap_or("default")
    }

    /// Whose state a component's is, within the tenant: that of a component of this name or path in this file. Projects
    /// have no tenants of their own and may give their components one name; a tenant that is named stands for all its
    /// files.
    pub fn owner(&self, wasm: &Wasm) -> String {
        if self.settings.tenant.is_some() {
            return wasm.owner.clone();
        }
        let file = std::path::absolute(&self.file).unwrap_or_else(|_| self.file.clone());
        let folder = file.parent().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        // Not the file a link leads to: the components are those beside the link.
        let file = folder.zip(file.file_name()).map_or(file.clone(), |(folder, name)| folder.join(name));
        let text =
            file.to_str().map_or_else(|| file.as_os_str().as_encoded_bytes().escape_ascii().to_string(), str::to_owned);
        // No path holds a NUL, so the two parts are never taken for others.
        format!("{text}\0{}", wasm.owner)
    }

    /// An error about a place in the file that shows only when its hook is loaded.
    pub(crate) fn error_at(&self, pointer: &str, message: String, help: Option<String>) -> Diagnostic {
        let text = load::regular(&self.file).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
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
pub struct Hook {
    /// For diagnostics, records and metrics: the name it was given, or else the file name of the component or command,
    /// or the host of the URL. Never a whole command line or URL, which may hold what is secret.
    pub name: String,
    /// JSON pointer of the handler in the file.
    pub pointer: String,
    /// Wire names of the events it is for; `canUseTool` for the permission callback. Empty (a picoclaw hook without
    /// `intercept` and `observe`): all that a component exports.
    pub events: Vec<String>,
    /// Which of them.
    pub matcher: Matcher,
    /// The matcher as written, for `explain`.
    pub matcher_text: Option<String>,
    /// Under picoclaw: told of the event, never asked.
    pub observe_only: bool,
    /// Under gemini: makes all hooks of its event run one by one, each seeing what those before it rewrote.
    pub sequential: bool,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether the file says so, at whatever place.
    pub timeout_given: bool,
    /// KiB of output of a command or a server at most. A component has limits of its own ([`Wasm::limits`]).
    pub output_kib: u32,
    /// What a failure counts as; `None`: the dialect's default (or a block under `failClosed`).
    pub on_failure: Option<FailurePolicy>,
    /// What running past the timeout counts as; `None`: nothing says.
    pub on_timeout: Option<FailurePolicy>,
    /// What it may decide, where that is written; see [`Hook::bounds`].
    pub authority: Option<Authority>,
    /// Whether it decides, or is only watched.
    pub mode: Mode,
    /// What runs.
    pub handler: Handler,
}

impl Hook {
    /// How long it may take on an event: as the file says, or else longer where there is more to read.
    pub fn time_for(&self, event: &Event) -> Duration {
        match &self.handler {
            Handler::Wasm(_) if !self.timeout_given => self.timeout.saturating_add(limits::more_time(event.raw.size())),
            _ => self.timeout_on(event.kind()),
        }
    }

    /// What it may decide: what is written, or else a component what a gate may, and everything else all there is. A
    /// client's own handlers say what that client lets them say. `None`: not even words are held back, as from a command
    /// or a process, which can do anything anyway.
    pub fn bounds(&self) -> Option<Authority> {
        match (&self.authority, &self.handler) {
            (Some(authority), _) => Some(authority.clone()),
            (None, Handler::Command { .. } | Handler::Process(_)) => None,
            (None, Handler::Wasm(_)) => Some(Authority::gate()),
            (None, _) => Some(Authority::trusted()),
        }
    }

    /// Whether it is subscribed to the events of this row.
    pub(crate) fn may_be_asked(&self, spec: &EventSpec, dialect: &dyn Dialect) -> bool {
        // Some events have two names, and several have no interface of their own.
        let named = |name: &String| dialect.spec_by_name(name).is_some_and(|named| named.name == spec.name);
        self.events.is_empty() || self.events.iter().any(named)
    }

    /// How long it may take over an event of this kind.
    pub fn timeout_on(&self, kind: EventKind) -> Duration {
        match &self.handler {
            Handler::Process(process) => process.timeout_on(kind).map_or(self.timeout, |time| time.min(self.timeout)),
            _ => self.timeout,
        }
    }
}

/// What runs when a hook is called.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a configuration has a few of them, and most are components")]
pub enum Handler {
    /// A component.
    Wasm(Wasm),
    /// A command that speaks the dialect's JSON: through `sh -c`, or directly when `args` are given.
    Command {
        /// The command line, or the executable when there are `args`.
        command: String,
        /// Arguments, without a shell.
        args: Option<Vec<String>>,
        /// Working directory: that of the configuration file.
        dir: PathBuf,
    },
    /// A process that speaks `PicoClaw`'s JSON-RPC.
    Process(Box<Process>),
    /// A POST of the event.
    Http {
        /// Where to.
        url: String,
        /// With these headers; values already have `$VAR` replaced.
        headers: Vec<(String, String)>,
        /// The variables that may be replaced.
        variables: Vec<String>,
    },
    /// A single-turn question to a model.
    Prompt {
        /// With `$ARGUMENTS` for the event.
        prompt: String,
        /// The model; the host's default when absent.
        model: Option<String>,
    },
    /// A model with read-only tools.
    Agent {
        /// With `$ARGUMENTS` for the event.
        prompt: String,
        /// The model; the host's default when absent.
        model: Option<String>,
        /// Turns at most.
        max_turns: u32,
    },
    /// Of a type that the embedder brings ([`RuntimeBuilder::handler`](crate::RuntimeBuilder::handler)).
    Own {
        /// The type.
        kind: String,
        /// All that the entry says beside what every handler can say.
        options: Map<String, Value>,
    },
    /// Of a type that hookbox does not run: it fails on every event.
    LeftOut {
        /// The type.
        kind: &'static str,
    },
    /// Given in code; it stands in no file.
    Callback,
    /// Nothing: whoever loads the configuration does not let this hook run. It fails on every event.
    Withheld {
        /// Why not.
        why: String,
        /// What to do about it.
        help: String,
    },
}

/// The event name under which what answers the permission callback is listed.
pub(crate) const CAN_USE_TOOL: &str = "canUseTool";

/// The types of handlers that hookbox brings.
pub const HANDLER_TYPES: [&str; 7] = ["wasm", "command", "http", "prompt", "agent", "mcp_tool", "process"];

impl Handler {
    /// Its `type` in the file.
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

/// Whether a hook decides.
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

/// A component and what it is granted.
#[derive(Debug, Clone)]
pub struct Wasm {
    /// The component as it is written.
    pub name: String,
    /// Where it is when that is a file: an absolute path. The lock beside the configuration when it is a reference.
    pub component: PathBuf,
    /// The component in a registry that it is.
    pub reference: Option<Reference>,
    /// True if that it cannot be loaded blocks: a reference without an `onFailure` of its own.
    pub must_load: bool,
    /// Whose state it sees within the configuration: the hook's own name where the file gives it one, else the
    /// component's path as written. Not its file name, which its author chooses, nor its digest, which an update changes.
    pub owner: String,
    /// What it may call.
    pub permissions: Permissions,
    /// Its `config` object.
    pub config: Value,
    /// The host's limits with the hook's own over them.
    pub limits: Limits,
    /// Those that the file gives: for each key the JSON pointer where.
    pub limits_given: BTreeMap<String, String>,
    /// SHA-256 of the component that is meant, in hexadecimal; `None`: whatever is there.
    pub digest: Option<String>,
}

#[cfg(test)]
mod tests;
