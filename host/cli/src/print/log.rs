//! The writers of the program's logs.

use std::io::{self, Write};

use tracing_subscriber::fmt::MakeWriter;

use super::stderr;

/// The writer of text logs. Each event becomes one line, whatever its fields contain.
#[derive(Debug, Clone, Copy)]
pub struct Log;

impl MakeWriter<'_> for Log {
    type Writer = Self;
    fn make_writer(&self) -> Self {
        Self
    }
}

impl Write for Log {
    /// Gets one event per call, with a newline.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        stderr::err(String::from_utf8_lossy(event).trim_end());
        Ok(event.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The writer of JSON logs.
#[derive(Debug, Clone, Copy)]
pub struct JsonLog;

impl MakeWriter<'_> for JsonLog {
    type Writer = Self;
    fn make_writer(&self) -> Self {
        Self
    }
}

impl Write for JsonLog {
    /// Gets one object per call, with a newline.
    fn write(&mut self, object: &[u8]) -> io::Result<usize> {
        stderr::raw_json(String::from_utf8_lossy(object).trim_end());
        Ok(object.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
