//! Records of verdicts in a file that several processes append to at once.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use hookbox::{Record, private::append as append_to};
use rustix::fs::{FlockOperation, flock};

/// Time for another process to write its record.
const RECORDING: Duration = Duration::from_secs(2);

/// Appends one line with one write while no other process appends to the file, so that lines never mix, and takes back what
/// could not be written whole.
pub fn append(path: &Path, record: &Record) -> anyhow::Result<()> {
    let line = serde_json::to_string(record).context("the record cannot be written as JSON")?;
    let written = || {
        // What hooks said and what tools were asked to do is the user's alone, and goes where the user says.
        let mut file = append_to(path)?;
        lock(&file)?;
        let end = file.metadata()?.len();
        let begin = if ends_in_a_line(&mut file)? { "" } else { "\n" };
        file.write_all(format!("{begin}{line}\n").as_bytes()).inspect_err(|_| {
            // The next record begins a line of its own where this fails.
            let _ = file.set_len(end);
        })
    };
    written().with_context(|| format!("cannot write the record to {}", path.display()))
}

/// Waits for the lock of a file, which goes with its descriptor.
fn lock(file: &File) -> io::Result<()> {
    let began = Instant::now();
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) if began.elapsed() < RECORDING => {
                thread::sleep(Duration::from_millis(1));
            }
            // Some file systems have no locks: one write is whole there too, nearly always.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOLCK) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(io::Error::other("another process holds it")),
            locked => return Ok(locked?),
        }
    }
}

/// True for a file that can be written on after its end: false when a full disk or a crash cut its last line.
fn ends_in_a_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
