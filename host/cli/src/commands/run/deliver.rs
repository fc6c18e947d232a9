//! Writes the verdict for the client: completely or not at all, and in time.

use std::{
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::MetadataExt,
    },
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow};
use rustix::{fs::FileType, io::Errno};

use crate::print::write_in_time;

/// Prints the verdict completely or not at all. Waits for its reader until `due`.
///
/// # Errors
/// The client does not get the verdict: stdout is full, not read, or (only with `must_arrive`) closed or `/dev/null`.
pub(super) fn deliver(verdict: &str, due: Option<Instant>, must_arrive: bool) -> anyhow::Result<()> {
    if !verdict.is_empty() {
        print(format!("{verdict}\n").into_bytes(), due)?;
        if must_arrive && is_lost() {
            return Err(anyhow!("stdout is closed, or is /dev/null"));
        }
    }
    close();
    Ok(())
}

/// Closes stdout, so that its reader can finish while stderr may still wait for a reader.
fn close() {
    if let Ok(null) = File::options().write(true).open("/dev/null") {
        // If this fails, stdout closes with the process.
        let _ = rustix::stdio::dup2_stdout(null);
    }
}

/// Returns true if output on stdout is lost. A stdout that was closed at the start is `/dev/null` by now.
fn is_lost() -> bool {
    let Ok(stdout) = rustix::fs::fstat(std::io::stdout()) else { return false };
    FileType::from_raw_mode(stdout.st_mode).is_char_device()
        && std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == stdout.st_rdev)
}

/// The time for a client to read its verdict if its timeout is unknown.
const READING: Duration = Duration::from_secs(30);

/// Writes on a separate thread, because a client that does not read blocks the write.
fn print(wire: Vec<u8>, due: Option<Instant>) -> anyhow::Result<()> {
    let wire = Arc::new(wire);
    let (send, done) = mpsc::channel();
    let written = Arc::clone(&wire);
    let writing = thread::Builder::new().spawn(move || send.send(Stdout.write_all(&written)));
    let left = due.map_or(READING, |due| due.saturating_duration_since(Instant::now())).max(LEAST_READING);
    let written = if writing.is_ok() {
        done.recv_timeout(left).unwrap_or_else(|_| Err(io::Error::other("the client does not read it")))
    } else {
        write_in_time(&mut Stdout, &wire, left)
    };
    written.context("cannot write the verdict to stdout")
}

/// Stdout without the standard library, which ignores that it is not open for writing.
struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(io::stdout(), bytes) {
                // A stdout that does not wait for its reader.
                Err(Errno::AGAIN) => thread::sleep(Duration::from_millis(1)),
                written => return Ok(written?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Stdout {
    fn as_fd(&self) -> BorrowedFd<'_> {
        rustix::stdio::stdout()
    }
}

/// The minimum time for a client to read, even for a late verdict.
const LEAST_READING: Duration = Duration::from_millis(100);
