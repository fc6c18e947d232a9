//! All output except the verdict itself.
//!
//! Names, reasons, paths and errors come from untrusted components, events and configurations, and a terminal
//! interprets control characters. So every line is escaped as a whole: untrusted text cannot start a line, move the
//! cursor or change the direction of text. A line that cannot be written (a closed pipe, a full disk) is lost without
//! further effects.

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

use crate::terminal::{self, Tone};

/// Prints one line for the caller on stdout. Not for `run`, whose stdout is only for the verdict.
pub fn out(line: impl Display) {
    write(io::stdout().lock(), &plain(&line.to_string()));
}

/// Prints a line of a table on stdout. On a terminal that is too narrow it is continued below column `hang`.
pub fn row(hang: usize, line: impl Display) {
    let line = plain(&line.to_string());
    match terminal::width() {
        Some(width) => {
            for line in terminal::wrap(&line, hang, width) {
                write(io::stdout().lock(), &line);
            }
        }
        None => write(io::stdout().lock(), &line),
    }
}

/// Prints a line on stdout that starts with a coloured word.
pub fn marked(tone: Tone, word: &str, rest: impl Display) {
    let word = terminal::word(word, tone, terminal::stdout_has_colours());
    write(io::stdout().lock(), &format!("{word}{}", plain(&rest.to_string())));
}

/// Prints JSON for programs on stdout.
pub fn json(value: &Value) {
    write(io::stdout().lock(), &json_text(value));
}

/// Prints a line on stdout that is safe for a terminal already.
pub fn safe_out(line: &str) {
    write(io::stdout().lock(), line);
}

/// Prints a line on stderr that is safe for a terminal already.
pub fn safe_err(line: &str) {
    to_stderr(line.to_owned());
}

/// Prints one line for the user on stderr. Under [`json_only`], as the `message` of a JSON object.
pub fn err(line: impl Display) {
    if is_json() { json_line(&json!({ "message": line.to_string() })) } else { to_stderr(plain(&line.to_string())) }
}

/// Prints the reason of a block on stderr. The client passes it to the model, so it comes first and is plain text.
pub fn block(line: impl Display) {
    let line = plain(&line.to_string());
    match &mut *held() {
        Some(lines) => lines.insert(0, line),
        None => write_stderr(&line),
    }
}

/// Prints the feedback for the model on stderr. Drops all held lines.
pub fn feedback(text: &str) {
    forget();
    let lines: Vec<String> = text.split('\n').map(plain).collect();
    write_stderr(&lines.join("\n"));
}

/// Prints a JSON value on one line on stderr.
pub fn json_line(value: &Value) {
    to_stderr(json_text(value));
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
        write_stderr(&line);
    }
}

/// Drops the held lines. Later lines are written at once.
pub fn forget() {
    *held() = None;
}

fn to_stderr(line: String) {
    match &mut *held() {
        Some(lines) => lines.push(line),
        None => write_stderr(&line),
    }
}

/// Writes to stderr. Uses the queue if this process must not wait for the reader.
fn write_stderr(line: &str) {
    let queued = LAZY.load(Ordering::Relaxed).then(|| LOG.get_or_init(|| hookbox_server::Log::start().ok()));
    match queued.or_else(|| LOG.get()) {
        Some(Some(log)) => log.line(line),
        // A line that cannot be written is lost.
        Some(None) => drop(write_in_time(&mut io::stderr().lock(), format!("{line}\n").as_bytes(), last_lines())),
        None => write(io::stderr().lock(), line),
    }
}

/// The largest write that never blocks on a pipe that is ready: `PIPE_BUF`, 4 KiB on Linux.
const PART: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// Writes a text without blocking on a reader that does not read, and without a thread.
///
/// # Errors
/// An I/O error, also if the reader does not read in time.
pub fn write_in_time(to: &mut (impl Write + AsFd), text: &[u8], time: Duration) -> io::Result<()> {
    let until = Instant::now().checked_add(time);
    for part in text.chunks(PART) {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        if poll(&mut [PollFd::new(to, PollFlags::OUT)], left.as_ref())? == 0 {
            return Err(io::Error::other("nothing reads it"));
        }
        to.write_all(part)?;
        to.flush()?;
    }
    Ok(())
}

/// The queue for stderr, which does not wait for the reader. The inner `None`: no thread could be started.
static LOG: OnceLock<Option<hookbox_server::Log>> = OnceLock::new();
/// The maximum time to wait for its last lines.
const LAST_LINES: Duration = Duration::from_secs(2);
/// The minimum time for lines after the client's deadline, if the reader reads at once.
const LEAST: Duration = Duration::from_millis(50);
/// True if the queue starts with the first line.
static LAZY: AtomicBool = AtomicBool::new(false);
/// The client's deadline, if known.
static DUE: Mutex<Option<Instant>> = Mutex::new(None);

/// Queues lines for stderr from the first line on, so that this process never waits for their reader.
pub fn never_wait() {
    LAZY.store(true, Ordering::Relaxed);
}

/// Returns true if stderr goes to a client, as under `run` and `stdio`. The client may pass it to the model.
pub fn is_for_client() -> bool {
    LAZY.load(Ordering::Relaxed)
}

/// Limits the wait of [`flush`] by the client's deadline.
pub fn due(at: Option<Instant>) {
    *DUE.lock().unwrap_or_else(PoisonError::into_inner) = at;
}

/// Starts the queue for stderr now.
///
/// # Errors
/// The system cannot start a thread.
pub fn queue() -> io::Result<()> {
    let log = hookbox_server::Log::start()?;
    // There is only one daemon in a process.
    let _ = LOG.set(Some(log));
    Ok(())
}

/// Waits for the queued lines, for a limited time.
pub fn flush() {
    if let Some(Some(log)) = LOG.get() {
        log.flush(last_lines());
    }
}

/// The time for the last lines on stderr.
fn last_lines() -> Duration {
    let due = *DUE.lock().unwrap_or_else(PoisonError::into_inner);
    let left = due.map_or(LAST_LINES, |due| due.saturating_duration_since(Instant::now()));
    left.clamp(LEAST, LAST_LINES)
}

/// True if every line on stderr must be a JSON object.
static JSON_ONLY: AtomicBool = AtomicBool::new(false);

/// Makes every further line on stderr a JSON object.
pub fn json_only() {
    JSON_ONLY.store(true, Ordering::Relaxed);
}

/// Returns true if [`json_only`] was called.
pub fn is_json() -> bool {
    JSON_ONLY.load(Ordering::Relaxed)
}

/// Prints a trusted text with its line breaks on stdout.
pub fn text(text: impl Display) {
    write(io::stdout().lock(), &text.to_string());
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

/// Escapes a text to one line that is safe for a terminal.
pub fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    safe
}

/// A name within a line. Quoted if it could be mistaken for several names or other words.
pub fn name(text: &str) -> String {
    let word = |c: char| c.is_alphanumeric() || ":/@._-+#".contains(c);
    if !text.is_empty() && text.chars().all(word) { text.to_owned() } else { quoted(text) }
}

/// A text in quotes, with quotes in it escaped.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", plain(&text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// JSON that is safe for a terminal. Characters that [`plain`] escapes are escaped as in JSON.
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

/// Returns true for control characters, characters that change the direction of text, and invisible ones.
pub fn is_unsafe(c: char) -> bool {
    let unseen = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || unseen
}

fn write(mut to: impl Write, line: &str) {
    // An error cannot be reported anywhere.
    let _ = to.write_all(format!("{line}\n").as_bytes()).and_then(|()| to.flush());
}

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
        err(String::from_utf8_lossy(event).trim_end());
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
