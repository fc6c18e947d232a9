//! hookbox's own log, on stderr. `HOOKBOX_LOG` says how much of it, as in `HOOKBOX_LOG=debug`.

use std::env;

use hookbox_server::{LogForm, Traces};
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, ParseError, Targets},
    fmt,
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

use crate::print;

const LEVEL: &str = "HOOKBOX_LOG";

/// Of a command that somebody waits for, where they ask for it: without the time. What a command has to tell is not in it.
pub fn of_command() {
    if env::var_os(LEVEL).is_none_or(|level| level.is_empty()) {
        return;
    }
    let (level, misread) = level(LevelFilter::ERROR);
    let lines = fmt::layer().with_writer(print::Log).without_time();
    tracing_subscriber::registry().with(lines.with_filter(level)).init();
    tell(misread);
}

/// Of the daemon: what it does, and when; and its spans, where they are collected.
pub fn of_daemon(form: LogForm, traces: Option<&Traces>) {
    let (level, misread) = level(LevelFilter::INFO);
    let lines = match form {
        LogForm::Text => fmt::layer().with_writer(print::Log).with_ansi(false).boxed(),
        LogForm::Json => fmt::layer().json().with_writer(print::JsonLog).boxed(),
    };
    // Ours only: those that send spans would have spans of that.
    let ours = Targets::new().with_target("hookbox", LevelFilter::DEBUG);
    let spans = traces.map(|traces| tracing_opentelemetry::layer().with_tracer(traces.tracer()).with_filter(ours));
    tracing_subscriber::registry().with(lines.with_filter(level)).with(spans).init();
    tell(misread);
}

/// What is written, a level or levels by target; this one where nothing is, or nothing that can be read.
fn level(otherwise: LevelFilter) -> (Targets, Option<ParseError>) {
    let otherwise = || Targets::new().with_default(otherwise);
    match env::var(LEVEL).unwrap_or_default().as_str() {
        "" => (otherwise(), None),
        written => match written.parse() {
            Ok(level) => (level, None),
            Err(misread) => (otherwise(), Some(misread)),
        },
    }
}

fn tell(misread: Option<ParseError>) {
    if let Some(why) = misread {
        tracing::error!("{LEVEL} is not a level, as in {LEVEL}=debug, and no list of them: {why}");
    }
}
