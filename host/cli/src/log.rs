//! hookbox's own log, on stderr. `HOOKBOX_LOG` says how much of it, as in `HOOKBOX_LOG=debug`.

use hookbox_server::{LogForm, Traces};
use tracing_subscriber::{
    EnvFilter, Layer, filter::LevelFilter, filter::Targets, fmt, layer::SubscriberExt, util::SubscriberInitExt,
};

use crate::print;

const LEVEL: &str = "HOOKBOX_LOG";

/// Of a command that somebody waits for: errors, without the time.
pub fn of_command() {
    fmt().with_writer(print::Log).with_env_filter(EnvFilter::from_env(LEVEL)).without_time().init();
}

/// Of the daemon: what it does, and when; and its spans, where they are collected.
pub fn of_daemon(form: LogForm, traces: Option<&Traces>) {
    let level = EnvFilter::builder().with_env_var(LEVEL).with_default_directive(LevelFilter::INFO.into());
    let lines = match form {
        LogForm::Text => fmt::layer().with_writer(print::Log).with_ansi(false).boxed(),
        LogForm::Json => fmt::layer().json().with_writer(print::JsonLog).boxed(),
    };
    // Ours only: those that send spans would have spans of that.
    let ours = Targets::new().with_target("hookbox", LevelFilter::DEBUG);
    let spans = traces.map(|traces| tracing_opentelemetry::layer().with_tracer(traces.tracer()).with_filter(ours));
    tracing_subscriber::registry().with(lines.with_filter(level.from_env_lossy())).with(spans).init();
}
