//! Writes every verdict as a line of JSON to a file or a standard stream. External tools rotate the file; SIGHUP
//! reopens it.

mod chained;

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use hookbox::private::{append, lock};
use serde_json::Value;
use tokio::time::Instant;

use self::chained::Chained;
use crate::{
    console::VerdictRow,
    queue::{Queue, Sink},
    settings::ChainSettings,
};

/// The time to wait for another writer of chained records, such as a daemon that is about to end.
const FREE: Duration = Duration::from_secs(3);

/// The forms in which a record is needed.
#[derive(Debug, Clone, Copy)]
pub struct RecordForms {
    /// As a line for the file.
    pub line: bool,
    /// The verdict for the console.
    pub page: bool,
}

/// A record in the needed forms.
#[derive(Debug, Default)]
pub struct RecordEntry {
    /// The line for the file.
    pub line: Option<String>,
    /// The verdict for the console.
    pub page: Option<Box<VerdictRow>>,
}

impl RecordForms {
    /// Creates a record in the needed forms. Calls `make` only if a form is needed. `seen`
    /// has the parts of the response for the console, if it needs them.
    pub fn entry(self, tenant: &str, seen: Option<VerdictRow>, make: impl FnOnce() -> Value) -> RecordEntry {
        if !self.line && seen.is_none() {
            return RecordEntry::default();
        }
        let mut record = make();
        if let Some(fields) = record.as_object_mut() {
            fields.insert("tenant".into(), tenant.into());
        }
        let line = self.line.then(|| record.to_string());
        let page = seen.map(|seen| Box::new(seen.finish(record)));
        RecordEntry { line, page }
    }
}

/// The writer of records to a file or stream.
#[derive(Debug)]
pub struct Records {
    queue: Queue,
    /// True if a verdict counts only once its record is written.
    required: bool,
}

/// A required record that was not written.
#[derive(Debug, PartialEq, Eq)]
pub struct NotRecorded;

impl Records {
    /// Opens `stdout`, `stderr`, or a file, which is created or appended to. With `chain`, the records are chained.
    ///
    /// # Errors
    /// A file cannot be opened or is not private to the user, or the system cannot start a thread.
    pub fn open(to: &Path, required: bool, chain: Option<&ChainSettings>) -> io::Result<Self> {
        let writer = match to.to_str() {
            Some("stdout") => Writer::Stream(Box::new(io::stdout())),
            Some("stderr") => Writer::Stream(Box::new(io::stderr())),
            _ => Writer::File(to.to_owned(), append(to)?),
        };
        if let (Writer::File(_, file), true) = (&writer, chain.is_some()) {
            only_writer(file, FREE)?;
        }
        let file = matches!(&writer, Writer::File(..)).then_some(to);
        let chain = chain.map(|settings| Chained::open(settings, file)).transpose()?;
        let torn = matches!(&writer, Writer::File(_, file) if is_torn(file));
        let queue = Queue::start("records", Lines { writer, torn, chain })?;
        Ok(Self { queue, required })
    }

    /// Reopens the file, which may have been moved.
    pub fn reopen(&self) {
        self.queue.reopen();
    }

    /// Writes one line. Unless records are required, it only queues the line.
    ///
    /// # Errors
    /// [`NotRecorded`] if records are required and this one was not written in time.
    pub async fn write(&self, line: &str, by: Instant) -> Result<(), NotRecorded> {
        if !self.required {
            self.queue.push(line);
            return Ok(());
        }
        match tokio::time::timeout_at(by, self.queue.confirmed(line)).await {
            Ok(Ok(true)) => Ok(()),
            _ => Err(NotRecorded),
        }
    }

    /// Waits until all records are written and their last head is signed, at most this long.
    pub fn end(&self, at_most: Duration) {
        self.queue.reopen();
        if !self.queue.flush(at_most) {
            tracing::error!("the last records are lost: nothing reads them");
        }
    }
}

