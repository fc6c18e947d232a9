//! Runs one hook on one event: checks that the hook matches, calls it, and determines what of its output counts.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use futures_util::{FutureExt, StreamExt, future::join_all, stream};
use hookbox_protocol::{
    Cause, DecisionKind, Dialect, Event, EventKind, Failure, FailurePolicy, HookOutput, Note, NoteKind,
    authority::{Authority, express, keep_digits},
    dialect::{EventSpec, is_same_client, other_names, translate},
    failure::failed_output,
    json::Object,
    output::DECIDING,
};
use hookbox_sandbox::{Run, traced};
use serde_json::Value;

use crate::{
    clock::later,
    config::{self, Mode},
    handler::{Call, Failed, Handler, SharedHandler},
    hooks::{Entry, Hooks},
    telemetry,
    verdict::{HookReport, Status},
};

/// The conditions under which the hooks of one event run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Conditions<'a> {
    /// The reason why the event could not be decoded. Every hook fails with it.
    pub(crate) unread: Option<&'a Failure>,
    /// The deadline of the verdict. A hook that is not done by then has timed out.
    pub(crate) due: Option<Instant>,
}

impl Conditions<'_> {
    /// The deadline for loading hooks. It reserves a tenth of the remaining time for hooks that are already loaded.
    fn load_due(&self) -> Option<Instant> {
        let left = self.due?.saturating_duration_since(Instant::now());
        self.due?.checked_sub(left / 10)
    }
}

/// A hook that is subscribed to an event, and its handler or the status why it does not run.
pub(crate) struct Selected<'a> {
    entry: &'a Entry,
    decision: Result<SharedHandler, Status>,
    /// True while the handler is still to be loaded. `decision` is a failure until then.
    missing: bool,
    due: Option<Instant>,
}

impl<'a> Selected<'a> {
    /// The hook.
    pub(crate) fn hook(&self) -> &'a config::Hook {
        &self.entry.hook
    }

    fn report(&self, status: Status, counted: Box<HookOutput>) -> HookReport {
        let Entry { name, pointer, matcher, hook, .. } = self.entry;
        HookReport {
            name: Arc::clone(name),
            pointer: Arc::clone(pointer),
            matcher: matcher.clone(),
            mode: hook.mode,
            status,
            counted,
            watched: None,
            digest: None,
            publisher: None,
            unusable: None,
            may_fail: hook.on_failure == Some(FailurePolicy::Ignore),
        }
    }

    /// Returns true if the hook runs and its entry asks for all hooks to run one after another.
    pub(crate) fn asks_for_sequence(&self) -> bool {
        self.decision.is_ok() && self.entry.hook.sequential
    }

    /// The report of a hook that did not run because an earlier hook ended the event.
    pub(crate) fn not_reached(self) -> HookReport {
        let status = self.decision.as_ref().err().cloned().unwrap_or(Status::NotReached);
        self.report(status, Box::default())
    }
}

/// The hooks subscribed to an event, in configuration order. Loads those that match and are not loaded yet.
pub(crate) async fn select<'a>(hooks: &'a Hooks, event: &Event, terms: Conditions<'_>) -> Vec<Selected<'a>> {
    let spec = hooks.dialect().spec_of(event);
    let field = spec.matched.and_then(|field| event.field(field)).filter(|field| !field.is_empty());
    // Only a tool can have other names.
    let also_called = match (spec.matched, &field) {
        (Some("tool_name"), Some(tool)) => other_names(tool, hooks.dialect(), hooks.config.written),
        _ => Vec::new(),
    };
    // decisions.md#matchers: "If the event is about a tool or can be blocked, a missing field matches every pattern".
    let any = terms.unread.is_some() || field.is_none() && (spec.blockable || spec.kind.has_tool());
    let matches = |entry: &Entry| {
        // A row without a matched field ignores matchers, as its specification says.
        spec.matched.is_none()
            || if any {
                entry.hook.matcher.may_take(field.as_deref(), &also_called)
            } else {
                entry.hook.matcher.takes(event, field.as_deref(), &also_called)
            }
    };
    let selected = hooks.enabled().filter(|entry| subscribed(&entry.hook, event, hooks.dialect())).map(|entry| {
        let decision = match (matches(entry), terms.unread) {
            (false, _) => Some(Err(Status::NotMatched)),
            (true, Some(failure)) if !entry.hook.events.is_empty() => Some(Ok(failed(failure.clone()))),
            (true, unread) => entry.loaded().map(|handler| asked(entry, handler.clone(), event, unread)),
        };
        let missing = decision.is_none();
        let decision = decision.unwrap_or_else(|| Ok(failed(Failure::new(Cause::Load, "was not loaded"))));
        Selected { entry, decision, missing, due: terms.due }
    });
    let mut selected: Vec<_> = selected.collect();
    // Usually all hooks are loaded already. The others load concurrently, so that a slow one does not delay the rest.
    if selected.iter().any(|hook| hook.missing) {
        let due = terms.load_due();
        let loading = selected.iter_mut().filter(|hook| hook.missing).map(|hook| async move {
            hook.decision = asked(hook.entry, load(hooks, hook.entry, due).await, event, terms.unread);
        });
        join_all(loading).await;
    }
    selected
}

