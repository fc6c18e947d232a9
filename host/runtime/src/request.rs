//! A client's event, as a front end passes it to [`HookSet::decide`](crate::HookSet::decide).

use std::time::{Duration, Instant};

use hookbox_protocol::{Cause, Dialect, Event, Failure, Glimpse, json::DecodeError};

use crate::hooks::Hooks;

/// The largest event that hooks get: 64 MiB. A larger one counts as a failure of every hook.
pub const EVENT_LIMIT: usize = 64 << 20;

/// The minimum time between the response and the end of the client's timeout.
const MARGIN: Duration = Duration::from_millis(200);

/// The part of a client's timeout that its hooks may use. The rest is reserved for sending the response: one tenth, at
/// least 200 ms, but at most half of the timeout.
pub fn time_for_hooks(timeout: Duration) -> Duration {
    timeout.saturating_sub(MARGIN.max(timeout / 10).min(timeout / 2))
}

/// One event, its client's timeout, and the ways in which the front end can respond.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Request<'a> {
    pub(crate) event: &'a [u8],
    pub(crate) name: Option<&'a str>,
    unread: Option<(Cause, &'a str)>,
    received_at: Instant,
    timeout: Option<Duration>,
    pub(crate) body_only: bool,
}

impl<'a> Request<'a> {
    /// Creates a request from an event as the client wrote it. The client's timeout starts now.
    pub fn new(event: &'a [u8]) -> Self {
        Self { event, name: None, unread: None, received_at: Instant::now(), timeout: None, body_only: false }
    }

    /// Sets the event's name, for clients whose JSON does not carry it.
    pub fn event_name(self, name: Option<&'a str>) -> Self {
        Self { name, ..self }
    }

    /// Sets the start of the client's timeout. Default: the creation of the request.
    pub fn received_at(self, at: Instant) -> Self {
        Self { received_at: at, ..self }
    }

    /// Sets the client's timeout. Default: `deadline` of the configuration. Without it, the longest of the client's
    /// default and the timeouts that the configuration sets for hooks of the event.
    pub fn timeout(self, timeout: Option<Duration>) -> Self {
        Self { timeout, ..self }
    }

    /// Marks the event as incomplete. `why` is the reason. Every hook of the event fails with it.
    pub fn incomplete(self, why: Option<&'a str>) -> Self {
        Self { unread: why.map(|why| (Cause::Event, why)), ..self }
    }

    /// Marks the event as incomplete because it exceeds a limit. `why` names the limit.
    pub fn too_large(self, why: &'a str) -> Self {
        Self { unread: Some((Cause::EventTooLarge, why)), ..self }
    }

    /// Marks a client that sees neither stderr nor an exit code, as over HTTP. A block is then always in
    /// [`Response::stdout`](crate::Response::stdout). If the event cannot be blocked there, the response is an error.
    pub fn body_only(self) -> Self {
        Self { body_only: true, ..self }
    }

    /// The deadline of the hooks.
    pub(crate) fn due(&self, hooks: &Hooks, event: &Event) -> Option<Instant> {
        let spec = hooks.dialect().spec_of(event);
        let configured = || Duration::try_from_secs_f64(hooks.config.settings.deadline?).ok();
        let timeout = self.timeout.or_else(configured).unwrap_or_else(|| {
            let subscribed = hooks.enabled().map(|entry| &entry.hook);
            let written = subscribed.filter(|hook| hook.timeout_given && hook.may_be_asked(spec, hooks.dialect()));
            written
                .map(|hook| hook.time_for(event))
                .max()
                .max(Some(hooks.dialect().client_timeout(spec)))
                .unwrap_or_default()
        });
        self.received_at.checked_add(time_for_hooks(timeout))
    }

    /// Decodes the event.
    ///
    /// # Errors
    /// The reason why no hook can get the event.
    pub(crate) fn decode(&self, dialect: &dyn Dialect) -> Result<Event, Failure> {
        if let Some((cause, why)) = self.unread {
            return Err(Failure::new(cause, why));
        }
        if self.event.len() > EVENT_LIMIT {
            let message = format!("the event is larger than {} MiB", EVENT_LIMIT >> 20);
            return Err(Failure::new(Cause::EventTooLarge, message));
        }
        dialect.decode_event(self.event, self.name).map_err(|error| {
            let cause = if matches!(error, DecodeError::Limit(_)) { Cause::EventTooLarge } else { Cause::Event };
            Failure::new(cause, error.to_string())
        })
    }

    /// The event that a request with two contradicting names could be: the first of its own name and the given one that
    /// can be blocked.
    pub(crate) fn possible_event(&self, dialect: &dyn Dialect) -> Option<Event> {
        let own = dialect.glimpse(self.event, None);
        let given = self.name.map(|name| Glimpse { name: name.to_owned(), tool: None });
        let events = own.into_iter().chain(given).map(|seen| Event::glimpsed(dialect, seen));
        events.into_iter().find(|event| dialect.spec_of(event).blockable)
    }

    /// The event with those fields that can be read even if its JSON is invalid.
    pub(crate) fn glimpse(&self, dialect: &dyn Dialect) -> Option<Event> {
        dialect.glimpse(self.event, self.name).map(|seen| Event::glimpsed(dialect, seen))
    }
}
