//! Opening the file, and taking turns on it.

use std::{
    fs::{DirBuilder, OpenOptions, Permissions},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, config::DbConfig};

use super::{
    StateError,
    error::Error,
    table::{SCHEMA, SCHEMA_VERSION},
};
use crate::folders;

/// The state store of hosts that name none: `$XDG_STATE_HOME/hookbox/state.db`, or `~/.local/state/hookbox/state.db`;
/// `None` when there is no home either.
pub fn default_file() -> Option<PathBuf> {
    Some(folders::user("XDG_STATE_HOME", ".local/state")?.join("state.db"))
}

pub(super) fn open(file: &Path) -> Result<Connection, Error> {
    if let Some(folder) = file.parent().filter(|folder| !folder.exists()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // Whatever the umask took away.
        std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    // The files SQLite puts beside it get the same mode.
    OpenOptions::new().create(true).append(true).mode(0o600).open(file)?;
    let mut connection =
        Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Waiting is `patiently`'s work.
    connection.busy_timeout(Duration::ZERO)?;
    // A process that ends need not tidy up: with one process per event, that would be an fsync per event.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let version = |connection: &Connection| connection.pragma_query_value(None, "user_version", |row| row.get(0));
    if version(&connection)? == 0 {
        let transaction = begin(&mut connection)?;
        if version(&transaction)? == 0 {
            transaction.execute_batch(SCHEMA)?;
        }
        transaction.commit()?;
    }
    match version(&connection)? {
        SCHEMA_VERSION => Ok(connection),
        other => Err(StateError::Unavailable(format!("its version {other} is not ours, {SCHEMA_VERSION}")).into()),
    }
}

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
