//! The handler of a hook.

use std::{collections::BTreeMap, path::PathBuf};

use hookbox_catalogue::Bundled;
use hookbox_sandbox::{Limits, Permissions};
use serde_json::{Map, Value};

use super::Process;
use crate::artifact::Reference;

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
