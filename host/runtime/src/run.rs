//! One hook on one event: whether it is for it, what it said, and what of that counts.

use std::{borrow::Cow, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use futures_util::{FutureExt, StreamExt, future::join_all, stream};
use hookbox_protocol::{
    Cause, Dialect, Event, EventKind, Failure, FailurePolicy, HookOutput, Note,
    authority::{express, keep_digits},
    dialect::EventSpec,
    failure::failed_output,
};
use hookbox_sandbox::Run;

use crate::{
    config::{self, Mode},
    handler::{Call, Failed, SharedHandler},
    hooks::{Entry, Hooks},
    telemetry,
    verdict::{HookReport, Status},
};

/// What one event is judged under.
#[derive(Clone, Copy, Default)]
pub(crate) struct Terms<'a> {
    /// What kept the event from being read: each hook fails by it.
    pub(crate) unread: Option<&'a Failure>,
    /// When the verdict is due: a hook that is not done by then ran past its timeout.
    pub(crate) due: Option<Instant>,
}

impl Terms<'_> {
    /// When a hook has to be loaded: what takes longer leaves a tenth of the time to those that are.
    fn load_due(&self) -> Option<Instant> {
        let left = self.due?.saturating_duration_since(Instant::now());
        self.due?.checked_sub(left / 10)
    }
}

/// A hook that is subscribed to an event, and whether it is to run.
pub(crate) struct Selected<'a> {
    entry: &'a Entry,
    decision: Result<SharedHandler, Status>,
    due: Option<Instant>,
}

impl<'a> Selected<'a> {
    /// The hook.
    pub(crate) fn hook(&self) -> &'a config::Hook {
        &self.entry.hook
    }

    fn report(&self, status: Status) -> HookReport {
        let hook = &self.entry.hook;
        HookReport {
            name: hook.name.clone(),
            pointer: hook.pointer.clone(),
            matcher: hook.matcher_text.clone(),
            mode: hook.mode,
            status,
            counted: HookOutput::default(),
            watched: HookOutput::default(),
            digest: None,
            unusable: None,
        }
    }

    /// Whether it is to run, and wants all that run to run one by one.
    pub(crate) fn asks_for_sequence(&self) -> bool {
        self.decision.is_ok() && self.entry.hook.sequential
    }

    /// The report of a hook that an earlier one kept from running.
    pub(crate) fn not_reached(self) -> HookReport {
        let status = self.decision.as_ref().err().cloned().unwrap_or(Status::NotReached);
        self.report(status)
    }
}

/// The hooks subscribed to an event, in configuration order. Those that are to run are loaded, as far as they can be.
pub(crate) async fn select<'a>(hooks: &'a Hooks, event: &Event, terms: Terms<'_>) -> Vec<Selected<'a>> {
    let spec = hooks.dialect().spec_of(event);
    let field = spec.matched.and_then(|field| event.field(field)).filter(|field| !field.is_empty());
    // Only a tool can have other names.
    let also_called = match (spec.matched, &field) {
        (Some("tool_name"), Some(tool)) => hooks.dialect().also_called(tool),
        _ => &[],
    };
    // decisions.md#matchers: "Where the event is about a tool or can be blocked, a field that it lacks may be any, and every
    // pattern takes it".
    let any = terms.unread.is_some() || field.is_none() && (spec.blockable || spec.kind.has_tool());
    let load_due = terms.load_due();
    let selected = hooks.enabled().filter(|entry| subscribed(&entry.hook, event, hooks.dialect())).map(|entry| {
        // A row without a matched field ignores matchers, as its specification says.
        let matches = spec.matched.is_none()
            || if any {
                entry.hook.matcher.may_take(field.as_deref(), also_called)
            } else {
                entry.hook.matcher.takes(event, field.as_deref(), also_called)
            };
        async move {
            let decision = match (matches, terms.unread) {
                (false, _) => Err(Status::NotMatched),
                (true, Some(failure)) if !entry.hook.events.is_empty() => Ok(failed(failure.clone())),
                (true, unread) => {
                    let handler = handler(hooks, entry, event, load_due).await;
                    unread.filter(|_| handler.is_ok()).map_or(handler, |failure| Ok(failed(failure.clone())))
                }
            };
            Selected { entry, decision, due: terms.due }
        }
    });
    // All at once, so that one that takes long to load does not take the time of the others.
    join_all(selected).await
}

