//! The tables, and the queries of one transaction.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{Space, StateError, error::Error};
use crate::clock::unix_ms;

/// The version of [`SCHEMA`], stored in the file's `user_version`.
pub(super) const SCHEMA_VERSION: i64 = 2;

/// The migration to each version, starting with the first.
///
/// Names and keys are blobs, which compare byte by byte, so NUL and other special characters have no effect. `expires`
/// is Unix time in milliseconds; NULL means never. Triggers maintain the bytes per tenant.
pub(super) const SCHEMA: [&str; 2] = [
    "CREATE TABLE entry (
        tenant BLOB NOT NULL, namespace BLOB NOT NULL, session BLOB NOT NULL, key BLOB NOT NULL,
        value BLOB NOT NULL, expires INTEGER,
        PRIMARY KEY (tenant, namespace, session, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entry_expires ON entry (expires) WHERE expires IS NOT NULL;",
    "CREATE TABLE usage (tenant BLOB NOT NULL PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO usage SELECT tenant, sum(length(namespace) + length(session) + length(key) + length(value) + 64)
        FROM entry GROUP BY tenant;
    CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN
        INSERT INTO usage VALUES (new.tenant,
            length(new.namespace) + length(new.session) + length(new.key) + length(new.value) + 64)
        ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
    END;
    CREATE TRIGGER entry_changed AFTER UPDATE OF value ON entry BEGIN
        UPDATE usage SET bytes = bytes + length(new.value) - length(old.value) WHERE tenant = new.tenant;
    END;
    CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN
        UPDATE usage SET bytes = bytes
            - (length(old.namespace) + length(old.session) + length(old.key) + length(old.value) + 64)
        WHERE tenant = old.tenant;
    END;
    CREATE INDEX entry_tenant_expires ON entry (tenant, expires) WHERE expires IS NOT NULL;",
];

/// The maximum number of expired values that are removed when a key is added.
const PURGE_AT_ONCE: u32 = 64;

/// A space, as stored in the table.
pub(super) struct Row {
    tenant: Vec<u8>,
    namespace: Vec<u8>,
    session: Vec<u8>,
    max_keys: u32,
    tenant_bytes: Option<u64>,
}

impl Row {
    pub(super) fn new(space: &Space) -> Self {
        Self {
            tenant: space.tenant.clone().into_bytes(),
            namespace: space.namespace.to_string().into_bytes(),
            session: space.session.to_string().into_bytes(),
            max_keys: space.max_keys,
            tenant_bytes: space.tenant_bytes,
        }
    }

    /// The value of a key and its expiry time. `None` if it is missing or expired.
    pub(super) fn live(
        &self,
        connection: &Connection,
        key: &str,
        now: i64,
    ) -> Result<Option<(String, Option<i64>)>, Error> {
        let mut select = connection.prepare_cached(
            "SELECT value, expires FROM entry WHERE tenant = ?1 AND namespace = ?2 AND session = ?3 AND key = ?4
             AND (expires IS NULL OR expires > ?5)",
        )?;
        let found = select
            .query_row(params![self.tenant, self.namespace, self.session, key.as_bytes(), now], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        found.map(|(value, expires)| Ok((text(value)?, expires))).transpose()
    }

    /// Sets a value. A new key must fit the limit of keys, and additional bytes must fit the tenant's quota.
    pub(super) fn write(
        &self,
        transaction: &Transaction<'_>,
        key: &str,
        value: &str,
        ttl_ms: Option<u64>,
    ) -> Result<(), Error> {
        let now = unix_ms();
        if self.live(transaction, key, now)?.is_none() {
            purge(transaction, now)?;
            let held: u32 = transaction
                .prepare_cached(
                    "SELECT count(*) FROM entry WHERE tenant = ?1 AND namespace = ?2 AND session = ?3
                     AND (expires IS NULL OR expires > ?4)",
                )?
                .query_row(params![self.tenant, self.namespace, self.session, now], |row| row.get(0))?;
            if held >= self.max_keys {
                return Err(
                    StateError::Quota(format!("{held} keys exist, and only {} are granted", self.max_keys)).into()
                );
            }
        }
        let expires = ttl_ms.map(|ttl| now.saturating_add(i64::try_from(ttl).unwrap_or(i64::MAX)));
        self.upsert(transaction, key, value, expires)
    }

    pub(super) fn upsert(
        &self,
        transaction: &Transaction<'_>,
        key: &str,
        value: &str,
        expires: Option<i64>,
    ) -> Result<(), Error> {
        let before = self.bytes(transaction)?;
        transaction
            .prepare_cached(
                // `OR REPLACE` would not fire the triggers.
                "INSERT INTO entry VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT DO UPDATE SET value = excluded.value, expires = excluded.expires",
            )?
            .execute(params![self.tenant, self.namespace, self.session, key.as_bytes(), value.as_bytes(), expires])?;
        let Some(limit) = self.tenant_bytes else { return Ok(()) };
        let fits = |after: u64| after <= limit || after <= before;
        // Removes expired values first. If that is not enough, the caller drops the transaction, and nothing is
        // written.
        if !fits(self.bytes(transaction)?) && !fits(self.purge_own(transaction)?) {
            return Err(StateError::Quota(format!("the tenant's state has {before} of {limit} bytes")).into());
        }
        Ok(())
    }

    /// The bytes of the tenant, including expired values.
    fn bytes(&self, connection: &Connection) -> Result<u64, Error> {
        if self.tenant_bytes.is_none() { Ok(0) } else { self.size(connection) }
    }

    /// The bytes of the tenant, even without a quota.
    pub(super) fn size(&self, connection: &Connection) -> Result<u64, Error> {
        let mut select = connection.prepare_cached("SELECT bytes FROM usage WHERE tenant = ?1")?;
        let bytes: Option<i64> = select.query_row(params![self.tenant], |row| row.get(0)).optional()?;
        Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default())
    }

    /// Removes all expired values of the tenant. Returns its remaining bytes.
    fn purge_own(&self, transaction: &Transaction<'_>) -> Result<u64, Error> {
        transaction
            .prepare_cached("DELETE FROM entry WHERE tenant = ?1 AND expires <= ?2")?
            .execute(params![self.tenant, unix_ms()])?;
        self.bytes(transaction)
    }

    pub(super) fn delete(&self, transaction: &Transaction<'_>, key: &str) -> Result<(), Error> {
        transaction
            .prepare_cached("DELETE FROM entry WHERE tenant = ?1 AND namespace = ?2 AND session = ?3 AND key = ?4")?
            .execute(params![self.tenant, self.namespace, self.session, key.as_bytes()])?;
        Ok(())
    }

    pub(super) fn keys(&self, connection: &Connection, prefix: &str) -> Result<Vec<String>, Error> {
        let mut select = connection.prepare_cached(
            "SELECT key FROM entry WHERE tenant = ?1 AND namespace = ?2 AND session = ?3
             AND key >= ?4 AND (?5 IS NULL OR key < ?5) AND (expires IS NULL OR expires > ?6) ORDER BY key",
        )?;
        let bounds = params![self.tenant, self.namespace, self.session, prefix.as_bytes(), after(prefix), unix_ms()];
        let keys = select.query_map(bounds, |row| row.get(0))?;
        keys.map(|key| text(key?)).collect()
    }
}

/// The smallest blob greater than all that start with `prefix`. `None` for an empty prefix. No byte of UTF-8 is 255.
fn after(prefix: &str) -> Option<Vec<u8>> {
    let mut bytes = prefix.as_bytes().to_vec();
    let last = bytes.last_mut()?;
    *last = last.saturating_add(1);
    Some(bytes)
}

/// Removes some expired values of any tenant.
fn purge(transaction: &Transaction<'_>, now: i64) -> Result<(), Error> {
    transaction
        .prepare_cached(
            "DELETE FROM entry WHERE (tenant, namespace, session, key) IN
             (SELECT tenant, namespace, session, key FROM entry WHERE expires <= ?1 LIMIT ?2)",
        )?
        .execute(params![now, PURGE_AT_ONCE])?;
    Ok(())
}

fn text(bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|_| StateError::Unavailable("it contains text that is not UTF-8".into()).into())
}
