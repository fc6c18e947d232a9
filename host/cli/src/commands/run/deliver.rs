//! The verdict on its way to the client: written whole or not at all, and in time.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::fs::MetadataExt,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow};
use rustix::fs::FileType;

use crate::print::write_in_time;

/// Prints the verdict whole or not at all, and waits for its reader until `due`.
///
/// # Errors
/// The client does not get it: stdout is closed or `/dev/null` (`must_arrive` only), full, or not read.
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

/// Ends stdout, so that its reader has all of it while stderr may still wait for a reader.
fn close() {
    if let Ok(null) = File::options().write(true).open("/dev/null") {
        // It ends with the process otherwise.
        let _ = rustix::stdio::dup2_stdout(null);
    }
}

/// True where what is written to stdout is lost: a stdout that was closed at the start is `/dev/null` by now.
fn is_lost() -> bool {
    let Ok(stdout) = rustix::fs::fstat(std::io::stdout()) else { return false };
    FileType::from_raw_mode(stdout.st_mode).is_char_device()
        && std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == stdout.st_rdev)
}

/// Time for a client to read its verdict, where nothing says how long it waits.
const READING: Duration = Duration::from_secs(30);

/// Writes on a thread of its own, because a client that does not read blocks it.
fn print(wire: Vec<u8>, due: Option<Instant>) -> anyhow::Result<()> {
    let wire = Arc::new(wire);
    let print = |wire: &[u8]| {
        let mut stdout = io::stdout().lock();
        stdout.write_all(wire).and_then(|()| stdout.flush())
    };
    let (send, done) = mpsc::channel();
    let written = Arc::clone(&wire);
    let writing = thread::Builder::new().spawn(move || send.send(print(&written)));
    let left = due.map_or(READING, |due| due.saturating_duration_since(Instant::now())).max(LEAST_READING);
    let written = if writing.is_ok() {
        done.recv_timeout(left).unwrap_or_else(|_| Err(io::Error::other("the client does not read it")))
    } else {
        write_in_time(&mut io::stdout().lock(), &wire, left)
    };
    written.context("cannot write the verdict to stdout")
}

/// Time for a client that reads, also where the verdict comes late.
const LEAST_READING: Duration = Duration::from_millis(100);
