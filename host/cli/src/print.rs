//! The one place that prints, but for the verdict itself.
//!
//! Names, reasons, paths and errors come from components, events and configurations of anybody, and a terminal obeys what
//! it is sent. So every line is escaped as a whole: what is not ours cannot begin a line, move the cursor or turn the
//! text around. And a line that cannot be written (a closed pipe, a full disk) is lost, and nothing else with it.

use std::{
    fmt::{Display, Write as _},
    io::{self, Write},
    os::fd::AsFd,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use hookbox::config::Diagnostic;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

/// One line for whoever called us, on stdout. Not under `run`, where stdout is the verdict's.
pub fn out(line: impl Display) {
    write(io::stdout().lock(), &plain(&line.to_string()));
}

/// One line for people, on stderr; under [`json_only`] the `message` of an object.
pub fn err(line: impl Display) {
    if is_json() { json_line(&json!({ "message": line.to_string() })) } else { to_stderr(plain(&line.to_string())) }
}

/// Why the client has to block, on stderr: it gives what it reads there to the model, so this stands first and stays text.
pub fn block(line: impl Display) {
    let line = plain(&line.to_string());
    match &mut *held() {
        Some(lines) => lines.insert(0, line),
        None => write_stderr(&line),
    }
}

/// What the model is told by stderr, and nothing beside it: lines that wait are dropped.
pub fn feedback(text: &str) {
    forget();
    let lines: Vec<String> = text.split('\n').map(plain).collect();
    write_stderr(&lines.join("\n"));
}

/// One JSON value on a line of its own, on stderr.
pub fn json_line(value: &Value) {
    to_stderr(json_text(value));
}

/// Lines for stderr that wait; `None`: no line waits.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<Vec<String>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on lines for stderr wait for [`release`] or [`forget`].
pub fn hold() {
    *held() = Some(Vec::new());
}

/// Writes the lines that wait, and from now on every line at once.
pub fn release() {
    let lines = held().take().unwrap_or_default();
    for line in lines {
        write_stderr(&line);
    }
}

/// Drops the lines that wait; later ones are written at once.
pub fn forget() {
    *held() = None;
}

fn to_stderr(line: String) {
    match &mut *held() {
        Some(lines) => lines.push(line),
        None => write_stderr(&line),
    }
}

/// Writes to stderr: through a queue where this process must not wait for its reader.
fn write_stderr(line: &str) {
    let queued = LAZY.load(Ordering::Relaxed).then(|| LOG.get_or_init(|| hookbox_server::Log::start().ok()));
    match queued.or_else(|| LOG.get()) {
        Some(Some(log)) => log.line(line),
        // A line that cannot be written is lost.
        Some(None) => drop(write_in_time(&mut io::stderr().lock(), format!("{line}\n").as_bytes(), last_lines())),
        None => write(io::stderr().lock(), line),
    }
}

/// The largest part of a text that a pipe which can be written takes without waiting: `PIPE_BUF` of Linux.
const PART: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// Writes a text whose reader may not read, without a thread.
///
/// # Errors
/// Also where the reader does not read in time.
pub fn write_in_time(to: &mut (impl Write + AsFd), text: &[u8], time: Duration) -> io::Result<()> {
    let until = Instant::now().checked_add(time);
    for part in text.chunks(PART) {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        if poll(&mut [PollFd::new(to, PollFlags::OUT)], left.as_ref())? == 0 {
            return Err(io::Error::other("its reader does not read it"));
        }
        to.write_all(part)?;
        to.flush()?;
    }
    Ok(())
}

/// The queue in front of stderr, which waits for no reader. `None` in it: there is no thread to be had.
static LOG: OnceLock<Option<hookbox_server::Log>> = OnceLock::new();
/// Bounds the wait for the last lines of it.
const LAST_LINES: Duration = Duration::from_secs(2);
/// Time for lines that a reader takes at once, where the client waits no longer.
const LEAST: Duration = Duration::from_millis(50);
/// The queue starts with the first line.
static LAZY: AtomicBool = AtomicBool::new(false);
/// The end of the client's patience, if it is known.
static DUE: Mutex<Option<Instant>> = Mutex::new(None);

/// Sends lines for stderr through a queue from the first line on, so that nothing waits for a reader of stderr.
pub fn never_wait() {
    LAZY.store(true, Ordering::Relaxed);
}

/// Bounds the wait of [`flush`] by the client's patience.
pub fn due(at: Option<Instant>) {
    *DUE.lock().unwrap_or_else(PoisonError::into_inner) = at;
}

/// Sends every line for stderr through a queue from now on.
///
/// # Errors
/// There is no thread to be had.
pub fn queue() -> io::Result<()> {
    let log = hookbox_server::Log::start()?;
    // There is one daemon in a process.
    let _ = LOG.set(Some(log));
    Ok(())
}

/// Waits for the lines that are queued, for a bounded time.
pub fn flush() {
    if let Some(Some(log)) = LOG.get() {
        log.flush(last_lines());
    }
}

/// Time for lines on stderr.
fn last_lines() -> Duration {
    let due = *DUE.lock().unwrap_or_else(PoisonError::into_inner);
    let left = due.map_or(LAST_LINES, |due| due.saturating_duration_since(Instant::now()));
    left.clamp(LEAST, LAST_LINES)
}

/// Whether whoever asked for JSON reads stderr.
static JSON_ONLY: AtomicBool = AtomicBool::new(false);

/// From now on every line on stderr is a JSON object.
pub fn json_only() {
    JSON_ONLY.store(true, Ordering::Relaxed);
}

/// Whether [`json_only`] holds.
pub fn is_json() -> bool {
    JSON_ONLY.load(Ordering::Relaxed)
}

/// A text of our own, line breaks and all, on stdout.
pub fn text(text: impl Display) {
    write(io::stdout().lock(), &text.to_string());
}

/// A diagnostic's lines: what is wrong, where, what to do.
pub fn lines(diagnostic: &Diagnostic) -> Vec<String> {
    let Diagnostic { message, file, pointer, line, help, .. } = diagnostic;
    let pointer = if pointer.is_empty() { String::new() } else { format!("  {pointer}") };
    let line = line.map(|line| format!("   (line {line})")).unwrap_or_default();
    let place = format!("   {}{pointer}{line}", file.display());
    let help = help.iter().map(|help| format!("   {help}"));
    [format!("{}: {message}", severity(diagnostic)), place].into_iter().chain(help).collect()
}

/// `error` or `warning`.
pub fn severity(diagnostic: &Diagnostic) -> &'static str {
    if diagnostic.is_error() { "error" } else { "warning" }
}

