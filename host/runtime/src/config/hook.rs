//! One hook of a configuration.

use std::time::Duration;

use hookbox_protocol::{
    Dialect, Event, EventKind, FailurePolicy, authority::Authority, dialect::EventSpec, matcher::Matcher,
};
use hookbox_sandbox::limits;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::handler::Handler;
#[cfg(doc)]
use super::handler::Wasm;

/// One hook of a configuration.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hook {
    /// The name for diagnostics, records and metrics. Default: the file name of the component or command, or the host
    /// of the URL. Never a whole command line or URL, which may contain secrets.
    pub name: String,
    /// The JSON pointer of the handler in the file.
    pub pointer: String,
    /// The wire names of its events; `canUseTool` for the permission callback. Empty (a picoclaw hook without
    /// `intercept` and `observe`): all events that the component exports.
    pub events: Vec<String>,
    /// The matcher, which selects among events of these names.
    pub matcher: Matcher,
    /// The matcher as written, for `explain`.
    pub matcher_text: Option<String>,
    /// Picoclaw: true if the hook is only notified of events and decides nothing.
    pub observe_only: bool,
    /// Gemini: true if all hooks of the event run one after another. Each gets the event as the earlier ones rewrote
    /// it.
    pub sequential: bool,
    /// The timeout.
    pub timeout: Duration,
    /// True if the file sets the timeout, for this hook or for all.
    pub timeout_given: bool,
    /// The limit of a command's or server's output, in KiB. Components have [`Wasm::limits`].
    pub output_kib: u32,
    /// The failure policy. `None`: the dialect's default, or a block with `failClosed`.
    pub on_failure: Option<FailurePolicy>,
    /// The failure policy for timeouts. `None`: the default.
    pub on_timeout: Option<FailurePolicy>,
    /// The configured authority. [`Hook::bounds`] applies the defaults.
    pub authority: Option<Authority>,
    /// The mode: enforced or monitored.
    pub mode: Mode,
    /// The handler.
    pub handler: Handler,
}

impl Hook {
    /// The timeout for this event. Without a configured timeout, a component gets more time for a larger event.
    pub fn time_for(&self, event: &Event) -> Duration {
        match &self.handler {
            Handler::Wasm(_) if !self.timeout_given => self.timeout.saturating_add(limits::more_time(event.raw.size())),
            _ => self.timeout_on(event.kind()),
        }
    }

    /// The effective authority: the configured one, or a default. Components default to [`Authority::gate`], other
    /// handlers to [`Authority::trusted`]. `None` (commands and processes): unrestricted, because they are not
    /// sandboxed.
    pub fn bounds(&self) -> Option<Authority> {
        match (&self.authority, &self.handler) {
            (Some(authority), _) => Some(authority.clone()),
            (None, Handler::Command { .. } | Handler::Process(_)) => None,
            (None, Handler::Wasm(_)) => Some(Authority::gate()),
            (None, _) => Some(Authority::trusted()),
        }
    }

    /// Returns true if the hook is subscribed to this event of the dialect.
    pub(crate) fn may_be_asked(&self, spec: &EventSpec, dialect: &dyn Dialect) -> bool {
        // Compared by the name of the spec: some events have two names, and several share the kind `OtherEvent`.
        let named = |name: &String| dialect.spec_by_name(name).is_some_and(|named| named.name == spec.name);
        self.events.is_empty() || self.events.iter().any(named)
    }

    /// The timeout for events of this kind.
    pub fn timeout_on(&self, kind: EventKind) -> Duration {
        match &self.handler {
            Handler::Process(process) => process.timeout_on(kind).map_or(self.timeout, |time| time.min(self.timeout)),
            _ => self.timeout,
        }
    }
}

/// The effect of a hook's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It does.
    #[default]
    Enforce,
    /// It runs and is recorded, and decides nothing.
    Monitor,
}
