//! hookbox's own log, on stderr. `HOOKBOX_LOG` says how much of it, as in `HOOKBOX_LOG=debug`.

use hookbox_server::LogForm;
use tracing_subscriber::{EnvFilter, Layer, filter::LevelFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::print;

const LEVEL: &str = "HOOKBOX_LOG";

/// Of a command that somebody waits for: errors, without the time.
pub fn of_command() {
    fmt().with_writer(print::Log).with_env_filter(EnvFilter::from_env(LEVEL)).without_time().init();
}

/// Of the daemon: what it does, and when.
pub fn of_daemon(form: LogForm) {
    let level = EnvFilter::builder().with_env_var(LEVEL).with_default_directive(LevelFilter::INFO.into());
    let lines = match form {
        LogForm::Text => fmt::layer().with_writer(print::Log).with_ansi(false).boxed(),
        LogForm::Json => fmt::layer().json().with_writer(print::JsonLog).boxed(),
    };
    tracing_subscriber::registry().with(lines.with_filter(level.from_env_lossy())).init();
}