fn failed(failure: Failure) -> SharedHandler {
    Arc::new(Failed::new(failure))
}

/// Loads the handler of a hook. A hook that cannot be loaded in time gets a handler that fails.
async fn load(hooks: &Hooks, entry: &Entry, due: Option<Instant>) -> SharedHandler {
    let loading = caught(hooks.handler(entry));
    let loaded = match due {
        None => loading.await,
        Some(due) => match tokio::time::timeout_at(due.into(), loading).await {
            Ok(loaded) => loaded,
            Err(_) => {
                return failed(Failure::new(Cause::Timeout, "it was still being loaded when the client's time ended"));
            }
        },
    };
    match loaded {
        Ok(loaded) => loaded.unwrap_or_else(|error| Arc::new(Failed::to_load(error.0))),
        Err(panicked) => failed(panicked),
    }
}

/// The handler of a hook that matches an event, or the status why it does not run.
fn asked(
    entry: &Entry,
    handler: SharedHandler,
    event: &Event,
    unread: Option<&Failure>,
) -> Result<SharedHandler, Status> {
    let Ok(takes) = catch_unwind(AssertUnwindSafe(|| handler.handles(event.kind()))) else {
        return Ok(failed(panicked()));
    };
    match (takes, unread) {
        (true, None) => Ok(handler),
        (true, Some(failure)) => Ok(failed(failure.clone())),
        // A hook without configured events handles the events that its component exports. This is not one of them.
        (false, _) if entry.hook.events.is_empty() => Err(Status::NotHandled),
        (false, _) => {
            let why = format!("it is configured for {} and does not handle it", event.name);
            Ok(failed(Failure::new(Cause::Load, why)))
        }
    }
}

/// Turns a panic into a failure of the hook. Handlers, stores, clients and models may be the embedder's code, and a bug
/// in one hook must not discard the outputs of the others.
async fn caught<T>(hook: impl Future<Output = T>) -> Result<T, Failure> {
    AssertUnwindSafe(hook).catch_unwind().await.map_err(|_| panicked())
}

fn panicked() -> Failure {
    Failure::new(Cause::Guest, "panicked")
}

fn subscribed(hook: &config::Hook, event: &Event, dialect: &dyn Dialect) -> bool {
    hook.events.contains(&event.name) || hook.may_be_asked(dialect.spec_of(event), dialect)
}

/// Runs one hook within its timeout.
pub(crate) async fn run(hooks: &Hooks, event: &Event, selected: Selected<'_>) -> HookReport {
    let handler = match &selected.decision {
        Ok(handler) => handler,
        Err(status) => return selected.report(status.clone(), Box::default()),
    };
    let hook = selected.hook();
    let span = tracing::debug_span!("hook", hook = hook.name);
    let mut run = traced!(span, call(hooks, event, hook, &**handler, selected.due));
    let of_handler = || (handler.digest(), handler.publisher(), handler.unusable().cloned());
    let (digest, publisher, unusable) = catch_unwind(AssertUnwindSafe(of_handler)).unwrap_or_default();
    let counted = count(hooks, event, selected.entry, &mut run);
    // A monitored hook decides nothing.
    let (counted, watched) = match hook.mode {
        Mode::Enforce => (counted, None),
        Mode::Monitor => (Box::default(), Some(counted)),
    };
    let report = selected.report(Status::Ran(run), counted);
    let report = HookReport { watched, digest, publisher, unusable: unusable.map(Box::new), ..report };
    telemetry::hook_ran(hooks, selected.entry, event.kind(), &report);
    report
}

