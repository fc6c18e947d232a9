//! What the client is told, whatever came in the way: the one place that decides what a failure of ours becomes, for every
//! front end. How it is said in a dialect, [`Dialect::fail_closed`] and [`Dialect::fail_open`] know.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use hookbox_protocol::{Cause, Dialect, Event, Failure, FailurePolicy, OwnFailure, json::DecodeError};

use crate::{
    config::Mode,
    hook_set::HookSet,
    hooks::Hooks,
    pipeline::dispatch_event,
    record::Record,
    run::{Terms, policy},
    verdict::Verdict,
};

/// Bytes of an event at most. A larger one cannot be read: what it would do to a hook is not worth finding out.
pub const EVENT_LIMIT: usize = 64 << 20;

/// One event that is to be judged.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Asked<'a> {
    wire: &'a [u8],
    name: Option<&'a str>,
    unread: Option<(Cause, &'a str)>,
    since: Instant,
    within: Option<Duration>,
}

/// How long before the client's time ends the verdict is given: a tenth of it, at least so much.
const MARGIN: Duration = Duration::from_millis(200);

/// How much of the time that a client waits its hooks have; the rest is for the answer's way back. Of a short time that is
/// half.
pub fn time_for_hooks(client: Duration) -> Duration {
    client.saturating_sub(MARGIN.max(client / 10).min(client / 2))
}

impl<'a> Asked<'a> {
    /// An event as the client wrote it, which begins to wait now.
    pub fn new(wire: &'a [u8]) -> Self {
        Self { wire, name: None, unread: None, since: Instant::now(), within: None }
    }

    /// When the client began to wait.
    pub fn since(self, since: Instant) -> Self {
        Self { since, ..self }
    }

    /// How long it waits. Unless given, the configuration says it with `deadline`; and otherwise it is the client's own
    /// default, or the largest timeout of the event's hooks where that is more: who wrote it gave the client as much.
    pub fn within(self, time: Option<Duration>) -> Self {
        Self { within: time, ..self }
    }

    /// The event's name, for wires that do not carry it.
    pub fn named(self, name: Option<&'a str>) -> Self {
        Self { name, ..self }
    }

    /// The wire ends before the event does; `why` says what kept the rest from being read.
    pub fn unread(self, why: Option<&'a str>) -> Self {
        Self { unread: why.map(|why| (Cause::Event, why)), ..self }
    }

    /// The wire ends before the event does, because the event is beyond a limit that `why` names.
    pub fn too_large(self, why: &'a str) -> Self {
        Self { unread: Some((Cause::EventTooLarge, why)), ..self }
    }

    /// When the verdict is due.
    fn due(&self, hooks: &Hooks, event: &Event) -> Option<Instant> {
        let spec = hooks.dialect().spec_of(event);
        let configured = || Duration::try_from_secs_f64(hooks.config.settings.deadline?).ok();
        let theirs = self.within.or_else(configured).unwrap_or_else(|| {
            let subscribed = hooks.enabled().map(|entry| &entry.hook);
            let written = subscribed.filter(|hook| hook.timeout_given && hook.may_be_asked(spec, hooks.dialect()));
            written
                .map(|hook| hook.time_for(event))
                .max()
                .max(Some(hooks.dialect().client_timeout(spec)))
                .unwrap_or_default()
        });
        self.since.checked_add(time_for_hooks(theirs))
    }

    /// The event, or why it cannot be read.
    fn read(&self, dialect: &dyn Dialect) -> Result<Event, Failure> {
        if let Some((cause, why)) = self.unread {
            return Err(Failure::new(cause, why));
        }
        if self.wire.len() > EVENT_LIMIT {
            let message = format!("the event is larger than {} MiB", EVENT_LIMIT >> 20);
            return Err(Failure::new(Cause::EventTooLarge, message));
        }
        dialect.decode_event(self.wire, self.name).map_err(|error| {
            let cause = if matches!(error, DecodeError::Limit(_)) { Cause::EventTooLarge } else { Cause::Event };
            Failure::new(cause, error.to_string())
        })
    }
}

