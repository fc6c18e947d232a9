//! Opens the file, checkpoints its journal, and retries while it is locked.

use std::{
    fs::{DirBuilder, OpenOptions, Permissions},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use hookbox_sandbox::private::{self, Folder};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, config::DbConfig};
use rustix::fs::{FileType, OFlags};

use super::{
    StateError,
    error::Error,
    table::{SCHEMA, SCHEMA_VERSION},
};

pub(super) fn open(file: &Path) -> Result<Connection, Error> {
    // A bare file name is in the current folder.
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    if !folder.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // The umask may have removed permissions.
        std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    let private = || {
        Folder::open(folder)?;
        // SQLite gives its own files beside it the same mode. Opening must not block if the path is a pipe.
        let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
        let file = OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(file)?;
        private::check(&file, FileType::RegularFile)
    };
    // Only the user may access the file, because it holds the state of hooks.
    private().map_err(|why| StateError::Unavailable(why.to_string()))?;
    let mut connection =
        Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // `patiently` does the waiting.
    connection.busy_timeout(Duration::ZERO)?;
    // No checkpoint on close: with one process per event, it would cost an fsync per event.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // After a checkpoint, the journal file shrinks to this size.
    connection.pragma_update(None, "journal_size_limit", JOURNAL_BYTES)?;
    if version(&connection)? < SCHEMA_VERSION {
        let transaction = begin(&mut connection)?;
        // Another process may have upgraded the file in the meantime.
        let steps = usize::try_from(version(&transaction)?).unwrap_or(usize::MAX);
        for step in SCHEMA.iter().skip(steps) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        transaction.commit()?;
    }
    match version(&connection)? {
        SCHEMA_VERSION => Ok(connection),
        other => Err(StateError::Unavailable(format!("unsupported version {other}, expected {SCHEMA_VERSION}")).into()),
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Checkpoints the journal when it has grown. By itself `SQLite` restarts the journal only at a moment without readers
/// and writers, which never comes between busy processes.
pub(super) fn checkpoint(file: &Path, connection: &Connection) -> Result<(), Error> {
    let mut journal = file.as_os_str().to_owned();
    journal.push("-wal");
    let bytes = std::fs::metadata(journal).map_or(0, |journal| journal.len());
    if bytes <= JOURNAL_BYTES {
        return Ok(());
    }
    let busy = match connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)) {
        Ok(busy) => busy != 0,
        Err(error) if is_busy(&error) => true,
        Err(error) => return Err(error.into()),
    };
    if busy && bytes > MAX_JOURNAL_BYTES {
        // Another process uses the journal. That is fine up to a limit; beyond it, this process waits.
        let waits = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(waits, Some("its journal is full".into())).into());
    }
    Ok(())
}

/// The size from which the journal is checkpointed, in bytes.
const JOURNAL_BYTES: u64 = 4 << 20;
/// The size from which writers wait for a checkpoint, in bytes.
const MAX_JOURNAL_BYTES: u64 = 32 << 20;

/// Retries an operation until the deadline while another process has locked the file. The pauses are short and random.
/// `SQLite`'s own pauses grow to 100 ms, so that with fifty writers some never get the lock.
pub(super) fn patiently<T>(deadline: Instant, mut operation: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let mut pause = Duration::from_micros(100);
    loop {
        match operation() {
            Err(Error::Sqlite(error)) if is_busy(&error) => {
                if Instant::now() >= deadline {
                    return Err(error.into());
                }
                thread::sleep(pause + uneven(pause));
                pause = (pause * 2).min(Duration::from_millis(4));
            }
            done => return done,
        }
    }
}

/// A duration from 0 to `pause` that varies between processes.
fn uneven(pause: Duration) -> Duration {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
    pause * (nanos.wrapping_add(std::process::id().wrapping_mul(7919)) % 1000) / 1000
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Starts a transaction with the write lock, so that no other process writes between its reads and its writes.
pub(super) fn begin(connection: &mut Connection) -> Result<Transaction<'_>, Error> {
    Ok(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
}
