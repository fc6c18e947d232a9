//! The errors of a response, and their exit codes.

use serde::{Deserialize, Serialize};

/// An error of hookbox itself or of the request. Errors of hooks are in the [`Verdict`](crate::verdict::Verdict).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResponseError {
    /// The part that failed.
    pub kind: ErrorKind,
    /// The error message.
    pub message: String,
}

impl ResponseError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// The part that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The event is invalid. Exit code 65.
    Event,
    /// The configuration, or one of its hooks, is invalid or cannot be loaded. Exit code 78.
    Config,
    /// hookbox itself failed: a file, a process, an internal error. Exit code 70.
    Internal,
}

impl ErrorKind {
    /// The exit code of an error that does not block. A dialect's own code overrides it.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Event => 65,
            Self::Config => 78,
            Self::Internal => 70,
        }
    }
}
