//! All output except the verdict itself.
//!
//! Names, reasons, paths and errors come from untrusted components, events and configurations, and a terminal
//! interprets control characters. So every line is escaped as a whole: untrusted text cannot start a line, move the
//! cursor or change the direction of text. A line that cannot be written (a closed pipe, a full disk) is lost without
//! further effects.

mod escape;
mod line;
mod log;
mod queue;
mod stderr;

use std::{fmt::Display, io};

use hookbox::config::Diagnostic;
use serde_json::Value;

pub use self::{
    escape::{is_unsafe, json_text, name, plain, quoted},
    log::{JSON_LOG, TEXT_LOG},
    queue::{due, flush, is_for_client, never_wait, start as queue_stderr, write_in_time},
    stderr::{block, err, feedback, forget, hold, is_json, json_line, json_only, release, safe_err},
};
use crate::terminal::{self, Tone};

/// Prints one line for the caller on stdout, and nothing under [`json_only`]. Not for `run`, whose stdout is only for the
/// verdict.
pub fn out(line: impl Display) {
    if is_json() {
        return;
    }
    line::write(io::stdout().lock(), &plain(&line.to_string()));
}

/// Prints a line of a table on stdout. On a terminal that is too narrow it is continued below column `hang`.
pub fn row(hang: usize, line: impl Display) {
    if is_json() {
        return;
    }
    let line = plain(&line.to_string());
    match terminal::width() {
        Some(width) => {
            for line in terminal::wrap(&line, hang, width) {
                line::write(io::stdout().lock(), &line);
            }
        }
        None => line::write(io::stdout().lock(), &line),
    }
}

/// Prints a line on stdout that starts with a coloured word.
pub fn marked(tone: Tone, word: &str, rest: impl Display) {
    let word = terminal::word(word, tone, terminal::stdout_has_colours());
    line::write(io::stdout().lock(), &format!("{word}{}", plain(&rest.to_string())));
}

/// Prints JSON for programs on stdout.
pub fn json(value: &Value) {
    line::write(io::stdout().lock(), &json_text(value));
}

/// Prints the result of a command as JSON on stdout under [`json_only`], and otherwise nothing.
pub fn result(value: &Value) {
    if is_json() {
        json(value);
    }
}

/// Prints a line on stdout that is safe for a terminal already, and nothing under [`json_only`].
pub fn safe_out(line: &str) {
    if is_json() {
        return;
    }
    line::write(io::stdout().lock(), line);
}

/// Prints a trusted text with its line breaks on stdout.
pub fn text(text: impl Display) {
    line::write(io::stdout().lock(), &text.to_string());
}

/// The lines of a diagnostic: the message, the location, the advice.
pub fn lines(diagnostic: &Diagnostic) -> Vec<String> {
    let Diagnostic { message, file, pointer, line, help, .. } = diagnostic;
    let pointer = if pointer.is_empty() { String::new() } else { format!("  {pointer}") };
    let line = line.map(|line| format!("   (line {line})")).unwrap_or_default();
    let place = format!("   {}{pointer}{line}", file.display());
    let help = help.iter().map(|help| format!("   {help}"));
    [format!("{}: {message}", severity(diagnostic)), place].into_iter().chain(help).collect()
}

/// The severity as a word: `error` or `warning`.
pub fn severity(diagnostic: &Diagnostic) -> &'static str {
    if diagnostic.is_error() { "error" } else { "warning" }
}
