//! The errors of bundles.

use thiserror::Error;

/// The reason why a bundle proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The bundle is malformed.
    #[error("its form is wrong: {0}")]
    Form(String),
    /// It signs another digest.
    #[error("it signs {0}, not this artifact")]
    Subject(String),
    /// None of the keys signed it.
    #[error("none of the publisher's keys made it")]
    Key,
    /// It is keyless, and its certificate, its entry in the log or its signature does not hold.
    #[error("its keyless signature does not hold: {0}")]
    Keyless(String),
    /// Another identity made it.
    #[error("it was made by `{0}`, whom the policy does not name")]
    Identity(String),
}