fn failed(failure: Failure) -> SharedHandler {
    Arc::new(Failed::new(failure))
}

/// What runs for a hook that an event is for.
async fn handler(hooks: &Hooks, entry: &Entry, event: &Event, due: Option<Instant>) -> Result<SharedHandler, Status> {
    let loading = caught(hooks.handler(entry));
    let loaded = match due {
        None => loading.await,
        Some(due) => match tokio::time::timeout_at(due.into(), loading).await {
            Ok(loaded) => loaded,
            Err(_) => {
                return Ok(failed(Failure::new(
                    Cause::Timeout,
                    "it was still being loaded when the client's time ended",
                )));
            }
        },
    };
    let handler = match loaded {
        Ok(loaded) => loaded.unwrap_or_else(|error| Arc::new(Failed::to_load(error.0))),
        Err(panicked) => return Ok(failed(panicked)),
    };
    let asked = match caught(async { handler.handles(event.kind()) }).await {
        Ok(asked) => asked,
        Err(panicked) => return Ok(failed(panicked)),
    };
    match (asked, entry.hook.events.is_empty()) {
        (true, _) => Ok(handler),
        // It is for what it exports, and this is not of it.
        (false, true) => Err(Status::NotHandled),
        (false, false) => {
            let why = format!("it is configured for {} and does not handle it", event.name);
            Ok(failed(Failure::new(Cause::Load, why)))
        }
    }
}

/// What comes of a hook, where a panic is a failure of that hook like any other. Handlers, stores, clients and models may
/// be the embedder's, and one hook's bug takes no other hook's word away.
async fn caught<T>(hook: impl Future<Output = T>) -> Result<T, Failure> {
    AssertUnwindSafe(hook).catch_unwind().await.map_err(|_| Failure::new(Cause::Guest, "panicked"))
}

fn subscribed(hook: &config::Hook, event: &Event, dialect: &dyn Dialect) -> bool {
    hook.events.contains(&event.name) || hook.may_be_asked(dialect.spec_of(event), dialect)
}

/// Runs one hook within its timeout.
#[tracing::instrument(name = "hook", level = "debug", skip_all, fields(hook = selected.entry.hook.name))]
pub(crate) async fn run(hooks: &Hooks, event: &Event, selected: Selected<'_>) -> HookReport {
    let handler = match &selected.decision {
        Ok(handler) => handler.clone(),
        Err(status) => return selected.report(status.clone()),
    };
    let hook = &selected.entry.hook;
    let started = Instant::now();
    let timeout = hook.time_for(event);
    let own = started + timeout;
    let deadline = selected.due.map_or(own, |due| due.min(own));
    let call = Call { event, dialect: hooks.dialect(), deadline: deadline.into() };
    let late = || {
        let why = if deadline < own {
            "was not done when the client's time ended".to_owned()
        } else {
            format!("ran past its timeout of {} s", timeout.as_secs_f64())
        };
        Run::new(Err(Failure::new(Cause::Timeout, why)))
    };
    let asked = caught(async {
        // One that cannot be asked any more has its own reason, whatever the time.
        if deadline <= started && handler.unusable().is_none() {
            return late();
        }
        tokio::time::timeout_at(deadline.into(), handler.call(call)).await.unwrap_or_else(|_| late())
    });
    let mut run = asked.await.unwrap_or_else(|panicked| Run::new(Err(panicked)));
    run.time = started.elapsed();
    let spec = hooks.dialect().spec_of(event);
    let (counted, notes) = count(hooks, spec, hook, event, &run.result);
    run.notes.extend(notes);
    let of_handler = caught(async { (handler.digest().map(str::to_owned), handler.unusable().cloned()) });
    let (digest, unusable) = of_handler.await.unwrap_or_default();
    // What is only watched decides nothing.
    let (counted, watched) = match hook.mode {
        Mode::Enforce => (counted, HookOutput::default()),
        Mode::Monitor => (HookOutput::default(), counted),
    };
    let report = HookReport { counted, watched, digest, unusable, ..selected.report(Status::Ran(Box::new(run))) };
    telemetry::hook_ran(hooks, &selected.entry.label, event.kind().name(), &report);
    report
}

