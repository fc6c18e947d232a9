//! The `hookbox:hooks/state` capability: keys and values that outlive a call.
//!
//! [`HookState`] is the capability of one hook: it determines the [`Space`] of a call and enforces the hook's limits. A
//! [`Store`] keeps the values: `SqliteStore` in a local file, `RedisStore` on a server that several hosts share.

#[cfg(feature = "state-redis")]
mod redis;
#[cfg(feature = "state-sqlite")]
mod sqlite;

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use async_trait::async_trait;

use hookbox_sandbox::{
    capability::{Scope, State, StateError},
    permission::{StateDetails, StateGrant},
};

#[cfg(feature = "state-redis")]
pub use self::redis::RedisStore;
#[cfg(feature = "state-sqlite")]
pub use sqlite::SqliteStore;

/// The maximum number of bytes (keys and values) that one call may write. Rewriting a key counts again, because each
/// write goes through the journal.
pub const MAX_WRITTEN_BYTES: usize = 4 << 20;

/// The maximum length of a 64-bit integer as text, in bytes.
const NUMBER_BYTES: usize = 20;

/// The maximum length of a key, in bytes. The grant limits the length of values.
pub const MAX_KEY_BYTES: usize = 1024;

/// The overhead per entry in bytes, as [`Space::tenant_bytes`] counts it: in addition to the key, the value and the
/// names of the space.
pub const ENTRY_BYTES: u64 = 64;

/// A key-value store. Every method is atomic, also across processes and hosts that share the store. No method returns
/// an expired value.
///
/// The caller checks the size of each value. The store itself checks the number of keys and the bytes of a tenant,
/// because only the store can count and write atomically. In a networked store, each method is one round trip or
/// script.
#[async_trait]
pub trait Store: Send + Sync {
    /// Returns the value of a key.
    async fn get(&self, space: &Space, key: &str) -> Result<Option<String>, StateError>;

    /// Sets a value. `ttl_ms` replaces the remaining time of an earlier value. `None`: the value never expires.
    async fn set(&self, space: &Space, key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), StateError>;

    /// Deletes a key. Returns true if it existed.
    async fn delete(&self, space: &Space, key: &str) -> Result<bool, StateError>;

    /// Adds to a value and returns the sum. A missing value counts as 0. `ttl_ms` applies only to a new key.
    ///
    /// # Errors
    /// [`StateError::NotANumber`] if the value or the sum is not a 64-bit integer.
    async fn increment(&self, space: &Space, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, StateError>;

    /// Sets a value if it is `expected` (`None`: missing). Returns true if it was set.
    async fn compare_and_swap(
        &self,
        space: &Space,
        key: &str,
        expected: Option<&str>,
        value: &str,
        ttl_ms: Option<u64>,
    ) -> Result<bool, StateError>;

    /// Returns the keys that start with `prefix`, in byte order.
    async fn keys(&self, space: &Space, prefix: &str) -> Result<Vec<String>, StateError>;

    /// Returns the bytes in all spaces of a tenant, as [`Space::tenant_bytes`] counts them. `None`: the store does not
    /// count them.
    async fn size(&self, _tenant: &str, _deadline: Instant) -> Result<Option<u64>, StateError> {
        Ok(None)
    }
}

/// The keys that one call can reach. Two different spaces never share a key. Its parts are never joined into one text,
/// so no name, session or key can imitate another space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// The tenant's name.
    pub tenant: String,
    /// The namespace within the tenant.
    pub namespace: Namespace,
    /// The session scope.
    pub session: SessionKeys,
    /// The maximum number of keys in this space.
    pub max_keys: u32,
    /// The quota of the tenant across all its spaces, in bytes: keys, values, the names of namespace and session, and
    /// [`ENTRY_BYTES`] per entry. `None`: no quota. A write that does not increase the usage always succeeds.
    pub tenant_bytes: Option<u64>,
    /// The deadline of the call. Nothing is written after it.
    pub deadline: Instant,
}

impl Space {
    /// A space without keys, for operations on the whole tenant.
    #[cfg(any(feature = "state-sqlite", feature = "state-redis"))]
    fn of_tenant(tenant: &str, deadline: Instant) -> Self {
        Self {
            tenant: tenant.to_owned(),
            namespace: Namespace::Hook(String::new()),
            session: SessionKeys::All,
            max_keys: 0,
            tenant_bytes: None,
            deadline,
        }
    }
}

/// The namespace of keys within a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Namespace {
    /// The keys of the hook with this name.
    Hook(String),
    /// The keys that all hooks with this `namespace` in their grant share.
    Shared(String),
}

