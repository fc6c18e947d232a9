//! A hook that could not decide.

use std::fmt;

use crate::bindings::shared::hookbox::hooks::types as wit;

/// `Result` with a [`Fault`].
pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// A hook that could not decide. The host treats it as that hook's failure, never as an answer: under a configuration
/// that fails open the tool runs, under one that fails closed it does not.
///
/// `?` turns strings, JSON errors and capability errors into it; [`Fault::failed`] takes anything that prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The event is not of the form this hook reads.
    BadInput(String),
    /// Anything else.
    Failed(String),
}

impl Fault {
    /// The event is not of the form this hook reads.
    #[allow(clippy::needless_pass_by_value)] // so that it can be named in `map_err`
    pub fn bad_input(why: impl ToString) -> Self {
        Self::BadInput(why.to_string())
    }

    /// Anything else: `.map_err(Fault::failed)?`.
    #[allow(clippy::needless_pass_by_value)] // so that it can be named in `map_err`
    pub fn failed(why: impl ToString) -> Self {
        Self::Failed(why.to_string())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadInput(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Fault {}

impl From<&str> for Fault {
    fn from(why: &str) -> Self {
        Self::Failed(why.to_owned())
    }
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// [`Fault::BadInput`]: what a hook parses is the event.
impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::bad_input(error)
    }
}

impl From<Fault> for wit::Fault {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::BadInput(why) => Self::BadInput(why),
            Fault::Failed(why) => Self::Failed(why),
        }
    }
}