/// What became of one event. Never an error: what goes wrong is settled here.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Judged {
    /// What the hooks came to, as far as they were asked; `None` where there were none to ask.
    pub verdict: Option<Verdict>,
    /// The failure of ours that the client is told of; `None`: it is told the verdict.
    pub failed: Option<OurFailure>,
    /// Until when the client waits, with a margin; `None`: nobody knows.
    pub due: Option<Instant>,
    /// Whether failures block.
    closed: bool,
}

/// A failure of ours, and what it comes to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OurFailure {
    /// What failed.
    pub fault: Fault,
    /// What is wrong, for people. Where it blocks, what the client shows or gives to the model.
    pub message: String,
    /// Whether the client is told to block.
    pub blocks: bool,
    /// By what it is told.
    pub told: OwnFailure,
}

/// What failed, where hookbox did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The event cannot be read.
    Event,
    /// The configuration, or a hook of it, cannot be used.
    Config,
    /// We could not do our work: a file, a process, a bug.
    Internal,
}

impl Judged {
    /// What becomes of an event when there is no hook set to ask. `dialect` is that of whoever calls, as far as it is known;
    /// `closed` says whether failures block.
    pub fn without_hooks(
        asked: &Asked<'_>,
        dialect: Option<&'static dyn Dialect>,
        closed: bool,
        fault: Fault,
        message: &str,
    ) -> Self {
        // One that cannot even be told may be one that can be blocked.
        let blockable = || {
            let spec = dialect.and_then(|dialect| dialect.glimpse_spec(asked.wire, asked.name));
            spec.is_none_or(|spec| spec.blockable)
        };
        let failed = if closed && blockable() {
            OurFailure::blocking(asked, dialect, fault, format!("hookbox failed, and is to fail closed: {message}"))
        } else {
            OurFailure::open(dialect, fault, message.to_owned())
        };
        Self { verdict: None, failed: Some(failed), due: None, closed }
    }

    /// Asks the hooks. A bug of ours, or of a dialect of the embedder's, is a failure that any hook could be about.
    pub(crate) async fn judge(hooks: &Hooks, asked: &Asked<'_>) -> Self {
        let judged = AssertUnwindSafe(Self::judge_event(hooks, asked)).catch_unwind().await;
        judged.unwrap_or_else(|_| {
            let failure = Failure::new(Cause::Event, "a bug of ours, which is told of above");
            Self::nameless(hooks, asked, Fault::Internal, &failure)
        })
    }

    async fn judge_event(hooks: &Hooks, asked: &Asked<'_>) -> Self {
        let dialect = hooks.dialect();
        let (mut event, unread) = match asked.read(dialect) {
            Ok(event) => (event, None),
            Err(failure) => match dialect.glimpse(asked.wire, asked.name) {
                Some(seen) => (Event::glimpsed(dialect, seen), Some(failure)),
                None => return Self::nameless(hooks, asked, Fault::Event, &failure),
            },
        };
        let terms = Terms { unread: unread.as_ref(), due: asked.due(hooks, &event) };
        let verdict = dispatch_event(hooks, &mut event, terms).await;
        Self { due: terms.due, ..Self::settle(hooks, asked, verdict, terms.unread) }
    }

