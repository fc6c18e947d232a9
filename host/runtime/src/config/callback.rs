//! The options of a callback, as embedders in other languages pass them: in the words of a configuration file.

use std::time::Duration;

use hookbox_protocol::{FailurePolicy, authority::Authority};
use serde::Deserialize;

use super::{
    Mode,
    file::{AuthorityEntry, OnFailure},
    resolve::authority::no_variable,
};

/// The options of a [`Callback`](crate::Callback) without its closure. See
/// [`Callback::described`](crate::Callback::described). The keys are those of a handler in a configuration file, and
/// the `event` and `matcher` of its group.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct CallbackEntry {
    pub(crate) event: String,
    pub(crate) matcher: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_failure: Option<FailurePolicy>,
    pub(crate) on_timeout: Option<FailurePolicy>,
    pub(crate) authority: Option<Authority>,
    pub(crate) mode: Mode,
}

impl CallbackEntry {
    /// The wire name of its event. `canUseTool` for the permission callback.
    pub fn event(&self) -> &str {
        &self.event
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    event: String,
    matcher: Option<String>,
    name: Option<String>,
    /// The timeout in seconds.
    timeout: Option<f64>,
    on_failure: Option<OnFailure>,
    on_timeout: Option<OnFailure>,
    authority: Option<AuthorityEntry>,
    #[serde(default)]
    mode: Mode,
}

impl TryFrom<Written> for CallbackEntry {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { event, matcher, name, timeout, on_failure, on_timeout, authority, mode } = written;
        if let Some((_, name)) = authority.iter().flat_map(AuthorityEntry::invalid_variables).next() {
            return Err(no_variable(name));
        }
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
        let timeout = match timeout {
            Some(given) => Some(seconds(given).ok_or("invalid `timeout`: expected a number of seconds above 0")?),
            None => None,
        };
        let (on_failure, on_timeout) = (on_failure.map(Into::into), on_timeout.map(Into::into));
        Ok(Self { event, matcher, name, timeout, on_failure, on_timeout, authority: authority.map(Into::into), mode })
    }
}
