//! Calls hooks on one event: one hook within its timeout, or many in the order of the dialect.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use futures_util::{FutureExt, StreamExt, stream};
use hookbox_protocol::{Cause, Event, Failure, dialect::translate};
use hookbox_sandbox::{Run, traced};

use crate::{
    clock::later,
    config::{self, Mode},
    count::{command_dialect, count},
    handler::{Call, Handler},
    hooks::Hooks,
    select::{Selected, caught},
    telemetry,
    verdict::{HookReport, Status},
};

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
        command_dialect(hooks, hook).and_then(|written| Some((translate(event, hooks.dialect(), written)?, written)));
    let call = match &translated {
        Some((translated, written)) => Call { event: translated, dialect: *written, deadline: deadline.into() },
        None => Call { event, dialect: hooks.dialect(), deadline: deadline.into() },
    };
    let late = || {
        let why = if deadline < own {
            "was not done at the client's timeout".to_owned()
        } else {
            format!("ran past its timeout of {} s", timeout.as_secs_f64())
        };
        Run::new(Err(Failure::new(Cause::Timeout, why)))
    };
    let calling = caught(async {
        // A hook that cannot run any more reports its own reason, even after the deadline.
        if deadline <= started && handler.unusable().is_none() {
            return late();
        }
        tokio::time::timeout_at(deadline.into(), handler.call(call)).await.unwrap_or_else(|_| late())
    });
    let mut run = Box::new(calling.await.unwrap_or_else(|panicked| Run::new(Err(panicked))));
    // A component measures its own time.
    if run.time.is_zero() {
        run.time = started.elapsed();
    }
    run
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
/// separate function because its future holds a whole event.
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