/// A text on one line, safe for a terminal.
pub fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    safe
}

/// A name among others on a line. One that could be taken for more than one name, or for words of ours, is in quotes.
pub fn name(text: &str) -> String {
    let word = |c: char| c.is_alphanumeric() || ":/@._-+#".contains(c);
    if !text.is_empty() && text.chars().all(word) { text.to_owned() } else { quoted(text) }
}

/// A text in quotes, which nothing in it can end.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", plain(&text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// JSON that a terminal can be shown: what JSON lets stand in strings and [`plain`] does not is escaped as JSON has it.
pub fn json_text(value: &Value) -> String {
    safe_json(&value.to_string())
}

fn safe_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// What a terminal obeys, what turns the text around it, and what nobody can see.
fn is_unsafe(c: char) -> bool {
    let unseen = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || unseen
}

fn write(mut to: impl Write, line: &str) {
    // Nobody is left to be told.
    let _ = to.write_all(format!("{line}\n").as_bytes()).and_then(|()| to.flush());
}

/// What logs are written with: an event of the log is a line, whatever its fields hold.
#[derive(Debug, Clone, Copy)]
pub struct Log;

impl MakeWriter<'_> for Log {
    type Writer = Self;
    fn make_writer(&self) -> Self {
        Self
    }
}

impl Write for Log {
    /// Gets one event at a time, with the line break behind it.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        err(String::from_utf8_lossy(event).trim_end());
        Ok(event.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a log of JSON objects is written with.
#[derive(Debug, Clone, Copy)]
pub struct JsonLog;

impl MakeWriter<'_> for JsonLog {
    type Writer = Self;
    fn make_writer(&self) -> Self {
        Self
    }
}

impl Write for JsonLog {
    /// Gets one object at a time, with the line break behind it.
    fn write(&mut self, object: &[u8]) -> io::Result<usize> {
        to_stderr(safe_json(String::from_utf8_lossy(object).trim_end()));
        Ok(object.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{json_text, name, plain};

    #[test]
    fn nothing_moves_the_cursor_or_begins_a_line() {
        assert_eq!(plain("a\x1b[2J\r\nrefused  —"), r"a\u{1b}[2J\r\nrefused  —");
        assert_eq!(
            plain("\u{9b}1m \u{202e}drow \u{2066} \u{2028} \u{7f}"),
            r"\u{9b}1m \u{202e}drow \u{2066} \u{2028} \u{7f}"
        );
        assert_eq!(plain("多 é 👩‍🚀"), "多 é 👩‍🚀");
    }

    #[test]
    fn a_name_is_one_name() {
        assert_eq!(name("wasi:io/poll@0.2.0"), "wasi:io/poll@0.2.0");
        assert_eq!(name("a, b"), r#""a, b""#);
        assert_eq!(name("a\" \\\n"), r#""a\" \\\n""#);
        assert_eq!(name(""), r#""""#);
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = json!({ "a\u{7f}": "\u{1b}[0m \u{202e} \u{e0041} \n é" });
        let text = json_text(&value);
        assert_eq!(text, r#"{"a\u007f":"\u001b[0m \u202e \udb40\udc41 \n é"}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
    }
}
