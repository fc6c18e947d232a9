//! Appends records of verdicts to a file that several processes may use at once, chained if the file is.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    time::Duration,
};

use anyhow::Context;
use hookbox::{
    Record,
    chain::Chain,
    private::{append as append_to, lock},
};

/// The time to wait for another process that writes its record.
const RECORDING: Duration = Duration::from_secs(2);

/// Appends one line in a single write, under a lock, so that lines never mix. Removes a line that could not be written
/// completely. The line is chained if `chain` is set or the file has a chain; then a line before it says how many
/// records were `lost`.
pub fn append(path: &Path, record: &Record, chain: bool, lost: u64) -> anyhow::Result<()> {
    let line = serde_json::to_string(record).context("the record cannot be written as JSON")?;
    let written = || {
        // Hooks' outputs and tool calls are the user's private data, so the file must be the user's own.
        let mut file = append_to(path)?;
        if !lock(&file, RECORDING)? {
            return Err(io::Error::other("another process writes it"));
        }
        let end = file.metadata()?.len();
        let begin = if ends_in_a_line(&mut file)? { "" } else { "\n" };
        let chained = Chain::resume(&mut file)?.or_else(|| chain.then(Chain::default)).map(|mut chain| {
            let lost = if lost > 0 { chain.lost(lost) + "\n" } else { String::new() };
            lost + &chain.link(&line)
        });
        let line = chained.as_ref().unwrap_or(&line);
        file.write_all(format!("{begin}{line}\n").as_bytes()).inspect_err(|_| {
            // If this fails too, the next record starts on a new line.
            let _ = file.set_len(end);
        })
    };
    written().with_context(|| format!("cannot write the record to {}", path.display()))
}

/// Returns true if the file is empty or ends with a newline. A full disk or a crash may have cut the last line.
fn ends_in_a_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
