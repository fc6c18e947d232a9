//! Metrics, through the `metrics` facade. A process has them if it installs a recorder.
//!
//! Labels come from the configuration and the contract, never from the event, so that no client or hook can create an
//! unlimited number of series. At most 250 hooks per configuration have separate series. A label has at most 100
//! characters.

use std::sync::Arc;

use hookbox_protocol::EventKind;
use metrics::{Key, Label, Level, Metadata, with_recorder};

use crate::{
    config::Mode,
    hooks::{Entry, Hooks},
    series::label,
    verdict::{HookReport, Verdict},
};

static OURS: Metadata<'static> = Metadata::new("hookbox", Level::INFO, Some(module_path!()));

/// Counts one call of a hook by its verdict and cause, and records its time and fuel.
pub(crate) fn hook_ran(hooks: &Hooks, entry: &Entry, kind: EventKind, report: &HookReport) {
    let Some(run) = report.run() else { return };
    let cause = run.result.as_ref().err().map_or("", |failure| failure.cause.word());
    let keys = entry.series.of((kind, report.word(), cause), || {
        let mode = match report.mode {
            Mode::Enforce => "enforce",
            Mode::Monitor => "monitor",
        };
        let mut labels = of_event(hooks, kind);
        labels.push(Label::new("hook", Arc::clone(&entry.label)));
        let call = [("verdict", report.word()), ("cause", cause), ("mode", mode)];
        let call = call.map(|(key, word)| Label::from_static_parts(key, word));
        let calls = [labels.as_slice(), &call].concat();
        [
            Key::from_parts("hookbox_hook_calls_total", calls),
            Key::from_parts("hookbox_hook_fuel", labels.clone()),
            Key::from_parts("hookbox_hook_seconds", labels),
        ]
    });
    let [calls, fuel, seconds] = &*keys;
    with_recorder(|recorder| {
        if let Some(digest) = &report.digest {
            let info = entry.info.get_or_init(|| info(hooks, entry, digest, report.publisher.as_deref()));
            recorder.register_gauge(info, &OURS).set(1.0);
        }
        recorder.register_counter(calls, &OURS).increment(1);
        if let Some(used) = run.fuel {
            #[expect(clippy::cast_precision_loss, reason = "a statistic")]
            recorder.register_histogram(fuel, &OURS).record(used as f64);
        }
        recorder.register_histogram(seconds, &OURS).record(run.time.as_secs_f64());
    });
}

/// The series that says which component a hook is, and who published it.
fn info(hooks: &Hooks, entry: &Entry, digest: &Arc<str>, publisher: Option<&str>) -> Key {
    let labels = vec![
        Label::new("tenant", hooks.tenant().to_owned()),
        Label::from_static_parts("dialect", hooks.dialect().name()),
        Label::new("hook", Arc::clone(&entry.label)),
        Label::new("digest", Arc::clone(digest)),
        Label::new("publisher", label(0, publisher.unwrap_or_default())),
    ];
    Key::from_parts("hookbox_hook_info", labels)
}

/// Counts one verdict.
pub(crate) fn dispatched(hooks: &Hooks, verdict: &Verdict) {
    let word = verdict.outcome.output.word();
    let keys = hooks.series.of((verdict.kind, word, ""), || {
        let mut labels = of_event(hooks, verdict.kind);
        labels.push(Label::from_static_parts("verdict", word));
        [Key::from_parts("hookbox_verdicts_total", labels)]
    });
    let [verdicts] = &*keys;
    with_recorder(|recorder| recorder.register_counter(verdicts, &OURS).increment(1));
}

/// The labels of all series.
fn of_event(hooks: &Hooks, kind: EventKind) -> Vec<Label> {
    vec![
        Label::new("tenant", hooks.tenant().to_owned()),
        Label::from_static_parts("dialect", hooks.dialect().name()),
        Label::from_static_parts("event", kind.name()),
    ]
}
