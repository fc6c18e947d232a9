//! The daemon's log: writes lines to stderr without blocking the caller.

use std::{
    io::{self, Write},
    time::Duration,
};

use crate::queue::{Queue, Sink};

/// A non-blocking log. If its reader stops reading, lines are lost and counted.
#[derive(Debug, Clone)]
pub struct Log(Queue);

impl Log {
    /// Starts the log on stderr.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start() -> io::Result<Self> {
        Queue::start("log", Stderr).map(Self)
    }

    /// Queues a line, without its newline.
    pub fn line(&self, line: &str) {
        self.0.push(line);
    }

    /// Waits until all lines are written, at most this long.
    pub fn flush(&self, at_most: Duration) {
        self.0.flush(at_most);
    }
}

struct Stderr;

impl Sink for Stderr {
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let mut stderr = io::stderr().lock();
        stderr.write_all(line).and_then(|()| stderr.flush())
    }

    fn lost(&mut self, _: bool, _: &str) {
        metrics::counter!("hookbox_log_lines_lost_total").increment(1);
    }

    fn recovered(&mut self, lost: u64) {
        tracing::error!("{lost} log lines were lost before this one: nothing read them");
    }
}