/// Calls a handler within its timeout.
async fn call(
    hooks: &Hooks,
    event: &Event,
    hook: &config::Hook,
    handler: &dyn Handler,
    due: Option<Instant>,
) -> Box<Run> {
    let started = Instant::now();
    let timeout = hook.time_for(event);
    let own = later(started, timeout);
    let deadline = due.map_or(own, |due| due.min(own));
    // decisions.md#who-is-calling: "the input, output and failure policy of commands and `http` hooks follow that
    // dialect".
    let translated =
        speaks(hooks, hook).and_then(|written| Some((translate(event, hooks.dialect(), written)?, written)));
    let call = match &translated {
        Some((translated, written)) => Call { event: translated, dialect: *written, deadline: deadline.into() },
        None => Call { event, dialect: hooks.dialect(), deadline: deadline.into() },
    };
    let late = || {
        let why = if deadline < own {
            "was not done when the client's time ended".to_owned()
        } else {
            format!("ran past its timeout of {} s", timeout.as_secs_f64())
        };
        Run::new(Err(Failure::new(Cause::Timeout, why)))
    };
    let asked = caught(async {
        // A hook that cannot run any more reports its own reason, even after the deadline.
        if deadline <= started && handler.unusable().is_none() {
            return late();
        }
        tokio::time::timeout_at(deadline.into(), handler.call(call)).await.unwrap_or_else(|_| late())
    });
    let mut run = Box::new(asked.await.unwrap_or_else(|panicked| Run::new(Err(panicked))));
    // A component measures its own time.
    if run.time.is_zero() {
        run.time = started.elapsed();
    }
    run
}

/// The dialect of a hook's JSON, if it is not the client's. Components use the contract's types instead.
fn speaks(hooks: &Hooks, hook: &config::Hook) -> Option<&'static dyn Dialect> {
    let speaks = matches!(hook.handler, config::Handler::Command { .. } | config::Handler::Http { .. });
    let written = hooks.config.written;
    (speaks && !is_same_client(written, hooks.dialect())).then_some(written)
}

/// Runs hooks on the same event, at most `at_once` concurrently.
pub(crate) async fn run_together(
    hooks: &Hooks,
    event: &Event,
    selected: Vec<Selected<'_>>,
    at_once: usize,
) -> Vec<HookReport> {
    // Usually there is one hook.
    if at_once.min(selected.len()) <= 1 {
        let mut reports = Vec::with_capacity(selected.len());
        for hook in selected {
            reports.push(run(hooks, event, hook).await);
        }
        return reports;
    }
    let calls = selected.into_iter().enumerate();
    let calls: Vec<_> = calls.map(|(at, hook)| run(hooks, event, hook).map(move |report| (at, report))).collect();
    // `buffered` would let a slow hook keep later hooks from starting although a slot is free.
    let mut reports: Vec<_> = stream::iter(calls).buffer_unordered(at_once).collect().await;
    reports.sort_by_key(|(place, _)| *place);
    reports.into_iter().map(|(_, report)| report).collect()
}

/// Runs hooks one after another, each on the event as the earlier hooks rewrote it, until one ends the event. This is a
/// function of its own because its future holds a whole event.
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

/// Returns what counts of a hook's output: applies the failure policy, then the authority, then degradation.
fn count(hooks: &Hooks, event: &Event, entry: &Entry, run: &mut Run) -> Box<HookOutput> {
    let Entry { hook, bounds: authority, .. } = entry;
    let spec = hooks.dialect().spec_of(event);
    let Run { result, notes, .. } = run;
    let closes = |cause| policy(hooks, spec, hook, cause) != FailurePolicy::Ignore;
    if let Ok(output) = &*result
        && let Some(why) = misfit(event, output, notes).filter(|_| closes(Cause::BadOutput))
    {
        *result = Err(Failure::new(Cause::BadOutput, format!("output: {why}")));
        notes.retain(|note| !note.misfit);
    }
    notes.retain(|note| note.kind != NoteKind::Misfit);
    let kept = authority.as_ref().filter(|_| !hook.observe_only).and_then(|bounds| {
        let (failure, kept) = unauthorised(hooks, event, bounds, result.as_ref().ok()?, notes)?;
        *result = Err(failure);
        Some(kept)
    });
    let mut counted = match result {
        // Usually the output is empty.
        Ok(output) if output.is_silent() => return Box::default(),
        Ok(output) => {
            let mut output = output.clone();
            keep_digits(event, &mut output);
            if let Some(authority) = authority {
                notes.extend(authority.limit(hooks.dialect(), event, &mut output));
            }
            output
        }
        Err(failure) => {
            let (output, note) = failed_output(spec, &hook.name, failure, policy(hooks, spec, hook, failure.cause));
            notes.extend(note);
            Box::new(with_kept(output, kept))
        }
    };
    if hook.observe_only && !counted.is_silent() {
        notes.push(Note::dropped("an observer cannot decide"));
        *counted = HookOutput::default();
    }
    notes.extend(express(hooks.dialect(), event, authority.as_ref(), &mut counted));
    counted
}

