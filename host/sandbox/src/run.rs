//! The input and the result of one call of a hook.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox_protocol::{Failure, HookOutput, Note};

use crate::{capability::Capabilities, limits::Limits};

/// The message of a call that fails with [`hookbox_protocol::Cause::Busy`] because no instance became free.
pub const ALL_IN_USE: &str = "all instances were in use until the timeout";

/// The input of one call of a hook, besides the event.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The tenant whose state the hook sees.
    pub tenant: Arc<str>,
    /// The name under which the hook's state is stored.
    pub hook: Arc<str>,
    /// The session of the event, if the client sent one.
    pub session: Option<String>,
    /// The hook's `config` object as JSON text.
    pub config_json: Arc<str>,
    /// Limits of the call. `timeout` is ignored in favour of `deadline`.
    pub limits: Limits,
    /// The deadline of the call. Time spent waiting for a permit counts.
    pub deadline: Instant,
    /// The capabilities granted to the hook.
    pub capabilities: Arc<Capabilities>,
}

/// The result of one run of one hook.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// The hook's output, or the failure.
    pub result: Result<Box<HookOutput>, Failure>,
    /// Problems with the output: values that were accepted although they are invalid, and values without effect.
    pub notes: Vec<Note>,
    /// Fuel that the component used. The same component and event always use the same amount.
    pub fuel: Option<u64>,
    /// Peak size of the component's linear memory, in bytes.
    pub memory: Option<u64>,
    /// Lines that the hook logged before it ended.
    pub logs: Vec<LogLine>,
    /// Wall-clock time, including the wait for a permit.
    pub time: Duration,
}

impl Run {
    /// Creates a run with a result and nothing else.
    pub fn new(result: Result<HookOutput, Failure>) -> Self {
        let result = result.map(Box::new);
        Self { result, notes: Vec::new(), fuel: None, memory: None, logs: Vec::new(), time: Duration::ZERO }
    }
}

impl From<Result<(HookOutput, Vec<Note>), Failure>> for Run {
    fn from(result: Result<(HookOutput, Vec<Note>), Failure>) -> Self {
        match result {
            Ok((output, notes)) => Self { notes, ..Self::new(Ok(output)) },
            Err(failure) => Self::new(Err(failure)),
        }
    }
}

/// One log message of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Severity of the message.
    pub level: LogLevel,
    /// The message as the component wrote it. It may contain anything, including line breaks and escape codes.
    pub message: String,
}

/// Severity of a [`LogLine`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Details for the hook's author.
    Debug,
    /// Normal operation.
    Info,
    /// A possible problem.
    Warn,
    /// A failure.
    Error,
}

impl LogLevel {
    /// Returns the level as a word for diagnostics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}
