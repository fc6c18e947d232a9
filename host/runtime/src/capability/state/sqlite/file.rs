//! Opening the file, and taking turns on it.

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
    // The folder of a bare name is this one.
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    if !folder.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // Whatever the umask took away.
        std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    let private = || {
        Folder::open(folder)?;
        // The files SQLite puts beside it get the same mode. A pipe in its place must not be waited for.
        let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
        let file = OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(file)?;
        private::check(&file, FileType::RegularFile)
    };
    // What decides what hooks remember is the user's alone.
    private().map_err(|why| StateError::Unavailable(why.to_string()))?;
    let mut connection =
        Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Waiting is `patiently`'s work.
    connection.busy_timeout(Duration::ZERO)?;
    // A process that ends need not tidy up: with one process per event, that would be an fsync per event.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // The journal's file gives back what it once needed.
    connection.pragma_update(None, "journal_size_limit", JOURNAL_BYTES)?;
    if version(&connection)? < SCHEMA_VERSION {
        let transaction = begin(&mut connection)?;
        // Another process may have been faster.
        let steps = usize::try_from(version(&transaction)?).unwrap_or(usize::MAX);
        for step in SCHEMA.iter().skip(steps) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        transaction.commit()?;
    }
    match version(&connection)? {
        SCHEMA_VERSION => Ok(connection),
        other => Err(StateError::Unavailable(format!("its version {other} is not ours, {SCHEMA_VERSION}")).into()),
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Writes the journal back into the file when it has grown: by itself it only begins anew at a moment when nobody reads or
/// writes, which between busy processes never comes.
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
        // Somebody else is at work on it. A while that is no harm; beyond that, one waits for the other.
        let waits = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(waits, Some("its journal is full".into())).into());
    }
    Ok(())
}

/// From so many bytes on the journal is written back.
const JOURNAL_BYTES: u64 = 4 << 20;
/// No write begins while the journal has more.
const MAX_JOURNAL_BYTES: u64 = 32 << 20;

/// Tries again while another process holds the file, until the deadline. The pauses are short and uneven: `SQLite`'s
/// own grow to 100 ms, and with fifty writers some never get their turn.
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

/// Something between nothing and `pause`, different in every process.
fn uneven(pause: Duration) -> Duration {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
    pause * (nanos.wrapping_add(std::process::id().wrapping_mul(7919)) % 1000) / 1000
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Takes the writer's place before reading, so that nobody writes between what is read and what is written.
pub(super) fn begin(connection: &mut Connection) -> Result<Transaction<'_>, Error> {
    Ok(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
}
