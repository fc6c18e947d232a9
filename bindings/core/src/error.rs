//! Errors as both packages show them: a stable code, a message for people, and details for programs.

use hookbox::{BuildError, config::ConfigErrors};
use serde_json::{Value, json};
use thiserror::Error;

use crate::finding::Finding;

/// An error of this surface. Failures of hooks are never errors: they are settled in a [`Response`](crate::Response).
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{message}")]
pub struct Error {
    /// The kind, which stays the same from version to version.
    pub code: Code,
    /// The message: what happened, where, and what to do.
    pub message: String,
    /// All faults of the configuration; empty for other errors.
    pub findings: Vec<Finding>,
}

/// The kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// An option is invalid.
    Options,
    /// The configuration has errors. The details list all of them.
    Config,
    /// A hook of the configuration cannot be loaded. The details name it.
    Hook,
    /// The event cannot be read. Only `explain` returns this: `decide` settles it.
    Event,
    /// The runtime or the hook set was closed.
    Closed,
    /// The process is a fork of the one that opened the runtime and has none of its threads.
    Forked,
    /// The compiler that the package carries is missing.
    Compiler,
    /// The call cannot be made from here.
    Unsupported,
    /// The operating system refused a thread, a file or memory.
    System,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Options,
        Self::Config,
        Self::Hook,
        Self::Event,
        Self::Closed,
        Self::Forked,
        Self::Compiler,
        Self::Unsupported,
        Self::System,
    ];

    /// The code as programs compare it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Options => "options",
            Self::Config => "config",
            Self::Hook => "hook",
            Self::Event => "event",
            Self::Closed => "closed",
            Self::Forked => "forked",
            Self::Compiler => "compiler",
            Self::Unsupported => "unsupported",
            Self::System => "system",
        }
    }
}

impl Error {
    /// An error without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), findings: Vec::new() }
    }

    pub(crate) fn closed(what: &str) -> Self {
        Self::new(Code::Closed, format!("the {what} is closed"))
    }

    /// The details as JSON: `{ "diagnostics": [...] }` for configurations, otherwise `{}`.
    pub fn details(&self) -> Value {
        if self.findings.is_empty() { json!({}) } else { json!({ "diagnostics": self.findings }) }
    }
}

impl From<ConfigErrors> for Error {
    fn from(errors: ConfigErrors) -> Self {
        let findings = errors.diagnostics.iter().map(Finding::from).collect();
        Self { code: Code::Config, message: errors.to_string(), findings }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Config(errors) => errors.into(),
            BuildError::Hook(error) => {
                Self { code: Code::Hook, message: error.to_string(), findings: vec![Finding::from(&error.0)] }
            }
            other => Self::new(Code::Options, other.to_string()),
        }
    }
}
