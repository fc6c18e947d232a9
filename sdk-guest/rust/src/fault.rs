//! The failure of a hook that could not decide.

use std::fmt;

use crate::bindings::shared::hookbox::hooks::types as wit;

/// `Result` with a [`Fault`].
pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// A hook that could not decide. The host treats a fault as a failure of the hook, never as an output. With
/// `failClosed` the tool does not run; otherwise it runs.
///
/// `?` converts strings, JSON errors and capability errors into a fault. [`Fault::failed`] takes any value that
/// implements `ToString`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The event does not have the form that the hook expects.
    BadInput(String),
    /// Any other failure.
    Failed(String),
}

impl Fault {
    /// Creates a [`Fault::BadInput`].
    #[allow(clippy::needless_pass_by_value)] // so that it can be named in `map_err`
    pub fn bad_input(why: impl ToString) -> Self {
        Self::BadInput(why.to_string())
    }

    /// Creates a [`Fault::Failed`]. Example: `.map_err(Fault::failed)?`.
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

/// Converts to [`Fault::BadInput`], because the JSON that a hook parses comes from the event.
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