    /// What becomes of an event that the hooks have judged; `unread`: that they could not be asked about, so that all of
    /// them count as failed.
    fn settle(hooks: &Hooks, asked: &Asked<'_>, mut verdict: Verdict, unread: Option<&Failure>) -> Self {
        let missing: Vec<String> = verdict.missing().map(ToString::to_string).collect();
        let (fault, message) = match unread {
            Some(failure) => (Fault::Event, failure.to_string()),
            None => (Fault::Config, missing.join("\n")),
        };
        let closed = hooks.config.fail_closed;
        let ours = unread.is_some() || !missing.is_empty();
        let blocks = verdict.blocks() && !verdict.usable_restrict() && (unread.is_some() || closed);
        let failed = if ours && blocks {
            let reason = verdict.reason().unwrap_or(&message).to_owned();
            OurFailure::blocking(asked, Some(hooks.dialect()), fault, reason)
        } else if ours && !verdict.restricts() {
            // What the usable hooks forbid is forbidden. Anything less must not look as if all of them had been asked.
            OurFailure::open(Some(hooks.dialect()), fault, message)
        } else {
            return Self { verdict: Some(verdict), failed: None, due: None, closed };
        };
        verdict.wire.clone_from(&failed.told.stdout);
        Self { verdict: Some(verdict), failed: Some(failed), due: None, closed }
    }

    /// What becomes of an event of which not even the name can be told: any hook could be one of its.
    fn nameless(hooks: &Hooks, asked: &Asked<'_>, fault: Fault, failure: &Failure) -> Self {
        if hooks.config.fail_closed {
            return Self::without_hooks(asked, Some(hooks.dialect()), true, fault, &failure.to_string());
        }
        let deciding = hooks.enabled().map(|entry| &entry.hook);
        let mut deciding = deciding.filter(|hook| hook.mode == Mode::Enforce && !hook.observe_only);
        let blocking = deciding.find(|hook| {
            let rows = hooks.dialect().specs().iter();
            let mut rows = rows.filter(|spec| spec.blockable && hook.may_be_asked(spec, hooks.dialect()));
            rows.any(|spec| policy(hooks, spec, hook, failure.cause) != FailurePolicy::Ignore)
        });
        let failed = match blocking {
            Some(hook) => {
                let reason = format!("hook {} failed ({failure})", hook.name);
                OurFailure::blocking(asked, Some(hooks.dialect()), fault, reason)
            }
            None => OurFailure::open(Some(hooks.dialect()), fault, failure.to_string()),
        };
        Self { verdict: None, failed: Some(failed), due: None, closed: false }
    }

    /// The record of what became of it under the hook set that was asked. Of an event of which not even the name can be told
    /// it says that, and what the client was told.
    pub fn record(&self, hooks: &HookSet, wire: &[u8]) -> Record {
        let told = || self.failed.as_ref().and_then(|failed| failed.told.stdout.clone());
        self.verdict
            .as_ref()
            .map_or_else(|| Record::of_nameless(hooks, wire, told()), |verdict| verdict.record(hooks, wire))
    }

    /// Why the client must not go on when it cannot be told anything: it is to be stopped, or failures block.
    pub fn holds(&self) -> Option<&str> {
        let unwritten = "the verdict cannot be given to the client";
        match (&self.failed, &self.verdict) {
            (Some(failed), _) => failed.blocks.then_some(failed.message.as_str()),
            (None, Some(verdict)) if verdict.restricts() => Some(verdict.reason().unwrap_or(unwritten)),
            _ => self.closed.then_some(unwritten),
        }
    }

    /// The bytes for the client, without a newline; empty when it is told nothing.
    pub fn to_bytes(&self) -> Vec<u8> {
        match (&self.failed, &self.verdict) {
            (Some(failed), _) => failed.told.stdout.as_ref().map(ToString::to_string).unwrap_or_default().into_bytes(),
            (None, verdict) => verdict.as_ref().map(Verdict::to_bytes).unwrap_or_default(),
        }
    }
}

impl OurFailure {
    fn blocking(asked: &Asked<'_>, dialect: Option<&'static dyn Dialect>, fault: Fault, message: String) -> Self {
        let told = dialect
            .map_or_else(|| OwnFailure::block(None), |dialect| dialect.fail_closed(asked.wire, asked.name, &message));
        Self { fault, message, blocks: true, told }
    }

    fn open(dialect: Option<&'static dyn Dialect>, fault: Fault, message: String) -> Self {
        let told = dialect.map_or_else(OwnFailure::tell, Dialect::fail_open);
        Self { fault, message, blocks: false, told }
    }
}
