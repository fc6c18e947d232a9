//! Writes records to a file on a separate thread, so that a blocked file does not delay requests.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
    time::Duration,
};

use hookbox::Record;

use super::super::run::append;
use crate::report;

/// The capacity of the queue. Further records are lost and counted.
const WAITING: usize = 1024;
/// The maximum time to wait for the last records.
const LAST: Duration = Duration::from_secs(1);

/// Records that were lost.
#[derive(Default)]
struct Lost {
    /// All of them.
    total: AtomicU64,
    /// Those that no chained line counts yet.
    uncounted: AtomicU64,
}

/// Appends records to a file.
pub(super) struct Recorder {
    records: Mutex<Option<SyncSender<Record>>>,
    written: Mutex<Receiver<()>>,
    lost: Arc<Lost>,
}

impl Recorder {
    /// Starts the writing thread. `chain` begins a chain in a new file.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(super) fn start(path: PathBuf, chain: bool) -> io::Result<Self> {
        let (records, waiting) = mpsc::sync_channel::<Record>(WAITING);
        let (done, written) = mpsc::channel();
        let lost = Arc::new(Lost::default());
        let counted = Arc::clone(&lost);
        thread::Builder::new().name("records".into()).spawn(move || {
            let mut failed = false;
            for record in waiting {
                let lost = counted.uncounted.swap(0, Ordering::Relaxed);
                let appended = append(&path, &record, chain, lost);
                if appended.is_err() {
                    counted.uncounted.fetch_add(lost + 1, Ordering::Relaxed);
                }
                if let (Err(error), false) = (&appended, failed) {
                    report::error(error);
                }
                // Only the first of consecutive errors is printed.
                failed = appended.is_err();
            }
            drop(done);
        })?;
        Ok(Self { records: Mutex::new(Some(records)), written: Mutex::new(written), lost })
    }

    /// Queues a record. It is lost if the queue is full.
    pub(super) fn add(&self, record: Record) {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if records.as_ref().is_some_and(|records| records.try_send(record).is_err()) {
            self.lost.uncounted.fetch_add(1, Ordering::Relaxed);
            let lost = self.lost.total.fetch_add(1, Ordering::Relaxed) + 1;
            if lost.is_power_of_two() {
                crate::print::err(format_args!("hookbox: {lost} records lost so far: writing them is too slow"));
            }
        }
    }

    /// Waits for the queued records, for a limited time.
    pub(super) fn end(&self) {
        drop(self.records.lock().unwrap_or_else(PoisonError::into_inner).take());
        // The thread drops the sender when it is done, so an error is expected.
        let _ = self.written.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LAST);
    }
}
