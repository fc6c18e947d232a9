//! The log of a process: the lines of its stderr, and warnings about its behaviour.

use std::sync::{Mutex, PoisonError};

use hookbox_sandbox::{LogLevel, LogLine};

/// The maximum number of lines and bytes between two calls.
const LINES: usize = 200;
const BYTES: usize = 16 * 1024;

/// The lines since the last call. The next call that ends takes them into its report. They are also logged immediately.
pub(super) struct Log {
    hook: String,
    buffer: Mutex<Buffer>,
}

#[derive(Default)]
struct Buffer {
    lines: Vec<LogLine>,
    bytes: usize,
    /// The number of lines that did not fit.
    more: usize,
}

impl Log {
    pub(super) fn new(hook: String) -> Self {
        Self { hook, buffer: Mutex::default() }
    }

    /// A line of the process's stderr.
    pub(super) fn line(&self, text: &str) {
        tracing::info!(target: "hookbox::process", hook = self.hook, "{text}");
        self.keep(LogLevel::Info, text.to_owned());
    }

    /// Logs a protocol violation of the process.
    pub(super) fn warn(&self, text: String) {
        tracing::warn!(target: "hookbox::process", hook = self.hook, "{text}");
        self.keep(LogLevel::Warn, text);
    }

    fn keep(&self, level: LogLevel, message: String) {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        if buffer.lines.len() == LINES || buffer.bytes + message.len() > BYTES {
            buffer.more += 1;
            return;
        }
        buffer.bytes += message.len();
        buffer.lines.push(LogLine { level, message });
    }

    /// Takes all lines.
    pub(super) fn take(&self) -> Vec<LogLine> {
        let Buffer { mut lines, more, .. } =
            std::mem::take(&mut *self.buffer.lock().unwrap_or_else(PoisonError::into_inner));
        if more > 0 {
            lines.push(LogLine { level: LogLevel::Info, message: format!("… and {more} more lines") });
        }
        lines
    }
}
