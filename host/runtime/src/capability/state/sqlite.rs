//! The embedded store: one `SQLite` file, which many processes may write concurrently.
//!
//! The file is in WAL mode: readers never wait, writers queue. With `synchronous=NORMAL`, a completed write survives a
//! `kill -9` of any process. A power failure may lose the last writes, but does not corrupt the file. WAL needs memory
//! shared between the processes, so the file must be on a local disk, not on a network file system.

mod error;
mod file;
mod table;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::{
    error::Error,
    file::{begin, checkpoint, open, patiently},
    table::Row,
};
use super::{Space, StateError, Store};
use crate::clock::unix_ms;

/// The maximum number of connections. Writers queue for the file anyway, and more readers would wait for the disk.
const CONNECTIONS: usize = 8;
/// The time that [`SqliteStore::open`] waits for a file that another process has locked.
const PATIENCE: Duration = Duration::from_secs(5);

/// A [`Store`] in one `SQLite` file.
pub struct SqliteStore {
    pool: Arc<Pool>,
    places: Arc<Semaphore>,
}

/// The file and its idle connections. Each reader uses a separate connection, so readers do not wait for each other.
struct Pool {
    file: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl SqliteStore {
    /// A store in `file`. Opens or creates the file on first use. A new folder gets mode 0700, a new file 0600.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        let pool = Pool { file: file.into(), idle: Mutex::default() };
        Self { pool: Arc::new(pool), places: Arc::new(Semaphore::new(CONNECTIONS)) }
    }

    /// Like [`SqliteStore::new`], but opens the file now, to report errors early. Blocks.
    ///
    /// # Errors
    /// [`StateError::Unavailable`] with the reason.
    pub fn open(file: impl AsRef<Path>) -> Result<Self, StateError> {
        let store = Self::new(file.as_ref());
        let connection = store.pool.take(Instant::now() + PATIENCE).map_err(|error| error.at(file.as_ref()))?;
        store.pool.give_back(connection);
        Ok(store)
    }

    /// Runs one operation on a blocking thread. Retries until the deadline while another process has locked the file.
    async fn run<T: Send + 'static>(
        &self,
        space: &Space,
        operation: impl Fn(&mut Connection, &Row) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, StateError> {
        let row = Row::new(space);
        let deadline = space.deadline;
        let pool = Arc::clone(&self.pool);
        // Waiting for the permit here does not occupy a thread.
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place: OwnedSemaphorePermit = place.map_err(|e| StateError::Unavailable(e.to_string()))?;
        let done = tokio::task::spawn_blocking(move || {
            let mut connection = pool.take(deadline)?;
            let result = patiently(deadline, || {
                checkpoint(&pool.file, &connection)?;
                operation(&mut connection, &row)
            });
            pool.give_back(connection);
            drop(place);
            result
        });
        let result = done.await.map_err(|e| StateError::Unavailable(e.to_string()))?;
        result.map_err(|error| error.at(&self.pool.file))
    }
}

impl Pool {
    fn take(&self, deadline: Instant) -> Result<Connection, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| patiently(deadline, || open(&self.file)), Ok)
    }

    fn give_back(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn get(&self, space: &Space, key: &str) -> Result<Option<String>, StateError> {
        let key = key.to_owned();
        self.run(space, move |connection, row| Ok(row.live(connection, &key, unix_ms())?.map(|(value, _)| value))).await
    }

    async fn set(&self, space: &Space, key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), StateError> {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.run(space, move |connection, row| {
            let transaction = begin(connection)?;
            row.write(&transaction, &key, &value, ttl_ms)?;
            Ok(transaction.commit()?)
        })
        .await
    }

    async fn delete(&self, space: &Space, key: &str) -> Result<bool, StateError> {
        let key = key.to_owned();
        self.run(space, move |connection, row| {
            let transaction = begin(connection)?;
            let found = row.live(&transaction, &key, unix_ms())?.is_some();
            row.delete(&transaction, &key)?;
            transaction.commit()?;
            Ok(found)
        })
        .await
    }

    async fn increment(&self, space: &Space, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, StateError> {
        let key = key.to_owned();
        self.run(space, move |connection, row| {
            let transaction = begin(connection)?;
            let sum = match row.live(&transaction, &key, unix_ms())? {
                None => {
                    row.write(&transaction, &key, &by.to_string(), ttl_ms)?;
                    by
                }
                Some((value, expires)) => {
                    let sum = value.parse().ok().and_then(|value: i64| value.checked_add(by));
                    let sum = sum.ok_or(StateError::NotANumber)?;
                    row.upsert(&transaction, &key, &sum.to_string(), expires)?;
                    sum
                }
            };
            transaction.commit()?;
            Ok(sum)
        })
        .await
    }

    async fn compare_and_swap(
        &self,
        space: &Space,
        key: &str,
        expected: Option<&str>,
        value: &str,
        ttl_ms: Option<u64>,
    ) -> Result<bool, StateError> {
        let (key, expected, value) = (key.to_owned(), expected.map(str::to_owned), value.to_owned());
        self.run(space, move |connection, row| {
            let transaction = begin(connection)?;
            if row.live(&transaction, &key, unix_ms())?.map(|(value, _)| value) != expected {
                return Ok(false);
            }
            row.write(&transaction, &key, &value, ttl_ms)?;
            transaction.commit()?;
            Ok(true)
        })
        .await
    }

    async fn keys(&self, space: &Space, prefix: &str) -> Result<Vec<String>, StateError> {
        let prefix = prefix.to_owned();
        self.run(space, move |connection, row| row.keys(connection, &prefix)).await
    }

    async fn size(&self, tenant: &str, deadline: Instant) -> Result<Option<u64>, StateError> {
        let bytes = self.run(&Space::of_tenant(tenant, deadline), |connection, row| row.size(connection)).await?;
        Ok(Some(bytes))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        fs::Permissions,
        os::unix::fs::PermissionsExt,
        time::{Duration, Instant},
    };

    use rusqlite::Connection;

    use super::{SqliteStore, table::SCHEMA};
    use crate::capability::{
        StateError,
        state::{ENTRY_BYTES, Namespace, SessionKeys, Space, Store},
    };

    /// Entries of an earlier version count towards the quota.
    #[tokio::test]
    async fn a_file_of_the_first_version_is_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.db");
        let old = Connection::open(&file).unwrap();
        old.execute_batch(SCHEMA[0]).unwrap();
        old.execute_batch("INSERT INTO entry VALUES (x'74', x'686f6f6b3a68', x'', x'6b', x'3141', NULL)").unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        drop(old);
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        let store = SqliteStore::open(&file).unwrap();
        let held = ENTRY_BYTES + "hook:h".len() as u64 + "k1A".len() as u64;
        let space = |tenant_bytes| Space {
            tenant: "t".into(),
            namespace: Namespace::Hook("h".into()),
            session: SessionKeys::All,
            max_keys: 9,
            tenant_bytes: Some(tenant_bytes),
            deadline: Instant::now() + Duration::from_mins(1),
        };
        assert_eq!(store.get(&space(0), "k").await.unwrap().as_deref(), Some("1A"));
        assert!(matches!(store.set(&space(held), "k", "1AB", None).await, Err(StateError::Quota(_))));
        store.set(&space(held + 1), "k", "1AB", None).await.unwrap();
        assert!(store.delete(&space(0), "k").await.unwrap());
        store.set(&space(held), "k", "1A", None).await.unwrap();
    }
}
