//! Metrics, through the `metrics` facade: a process that installs a recorder has them, any other pays nothing.
//!
//! Labels are the configuration's and the contract's words, never the event's, so that no client and no hook can make
//! series without end.

use metrics::{counter, histogram};

use crate::{
    config::Config,
    verdict::{Ran, Verdict},
};

/// One hook ran: how often with which verdict or fault, how long it took, and its fuel.
pub(crate) fn hook_ran(config: &Config, event: &'static str, hook: &str, ran: &Ran) {
    let labels = [
        ("tenant", config.tenant().to_owned()),
        ("dialect", config.dialect.name().to_owned()),
        ("event", event.to_owned()),
        ("hook", hook.to_owned()),
    ];
    let (verdict, cause) = match &ran.result {
        Ok(answer) => (answer.word(), ""),
        Err(failure) => ("failed", failure.cause.word()),
    };
    let told = [labels.as_slice(), &[("verdict", verdict.to_owned()), ("cause", cause.to_owned())]].concat();
    counter!("hookbox_hook_calls_total", &told).increment(1);
    histogram!("hookbox_hook_seconds", &labels).record(ran.time.as_secs_f64());
    if let Some(fuel) = ran.fuel {
        #[expect(clippy::cast_precision_loss, reason = "a statistic")]
        histogram!("hookbox_hook_fuel", &labels).record(fuel as f64);
    }
}

/// One event was judged.
pub(crate) fn judged(config: &Config, verdict: &Verdict) {
    let labels = [
        ("tenant", config.tenant().to_owned()),
        ("dialect", verdict.dialect.to_owned()),
        ("event", verdict.kind.name().to_owned()),
        ("verdict", verdict.merged.answer.word().to_owned()),
    ];
    counter!("hookbox_verdicts_total", &labels).increment(1);
}