/// Runs hooks on the same event, so many at once.
pub(crate) async fn run_together(
    hooks: &Hooks,
    event: &Event,
    selected: Vec<Selected<'_>>,
    at_once: usize,
) -> Vec<HookReport> {
    let calls = selected.into_iter().map(|hook| run(hooks, event, hook));
    // Most often there is one.
    if calls.len() == 1 {
        return join_all(calls).await;
    }
    let calls: Vec<_> = calls.enumerate().map(|(at, call)| call.map(move |report| (at, report))).collect();
    // Not `buffered`, where a slow hook keeps those behind it from starting although there is room.
    let mut reports: Vec<_> = stream::iter(calls).buffer_unordered(at_once).collect().await;
    reports.sort_by_key(|(place, _)| *place);
    reports.into_iter().map(|(_, report)| report).collect()
}

/// Each hook sees the event as the hooks before it left it, until one of them ends it.
pub(crate) async fn run_chain(hooks: &Hooks, event: &Event, selected: Vec<Selected<'_>>) -> Vec<HookReport> {
    let dialect = hooks.dialect();
    let mut event = Cow::Borrowed(event);
    let mut reports: Vec<HookReport> = Vec::new();
    let mut ended = false;
    for hook in selected {
        let report = if ended { hook.not_reached() } else { run(hooks, &event, hook).await };
        if report.run().is_some() {
            ended = ended || dialect.stops(&event, &report.counted);
            if report.counted.updated.is_some() || report.counted.updated_tool.is_some() {
                dialect.rewrite(event.to_mut(), &report.counted);
            }
        }
        reports.push(report);
    }
    reports
}

/// What counts of a hook's result: failure behaviour, then authority, then what the dialect can say.
fn count(
    hooks: &Hooks,
    spec: &EventSpec,
    hook: &config::Hook,
    event: &Event,
    result: &Result<HookOutput, Failure>,
) -> (HookOutput, Vec<Note>) {
    let mut notes = Vec::new();
    let authority = hook.bounds();
    let mut output = match result {
        Ok(output) => {
            let mut output = output.clone();
            keep_digits(event, &mut output);
            if let Some(authority) = &authority {
                notes.extend(authority.limit(hooks.dialect(), event, &mut output));
            }
            output
        }
        Err(failure) => {
            let (output, note) = failed_output(spec, &hook.name, failure, policy(hooks, spec, hook, failure.cause));
            notes.extend(note);
            output
        }
    };
    if hook.observe_only && !output.is_silent() {
        notes.push(Note::dropped("an observer is told, not asked"));
        output = HookOutput::default();
    }
    notes.extend(express(hooks.dialect(), event, authority.as_ref(), &mut output));
    (output, notes)
}

pub(crate) fn policy(hooks: &Hooks, spec: &EventSpec, hook: &config::Hook, cause: Cause) -> FailurePolicy {
    let configured = match cause {
        Cause::Timeout => hook.on_timeout,
        _ => hook.on_failure,
    };
    configured.unwrap_or_else(|| {
        if spec.blockable && (hooks.config.fail_closed || is_exhausted_gate(hook, spec.kind, cause)) {
            FailurePolicy::Deny
        } else {
            hooks.dialect().default_policy(spec.kind, cause)
        }
    })
}

/// decisions.md#failures: "A component that may only hold back, and uses up one of its limits before a tool runs, has
/// denied"; "So has a command that was not started because hooks run inside hooks too deep".
fn is_exhausted_gate(hook: &config::Hook, kind: EventKind, cause: Cause) -> bool {
    let component = matches!(hook.handler, config::Handler::Wasm(_));
    let gate = component && hook.bounds().is_some_and(|authority| authority.only_restricts());
    matches!(kind, EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::CanUseTool)
        && (cause == Cause::TooDeep || cause.is_limit() && gate)
}
