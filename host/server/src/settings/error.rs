//! Errors in the settings.

use std::{io, path::PathBuf};

use thiserror::Error;

use super::address::Address;

/// The error in the daemon's settings.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is invalid. The message includes the line.
    #[error("{}: {message}", file.display())]
    Parse {
        /// The file.
        file: PathBuf,
        /// The error and its location.
        message: String,
    },
    /// The address is reachable from other machines without TLS, so tokens and events could be read in transit.
    #[error(
        "`{0}` is reachable from other machines: give `tls` a `certificate` and a `key`, or say `\"insecure\": true` \
         where something else encrypts"
    )]
    Open(Address),
    /// Records are required, but `records` is missing.
    #[error("`recordsRequired` needs `records`: `stdout`, `stderr` or a file")]
    NoRecords,
    /// Records are chained, but `records` is missing.
    #[error("`recordsChain` needs `records`: `stdout`, `stderr` or a file")]
    NoChainedRecords,
    /// Heads of records without the key that signs them, or the key without their file.
    #[error("`recordsChain` needs `key` and `heads`, or neither")]
    HalfChain,
}
