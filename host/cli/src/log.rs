//! hookbox's own log on stderr. `HOOKBOX_LOG` sets the level, as in `HOOKBOX_LOG=debug`.

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

/// Sets up the log of a command, without times. Only if the user sets `HOOKBOX_LOG`; a command's normal output is not
/// part of it.
pub fn of_command() {
    if env::var_os(LEVEL).is_none_or(|level| level.is_empty()) {
        return;
    }
    let (level, misread) = level(LevelFilter::ERROR);
    let lines = fmt::layer().with_writer(print::TEXT_LOG).without_time();
    tracing_subscriber::registry().with(lines.with_filter(level)).init();
    warn_about_level(misread);
}

/// Sets up the log of the daemon, with times, and exports its spans if configured.
pub fn of_daemon(form: LogForm, traces: Option<&Traces>) {
    let (level, misread) = level(LevelFilter::INFO);
    let lines = match form {
        LogForm::Text => fmt::layer().with_writer(print::TEXT_LOG).with_ansi(false).boxed(),
        LogForm::Json => fmt::layer().json().with_writer(print::JSON_LOG).boxed(),
    };
    // Only hookbox's spans: exporting the spans of the exporter would create more of them.
    let targets = Targets::new().with_target("hookbox", LevelFilter::DEBUG);
    let spans = traces.map(|traces| tracing_opentelemetry::layer().with_tracer(traces.tracer()).with_filter(targets));
    tracing_subscriber::registry().with(lines.with_filter(level)).with(spans).init();
    warn_about_level(misread);
}

/// The level in the environment, or levels by target. The default if it is missing or invalid.
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

fn warn_about_level(misread: Option<ParseError>) {
    if let Some(why) = misread {
        tracing::error!("{LEVEL} is neither a level, as in {LEVEL}=debug, nor a list of levels: {why}");
    }
}
