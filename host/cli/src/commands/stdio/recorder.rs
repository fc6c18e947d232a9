//! Records on their way to a file, on a thread of their own: a file that cannot be written holds up no request.

use std::{
    io,
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
    time::Duration,
};

use hookbox::Record;

use super::super::run::append;
use crate::report;

/// Records that wait at most; one more is lost and counted.
const WAITING: usize = 1024;
/// Bounds the wait for the last records.
const LAST: Duration = Duration::from_secs(1);

/// Appends records to a file.
pub(super) struct Recorder {
    records: Mutex<Option<SyncSender<Record>>>,
    written: Mutex<Receiver<()>>,
    lost: AtomicU64,
}

impl Recorder {
    /// Starts the thread that writes.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub(super) fn start(path: PathBuf) -> io::Result<Self> {
        let (records, waiting) = mpsc::sync_channel::<Record>(WAITING);
        let (done, written) = mpsc::channel();
        thread::Builder::new().name("records".into()).spawn(move || {
            let mut failed = false;
            for record in waiting {
                let appended = append(&path, &record);
                if let (Err(error), false) = (&appended, failed) {
                    report::error(error);
                }
                // One message for as long as the file cannot be written.
                failed = appended.is_err();
            }
            drop(done);
        })?;
        Ok(Self { records: Mutex::new(Some(records)), written: Mutex::new(written), lost: AtomicU64::new(0) })
    }

    /// Adds a record. It is lost where there is no room.
    pub(super) fn add(&self, record: Record) {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if records.as_ref().is_some_and(|records| records.try_send(record).is_err()) {
            let lost = self.lost.fetch_add(1, Ordering::Relaxed) + 1;
            if lost.is_power_of_two() {
                crate::print::err(format_args!(
                    "hookbox: {lost} records are lost so far: they are not written as fast as they come"
                ));
            }
        }
    }

    /// Waits for the records that were added, for a bounded time.
    pub(super) fn end(&self) {
        drop(self.records.lock().unwrap_or_else(PoisonError::into_inner).take());
        // It ends by being closed.
        let _ = self.written.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LAST);
    }
}
