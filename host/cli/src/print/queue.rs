//! Writes to stderr, without waiting for a reader that does not read.

use std::{
    io::{self, Write},
    os::fd::AsFd,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::line;

/// Writes a line to stderr. Uses the queue if this process must not wait for the reader.
pub(super) fn write(line: &str) {
    let queued = LAZY.load(Ordering::Relaxed).then(|| LOG.get_or_init(|| hookbox_server::Log::start().ok()));
    match queued.or_else(|| LOG.get()) {
        Some(Some(log)) => log.line(line),
        // A line that cannot be written is lost.
        Some(None) => drop(write_in_time(&mut io::stderr().lock(), format!("{line}\n").as_bytes(), last_lines())),
        None => line::write(io::stderr().lock(), line),
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
pub fn start() -> io::Result<()> {
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
