//! Every error of hookbox itself. An error of a hook is a [`hookbox_protocol::Failure`] instead.

use hookbox_protocol::{DecodeError, matcher::MatchError};
use hookbox_sandbox::{LoadError, capability::LlmError};
use thiserror::Error;

use crate::{artifact::NotLocked, config::Diagnostic, remedy::remedy};

/// A runtime, a hook set or a host could not be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The builder was given no configuration.
    #[error("no configuration: give the builder a config_file or a config")]
    NoConfig,
    /// The configuration has errors.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigErrors),
    /// The name of a handler type is that of one of hookbox's own types.
    #[error("handlers of type `{0}` are hookbox's own: choose another name")]
    HandlerType(String),
    /// A callback's matcher is not a valid regular expression.
    #[error("callback for {0}: {1}")]
    Matcher(String, MatchError),
    /// A hook of the configuration cannot be loaded.
    #[error(transparent)]
    Hook(#[from] HookError),
}

/// A hook of the configuration cannot be loaded: what, where, and what to do.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct HookError(pub Diagnostic);

/// An event could not be dispatched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DispatchError {
    /// The input is not an event of the dialect.
    #[error("event: {0}")]
    Decode(#[from] DecodeError),
}

/// The reason why a hook cannot be used. The message is the error, [`HookLoadError::help`] the advice.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HookLoadError {
    /// Its component cannot be loaded.
    #[error(transparent)]
    Component(#[from] LoadError),
    /// The component of its reference is not locked, not approved or not fetched.
    #[error(transparent)]
    NotLocked(#[from] NotLocked),
    /// A permission in the configuration cannot be granted.
    #[error("its permissions cannot be given: {0}")]
    Grant(String),
    /// State is granted, but neither the configuration nor the environment names a file for it.
    #[error("needs state, but this program has no state store")]
    NoState,
    /// The hook's memory limit exceeds the runtime's.
    #[error("may have {asked_mib} MiB of memory, and the runtime has room for {limit_mib} MiB")]
    Memory {
        /// The hook's `memoryMiB`.
        asked_mib: u32,
        /// The runtime's `max_memory_mib`.
        limit_mib: u32,
    },
    /// The runtime has no handlers of this type.
    #[error("is of type `{0}`, of which this runtime has no handlers")]
    UnknownType(String),
    /// The embedder's handler could not be created.
    #[error("{0}")]
    Own(String),
    /// The handler could not be started.
    #[error("could not be started: {0}")]
    Start(String),
    /// The hook needs an HTTP client, and this program has none.
    #[error("needs an HTTP client, but this program has none")]
    NoHttp,
    /// The hook needs a language model, and none is configured.
    #[error("needs a language model, and none is configured")]
    NoModel,
    /// The configured language model cannot be used.
    #[error("the language model {0}")]
    Model(#[from] LlmError),
    /// The configuration prevents the hook from running.
    #[error("is not run: {why}")]
    Withheld {
        /// The reason.
        why: String,
        /// The advice.
        help: String,
    },
    /// The hook is a callback of a hook set that was loaded elsewhere. Only code can add callbacks.
    #[error("is a callback, which only code can add")]
    Callback,
}

impl HookLoadError {
    /// The advice for the user, in one line.
    pub fn help(&self) -> String {
        match self {
            Self::Component(error) => remedy(error),
            Self::NotLocked(error) => error.help(),
            Self::Grant(_) => "correct `permissions` in the configuration".into(),
            Self::NoState => "set `stateFile` in `host`, or the environment variable HOME".into(),
            Self::Memory { limit_mib, .. } => {
                format!("lower `memoryMiB` to {limit_mib}, or build the runtime with a larger `max_memory_mib`")
            }
            Self::UnknownType(_) => "give the runtime this type with `RuntimeBuilder::handler`".into(),
            Self::Own(_) => "correct the entry".into(),
            Self::Start(_) => "see that it can be started".into(),
            Self::NoHttp => "build hookbox with its feature `http`, or give the runtime another client".into(),
            Self::NoModel => {
                r#"to configure one, add   "host": { "llm": { "provider": "anthropic", "model": "…" } }"#.into()
            }
            Self::Model(_) => "correct `llm` in `host`, or set the environment variable its key is in".into(),
            Self::Withheld { help, .. } => help.clone(),
            Self::Callback => "add it with `HookSetBuilder::callback`".into(),
        }
    }
}