/// Returns true if a file ends within a line, because a crash or a full disk cut it.
fn is_torn(mut file: &File) -> bool {
    let mut last = [b'\n'];
    // An empty file has no such place.
    let read = file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last));
    read.is_ok() && last != *b"\n"
}

/// Locks a file of chained records until it is closed: two writers would break its chain.
///
/// # Errors
/// Another process wrote it for this time.
fn only_writer(file: &File, at_most: Duration) -> io::Result<()> {
    let why = "another process writes this file, and two would break its chain; give each its own file";
    if lock(file, at_most)? { Ok(()) } else { Err(io::Error::other(why)) }
}

/// The file that is now at a path. `None` if it is still the old one, which keeps its lock then.
fn reopened(path: &Path, old: &File, chained: bool) -> io::Result<Option<File>> {
    let new = append(path)?;
    let [is, was] = [new.metadata()?, old.metadata()?].map(|meta| (meta.dev(), meta.ino()));
    if is == was {
        return Ok(None);
    }
    if chained {
        only_writer(&new, Duration::ZERO)?;
    }
    Ok(Some(new))
}

struct Lines {
    writer: Writer,
    /// True if the last line is incomplete.
    torn: bool,
    chain: Option<Chained>,
}

enum Writer {
    File(PathBuf, File),
    Stream(Box<dyn Write + Send>),
}

impl Lines {
    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        let to: &mut dyn Write = match &mut self.writer {
            Writer::File(_, file) => file,
            Writer::Stream(stream) => stream,
        };
        // Ends the incomplete line, so that it does not damage the next record.
        let begin: &[u8] = if self.torn { b"\n" } else { b"" };
        let written = to.write_all(&[begin, lines].concat()).and_then(|()| to.flush());
        self.torn = written.is_err();
        written
    }

    /// Writes a record into its chain, or only the line about lost ones. A part of a line is removed again, as far as
    /// the file allows.
    fn chained(&mut self, mut chain: Chained, record: Option<&str>) -> (Chained, io::Result<()>) {
        let end = match &self.writer {
            Writer::File(path, file) => {
                if self.torn
                    && let Err(error) = chain.resume(path)
                {
                    return (chain, Err(error));
                }
                file.metadata().ok().map(|meta| meta.len())
            }
            Writer::Stream(_) => None,
        };
        let next = chain.next(record);
        if next.text.is_empty() {
            return (chain, Ok(()));
        }
        let was_torn = self.torn;
        let written = self.write(next.text.as_bytes());
        match (&written, &self.writer, end) {
            (Ok(()), ..) => chain.written(next),
            (Err(_), Writer::File(_, file), Some(end)) if file.set_len(end).is_ok() => self.torn = was_torn,
            _ => {}
        }
        (chain, written)
    }
}

impl Sink for Lines {
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let Some(chain) = self.chain.take() else { return self.write(line) };
        let record = String::from_utf8_lossy(line);
        let (chain, written) = self.chained(chain, Some(record.trim_end()));
        self.chain = Some(chain);
        written
    }

    fn reopen(&mut self) {
        if let Some(chain) = self.chain.take() {
            let (mut chain, _) = self.chained(chain, None);
            chain.sign();
            self.chain = Some(chain);
        }
        let Writer::File(path, file) = &mut self.writer else { return };
        match reopened(path, file, self.chain.is_some()) {
            Ok(None) => {}
            Ok(Some(new)) => (self.torn, *file) = (is_torn(&new), new),
            Err(error) => return tracing::error!("records: {}: {error}", path.display()),
        }
        if let Some(Err(error)) = self.chain.as_mut().map(|chain| chain.resume(path)) {
            tracing::error!("records: {}: {error}", path.display());
        }
    }

    fn lost(&mut self, first: bool, why: &str) {
        metrics::counter!("hookbox_records_lost_total").increment(1);
        self.chain.iter_mut().for_each(Chained::lost);
        if first {
            tracing::error!("verdicts are not recorded: {why}");
        }
    }

    fn recovered(&mut self, lost: u64) {
        tracing::error!("verdicts are recorded again; {lost} were not");
    }
}
