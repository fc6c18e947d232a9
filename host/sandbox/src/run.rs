//! What a call of a hook works with, and how it went.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox_protocol::{Failure, HookOutput, Note};

use crate::{capability::Capabilities, limits::Limits};

/// What one call of a hook works with, beside the event.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// Whose state it sees.
    pub tenant: Arc<str>,
    /// The hook, as its state knows it.
    pub hook: Arc<str>,
    /// The session of the event, when the client sent one.
    pub session: Option<String>,
    /// The hook's `config` object as JSON text.
    pub config_json: Arc<str>,
    /// What it may use up. `timeout` is not read: `deadline` is what holds.
    pub limits: Limits,
    /// When it ends, whatever it is doing; waiting for its turn included.
    pub deadline: Instant,
    /// What it was granted, ready to use.
    pub capabilities: Arc<Capabilities>,
}

/// How one run of one hook went.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// What it said, or why it said nothing.
    pub result: Result<Box<HookOutput>, Failure>,
    /// What was accepted although it should not be, and what had no effect.
    pub notes: Vec<Note>,
    /// Fuel used by a component, the same for the same component and event every time.
    pub fuel: Option<u64>,
    /// Linear memory a component had at most, in bytes.
    pub memory: Option<u64>,
    /// What it wrote for people, up to its end.
    pub logs: Vec<LogLine>,
    /// Wall-clock time, waiting for its turn included.
    pub time: Duration,
}

impl Run {
    /// A run of which nothing else is known yet.
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

/// One message of a component to whoever runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How much it matters.
    pub level: LogLevel,
    /// As written; may hold anything, also line breaks and escape codes.
    pub message: String,
}

/// How much a [`LogLine`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For the hook's author.
    Debug,
    /// For the record.
    Info,
    /// Something is off.
    Warn,
    /// Something failed.
    Error,
}

impl LogLevel {
    /// One word for diagnostics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}
