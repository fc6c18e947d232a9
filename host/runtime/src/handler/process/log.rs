//! What a process writes for people, and what it does that people should know of.

use std::sync::{Mutex, PoisonError};

use hookbox_sandbox::{LogLevel, LogLine};

/// Lines and bytes that are kept until somebody takes them.
const LINES: usize = 200;
const BYTES: usize = 16 * 1024;

/// Lines since the last call; the next one to end takes them into its report. Also logged as they come.
pub(super) struct Log {
    hook: String,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    lines: Vec<LogLine>,
    bytes: usize,
    /// Those that there was no room for.
    more: usize,
}

impl Log {
    pub(super) fn new(hook: String) -> Self {
        Self { hook, kept: Mutex::default() }
    }

    /// A line of the process's stderr.
    pub(super) fn line(&self, text: &str) {
        tracing::info!(target: "hookbox::process", hook = self.hook, "{text}");
        self.keep(LogLevel::Info, text.to_owned());
    }

    /// Something that the process should not have done.
    pub(super) fn warn(&self, text: String) {
        tracing::warn!(target: "hookbox::process", hook = self.hook, "{text}");
        self.keep(LogLevel::Warn, text);
    }

    fn keep(&self, level: LogLevel, message: String) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.lines.len() == LINES || kept.bytes + message.len() > BYTES {
            kept.more += 1;
            return;
        }
        kept.bytes += message.len();
        kept.lines.push(LogLine { level, message });
    }

    /// Everything that was kept.
    pub(super) fn take(&self) -> Vec<LogLine> {
        let Kept { mut lines, more, .. } =
            std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        if more > 0 {
            lines.push(LogLine { level: LogLevel::Info, message: format!("… and {more} more lines") });
        }
        lines
    }
}
