//! The writers of the program's logs.

use std::io::{self, Write};

use tracing_subscriber::fmt::MakeWriter;

use super::stderr;

/// A writer of logs, by the function that prints an event.
#[derive(Debug, Clone, Copy)]
pub struct Log(fn(&str));

/// Text logs. Each event becomes one line, whatever its fields contain.
pub const TEXT_LOG: Log = Log(|event| stderr::err(event));
/// JSON logs. Each event is one object.
pub const JSON_LOG: Log = Log(stderr::raw_json);

impl MakeWriter<'_> for Log {
    type Writer = Self;
    fn make_writer(&self) -> Self {
        *self
    }
}

impl Write for Log {
    /// Gets one event per call, with a newline.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        (self.0)(String::from_utf8_lossy(event).trim_end());
        Ok(event.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