/// The session scope of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionKeys {
    /// All sessions share the keys.
    All,
    /// The keys of one session. `None`: events without a session share the keys.
    One(Option<String>),
}

/// Formatted as `hook:NAME` or `shared:NAME`. The prefix keeps the two kinds apart, whatever the name.
impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook(name) => write!(f, "hook:{name}"),
            Self::Shared(name) => write!(f, "shared:{name}"),
        }
    }
}

/// Formatted as an empty text, `session` or `session:ID`.
impl fmt::Display for SessionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => Ok(()),
            Self::One(None) => f.write_str("session"),
            Self::One(Some(id)) => write!(f, "session:{id}"),
        }
    }
}

/// The state capability of one hook.
pub struct HookState {
    store: Arc<dyn Store>,
    grant: StateDetails,
    tenant_bytes: Option<u64>,
}

impl HookState {
    /// Creates the capability from the hook's grant. `None` if the grant is `"state": false`.
    pub fn granted(store: Arc<dyn Store>, grant: &StateGrant) -> Option<Self> {
        Some(Self { store, grant: grant.details()?, tenant_bytes: None })
    }

    /// Sets the quota of the whole tenant, in bytes.
    #[must_use]
    pub fn tenant_bytes(self, bytes: Option<u64>) -> Self {
        Self { tenant_bytes: bytes, ..self }
    }

    fn space(&self, scope: &Scope) -> Space {
        Space {
            tenant: scope.tenant.to_string(),
            namespace: match &self.grant.namespace {
                Some(shared) => Namespace::Shared(shared.clone()),
                None => Namespace::Hook(scope.hook.to_string()),
            },
            session: if self.grant.per_session { SessionKeys::One(scope.session.clone()) } else { SessionKeys::All },
            max_keys: self.grant.max_keys,
            tenant_bytes: self.tenant_bytes,
            deadline: scope.deadline,
        }
    }

    fn check_value(&self, value: &str) -> Result<(), StateError> {
        let limit = usize::try_from(self.grant.max_value_kib).unwrap_or(usize::MAX).saturating_mul(1024);
        within("value", value, limit)
    }
}

/// Counts the bytes that a call writes. An error if they exceed [`MAX_WRITTEN_BYTES`].
fn spend(scope: &Scope, key: &str, value: usize) -> Result<(), StateError> {
    let bytes = key.len().saturating_add(value);
    let written = scope.spent.state_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
    if written > MAX_WRITTEN_BYTES {
        return Err(StateError::Quota(format!("one call may write {MAX_WRITTEN_BYTES} bytes")));
    }
    Ok(())
}

fn check_key(key: &str) -> Result<(), StateError> {
    within("key", key, MAX_KEY_BYTES)
}

fn within(what: &str, text: &str, limit: usize) -> Result<(), StateError> {
    if text.len() > limit {
        return Err(StateError::Quota(format!("the {what} has {} bytes, {limit} are granted", text.len())));
    }
    Ok(())
}

#[async_trait]
impl State for HookState {
    async fn get(&self, scope: &Scope, key: &str) -> Result<Option<String>, StateError> {
        check_key(key)?;
        self.store.get(&self.space(scope), key).await
    }

    async fn set(&self, scope: &Scope, key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), StateError> {
        check_key(key)?;
        self.check_value(value)?;
        spend(scope, key, value.len())?;
        self.store.set(&self.space(scope), key, value, ttl_ms).await
    }

    async fn delete(&self, scope: &Scope, key: &str) -> Result<bool, StateError> {
        check_key(key)?;
        self.store.delete(&self.space(scope), key).await
    }

    async fn increment(&self, scope: &Scope, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, StateError> {
        check_key(key)?;
        spend(scope, key, NUMBER_BYTES)?;
        self.store.increment(&self.space(scope), key, by, ttl_ms).await
    }

    async fn compare_and_swap(
        &self,
        scope: &Scope,
        key: &str,
        expected: Option<&str>,
        value: &str,
        ttl_ms: Option<u64>,
    ) -> Result<bool, StateError> {
        check_key(key)?;
        self.check_value(value)?;
        spend(scope, key, value.len())?;
        self.store.compare_and_swap(&self.space(scope), key, expected, value, ttl_ms).await
    }

    async fn keys(&self, scope: &Scope, prefix: &str) -> Result<Vec<String>, StateError> {
        check_key(prefix)?;
        self.store.keys(&self.space(scope), prefix).await
    }
}
