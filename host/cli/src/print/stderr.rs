//! Lines on stderr. They can be held until the verdict is known.

use std::{
    fmt::Display,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};

use super::{
    escape::{json_text, plain, safe_json},
    queue,
};

/// Prints a line on stderr that is safe for a terminal already.
pub fn safe_err(line: &str) {
    print(line.to_owned());
}

/// Prints one line for the user on stderr. Under [`json_only`], as the `message` of a JSON object.
pub fn err(line: impl Display) {
    if is_json() { json_line(&json!({ "message": line.to_string() })) } else { print(plain(&line.to_string())) }
}

/// Prints the reason of a block on stderr. The client passes it to the model, so it comes first and is plain text.
pub fn block(line: impl Display) {
    let line = plain(&line.to_string());
    match &mut *held() {
        Some(lines) => lines.insert(0, line),
        None => queue::write(&line),
    }
}

/// Prints the feedback for the model on stderr. Drops all held lines.
pub fn feedback(text: &str) {
    forget();
    let lines: Vec<String> = text.split('\n').map(plain).collect();
    queue::write(&lines.join("\n"));
}

/// Prints a JSON value on one line on stderr.
pub fn json_line(value: &Value) {
    print(json_text(value));
}

/// Prints a JSON text on stderr.
pub(super) fn raw_json(text: &str) {
    print(safe_json(text));
}

/// The held lines for stderr. `None`: lines are written at once.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<Vec<String>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds lines for stderr until [`release`] or [`forget`].
pub fn hold() {
    *held() = Some(Vec::new());
}

/// Writes the held lines. Later lines are written at once.
pub fn release() {
    let lines = held().take().unwrap_or_default();
    for line in lines {
        queue::write(&line);
    }
}

/// Drops the held lines. Later lines are written at once.
pub fn forget() {
    *held() = None;
}

fn print(line: String) {
    match &mut *held() {
        Some(lines) => lines.push(line),
        None => queue::write(&line),
    }
}

/// True if every line on stderr must be a JSON object, and stdout has no lines for people.
static JSON_ONLY: AtomicBool = AtomicBool::new(false);

/// Makes every further line on stderr a JSON object, and drops further lines for people on stdout.
pub fn json_only() {
    JSON_ONLY.store(true, Ordering::Relaxed);
}

/// Returns true if [`json_only`] was called.
pub fn is_json() -> bool {
    JSON_ONLY.load(Ordering::Relaxed)
}
