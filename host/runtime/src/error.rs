//! Every way hookbox itself can fail. What a hook does wrong is a [`hookbox_protocol::Failure`] instead.

mod load;

use hookbox_protocol::{DecodeError, matcher::MatchError};
use thiserror::Error;

pub use load::LoadError;

use crate::config::Diagnostic;

/// A host could not be built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The builder was given no configuration.
    #[error("no configuration: give the builder a config_file, a config_text or a config")]
    NoConfig,
    /// The configuration has errors.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigErrors),
    /// A callback's matcher is no regular expression.
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

/// An event could not be judged.
#[derive(Debug, Error)]
pub enum DispatchError {
    /// The input is no event of the dialect.
    #[error("event: {0}")]
    Decode(#[from] DecodeError),
}
