//! Resolves one entry to a hook.

use hookbox_protocol::{FailurePolicy, dialect::TimeUnit, matcher::Matcher};

use super::{
    Resolver,
    handler::{self, Resolved},
    name,
};
use crate::config::{
    CAN_USE_TOOL, Handler, Hook,
    diagnostic::Finding,
    file::{Entry, Options, Runs},
};

/// The location of a handler, and the settings that it gets from there.
pub(super) struct Location {
    pub(super) pointer: String,
    pub(super) events: Vec<String>,
    pub(super) matcher: Matcher,
    pub(super) matcher_text: Option<String>,
    pub(super) timeout: Option<f64>,
    /// Picoclaw: the name.
    pub(super) name: Option<String>,
}

impl Location {
    /// A location without a matcher or a name.
    pub(super) fn new(pointer: String, events: Vec<String>) -> Self {
        Self { pointer, events, matcher: Matcher::Everything, matcher_text: None, timeout: None, name: None }
    }
}

impl Resolver {
    /// Adds the hook for the permission callback.
    pub(super) fn can_use_tool(&mut self, pointer: String, entry: Entry) {
        self.entry(Location::new(pointer, vec![CAN_USE_TOOL.to_owned()]), entry.options, entry.runs);
    }

    /// Adds the hook of an entry. Adds none if the entry cannot be read.
    pub(super) fn entry(&mut self, location: Location, options: Options, runs: Runs) {
        let own = self.seconds(options.timeout, options.timeout_ms, &location.pointer);
        let Some(Resolved { name, mut handler, authority, timeout: limit }) = self.handler(runs, &location.pointer)
        else {
            return;
        };
        let on_failure = options.on_failure.map(FailurePolicy::from);
        if let Handler::Wasm(wasm) = &mut handler {
            location.name.iter().for_each(|given| wasm.owner.clone_from(given));
            wasm.must_load &= on_failure.is_none();
        }
        let seconds = own.or(location.timeout).or(limit).or(self.defaults.timeout);
        let all = self.limits_given.contains_key("timeout").then_some(self.limits.timeout);
        let given = seconds.or(all);
        let (timeout, timeout_given) = match &mut handler {
            Handler::Process(process) => {
                process.settle(seconds.map(handler::seconds), self.defaults.stages, all.map(handler::seconds))
            }
            handler => {
                // A client's own command keeps the client's timeout.
                let commands = self.dialect.command_timeout().filter(|_| matches!(handler, Handler::Command { .. }));
                (handler::seconds(given.or(commands).unwrap_or(self.limits.timeout)), given.is_some())
            }
        };
        let name = match options.name.or(location.name) {
            Some(name) => name::bounded(name, &location.pointer, &mut self.found),
            None => hookbox_protocol::json::shorten(&name, name::LIMIT),
        };
        self.hooks.push(Hook {
            name,
            pointer: location.pointer,
            events: location.events,
            matcher: location.matcher,
            matcher_text: location.matcher_text,
            observe_only: false,
            sequential: false,
            timeout,
            timeout_given,
            output_kib: self.limits.output_kib,
            on_failure: on_failure.or(self.defaults.on_failure),
            on_timeout: options.on_timeout.map(FailurePolicy::from).or(on_failure).or(self.defaults.on_timeout),
            authority,
            mode: options.mode.unwrap_or(self.mode),
            handler,
        });
    }

    /// decisions.md#matchers: "The configuration of hookbox has seconds (fractions allowed), except under `gemini`,
    /// where `timeout` is milliseconds as in that client's settings; `timeoutMs` is accepted everywhere."
    pub(super) fn seconds(&mut self, timeout: Option<f64>, milliseconds: Option<f64>, pointer: &str) -> Option<f64> {
        let (unit, seconds) = match self.dialect.timeout_unit() {
            TimeUnit::Seconds => ("seconds", timeout),
            TimeUnit::Milliseconds => ("milliseconds", timeout.map(|ms| ms / 1000.0)),
        };
        if timeout.is_some() && milliseconds.is_some() {
            self.found.push(
                Finding::error(format!("{pointer}/timeoutMs"), "both `timeout` and `timeoutMs` are given")
                    .help(format!("`timeout` is in {unit}; keep one of the two")),
            );
        }
        self.unit_trap(timeout, pointer);
        seconds.or(milliseconds.map(|ms| ms / 1000.0))
    }
}
