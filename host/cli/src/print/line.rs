//! Writes one line.

use std::io::Write;

/// Writes a line and its end.
pub(super) fn write(mut to: impl Write, line: &str) {
    // An error cannot be reported anywhere.
    let _ = to.write_all(format!("{line}\n").as_bytes()).and_then(|()| to.flush());
}
