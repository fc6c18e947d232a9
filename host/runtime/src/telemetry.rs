//! Metrics, through the `metrics` facade: a process that installs a recorder has them, any other pays for the labels only.
//!
//! Labels are the configuration's and the contract's words, never the event's, so that no client and no hook can make
//! series without end.

use metrics::{Label, counter, histogram};

use crate::{
    config::Mode,
    hooks::Hooks,
    verdict::{HookReport, Verdict},
};

/// One hook ran: how often with which verdict or fault, how long it took, and its fuel.
pub(crate) fn hook_ran(hooks: &Hooks, hook: &Label, event: &'static str, report: &HookReport) {
    let Some(run) = report.run() else { return };
    let labels = [of_event(hooks, event).as_slice(), std::slice::from_ref(hook)].concat();
    let cause = run.result.as_ref().err().map_or("", |failure| failure.cause.word());
    let mode = match report.mode {
        Mode::Enforce => "enforce",
        Mode::Monitor => "monitor",
    };
    let told = [
        Label::from_static_parts("verdict", report.word()),
        Label::from_static_parts("cause", cause),
        Label::from_static_parts("mode", mode),
    ];
    counter!("hookbox_hook_calls_total", [labels.as_slice(), &told].concat()).increment(1);
    if let Some(fuel) = run.fuel {
        #[expect(clippy::cast_precision_loss, reason = "a statistic")]
        histogram!("hookbox_hook_fuel", labels.clone()).record(fuel as f64);
    }
    histogram!("hookbox_hook_seconds", labels).record(run.time.as_secs_f64());
}

/// One event got its verdict.
pub(crate) fn dispatched(hooks: &Hooks, verdict: &Verdict) {
    let word = Label::from_static_parts("verdict", verdict.outcome.output.word());
    let labels = [of_event(hooks, verdict.kind.name()).as_slice(), &[word]].concat();
    counter!("hookbox_verdicts_total", labels).increment(1);
}

/// The labels that all series have.
fn of_event(hooks: &Hooks, event: &'static str) -> [Label; 3] {
    [
        hooks.label().clone(),
        Label::from_static_parts("dialect", hooks.dialect().name()),
        Label::from_static_parts("event", event),
    ]
}