/// The failure of a hook that rewrote what its authority does not include, and the rest of its output: a denial or
/// question, and the granted part of the rewrite. Drops its context, because that describes the lost rewrite.
///
/// decisions.md#authority: "A rewrite that is lost for lack of authority is a failure of its hook".
fn unauthorised(
    hooks: &Hooks,
    event: &Event,
    bounds: &Authority,
    output: &HookOutput,
    notes: &mut Vec<Note>,
) -> Option<(Failure, HookOutput)> {
    if output.updated.is_none() && output.updated_tool.is_none() {
        return None;
    }
    let mut output = output.clone();
    keep_digits(event, &mut output);
    let needed = bounds.missing(hooks.dialect(), event, &output)?;
    notes.extend(bounds.limit(hooks.dialect(), event, &mut output));
    let strict = output.decision_kind() >= Some(DecisionKind::Ask);
    let kept = HookOutput {
        decision: output.decision.filter(|_| strict),
        reason: output.reason.filter(|_| strict),
        interrupt: output.interrupt,
        halt: output.halt,
        updated: output.updated,
        rewrite_bounds: output.rewrite_bounds,
        ..HookOutput::default()
    };
    let why = format!("it may not rewrite what it did; add {} to its entry", config::authority_text(&needed));
    Some((Failure::new(Cause::Authority, why), kept))
}

/// The output of the failure policy, combined with the rest of the hook's output. The stricter decision wins.
fn with_kept(failed: HookOutput, kept: Option<HookOutput>) -> HookOutput {
    let Some(kept) = kept else { return failed };
    if kept.decision_kind() >= failed.decision_kind() {
        kept
    } else {
        HookOutput { decision: failed.decision, reason: failed.reason, ..kept }
    }
}

/// The reason why an output does not fit the dialect. `None` if it denies or stops in any case.
///
/// decisions.md#outputs: "Where failures block, an output that does not fit the dialect blocks too".
fn misfit(event: &Event, output: &HookOutput, notes: &[Note]) -> Option<String> {
    if output.halt.is_some() || output.decision_kind() > Some(DecisionKind::Ask) {
        return None;
    }
    let translated = notes.iter().find(|note| note.misfit).map(|note| note.text.clone());
    let deciding = |of: &Object| DECIDING.into_iter().find(|key| of.contains_key(*key));
    let inside = || {
        // On an event beyond the specification these keys are the form in which the hook decided.
        let specific = output.extra.get("hookSpecificOutput").filter(|_| event.kind() != EventKind::OtherEvent);
        specific.and_then(Value::as_object).and_then(deciding).map(|key| format!("hookSpecificOutput/{key}"))
    };
    translated.or_else(|| {
        let key = deciding(&output.extra).map(str::to_owned).or_else(inside)?;
        Some(format!("/{key} decides nothing in this dialect"))
    })
}

pub(crate) fn policy(hooks: &Hooks, spec: &EventSpec, hook: &config::Hook, cause: Cause) -> FailurePolicy {
    let configured = match cause {
        Cause::Timeout => hook.on_timeout,
        _ => hook.on_failure,
    };
    // decisions.md#failures: "A component of a registry that is not locked, approved, fetched and verified".
    if cause == Cause::Load && spec.blockable && matches!(&hook.handler, config::Handler::Wasm(wasm) if wasm.must_load)
    {
        return FailurePolicy::Deny;
    }
    configured.unwrap_or_else(|| {
        if spec.blockable && (hooks.config.fail_closed || is_exhausted_gate(hook, spec.kind, cause)) {
            FailurePolicy::Deny
        } else {
            speaks(hooks, hook).unwrap_or(hooks.dialect()).default_policy(spec.kind, cause)
        }
    })
}

/// decisions.md#failures: "A component that may only restrict denies when it exceeds one of its limits before a tool
/// runs"; "A command that was not started because hooks are nested too deep denies in the same way".
fn is_exhausted_gate(hook: &config::Hook, kind: EventKind, cause: Cause) -> bool {
    let component = matches!(hook.handler, config::Handler::Wasm(_));
    let gate = component && hook.bounds().is_some_and(|authority| authority.only_restricts());
    matches!(kind, EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::CanUseTool)
        && (cause == Cause::TooDeep || cause.is_limit() && gate)
}
