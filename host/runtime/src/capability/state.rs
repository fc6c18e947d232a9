//! `hookbox:hooks/state`: keys and values that outlive a call.
//!
//! [`HookState`] is what one hook was granted: it finds the [`Space`] of a call and holds the hook to its sizes. A
//! [`Store`] keeps the values; `SqliteStore` is the embedded one, `RedisStore`
//! that of several hosts.

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

/// Bytes of keys and values that one call may write, the same key again included: each of them goes through the journal.
pub const MAX_WRITTEN_BYTES: usize = 4 << 20;

/// A whole number of 64 bits, written out.
const NUMBER_BYTES: usize = 20;

/// Bytes of a key at most. Values are as long as the grant says.
pub const MAX_KEY_BYTES: usize = 1024;

/// What keeping one value takes beside the value, its key and the names of its space, as it counts for
/// [`Space::tenant_bytes`].
pub const ENTRY_BYTES: u64 = 64;

/// Where values are kept. Every method is atomic, also among processes and hosts that share the store, and a value
/// whose time is over is absent to all of them.
///
/// A store trusts its caller for the size of one value but counts keys, and the bytes of a tenant, itself, because only it
/// can count and write in one step. A networked store maps one to one: each method is a single round trip or script.
#[async_trait]
pub trait Store: Send + Sync {
    /// The value of a key.
    async fn get(&self, space: &Space, key: &str) -> Result<Option<String>, StateError>;

    /// Sets a value; `ttl_ms` replaces what is left of an earlier one, `None` being for ever.
    async fn set(&self, space: &Space, key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), StateError>;

    /// Forgets a value; true when there was one.
    async fn delete(&self, space: &Space, key: &str) -> Result<bool, StateError>;

    /// Adds to a value, an absent one counting as 0, and returns the sum. `ttl_ms` is used when the key is new.
    ///
    /// # Errors
    /// [`StateError::NotANumber`] when the value, or the sum, is not a whole number of 64 bits.
    async fn increment(&self, space: &Space, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, StateError>;

    /// Sets a value when it still is `expected` (`None`: absent); true when it was set.
    async fn compare_and_swap(
        &self,
        space: &Space,
        key: &str,
        expected: Option<&str>,
        value: &str,
        ttl_ms: Option<u64>,
    ) -> Result<bool, StateError>;

    /// The keys that begin with `prefix`, in byte order.
    async fn keys(&self, space: &Space, prefix: &str) -> Result<Vec<String>, StateError>;

    /// The bytes that all spaces of a tenant have together, as they count for [`Space::tenant_bytes`]. `None`: the store
    /// does not count them.
    async fn size(&self, _tenant: &str, _deadline: Instant) -> Result<Option<u64>, StateError> {
        Ok(None)
    }
}

/// The keys one call can reach. No two spaces share a key: its parts are never joined to one text, so that no name,
/// session or key can be chosen to look like another's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// The tenant of the host.
    pub tenant: String,
    /// Whose keys within the tenant.
    pub namespace: Namespace,
    /// Which session's keys.
    pub session: SessionKeys,
    /// Keys at most in this space.
    pub max_keys: u32,
    /// Bytes that all spaces of the tenant may have together: keys, values, the names of namespace and session, and
    /// [`ENTRY_BYTES`] for each; `None`: as many as there is room for. What makes none larger can always be written.
    pub tenant_bytes: Option<u64>,
    /// When the call ends: nothing is written after it.
    pub deadline: Instant,
}

impl Space {
    /// A space without keys, for a question about the tenant.
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

/// Whose keys within a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Namespace {
    /// Those of the hook with this name.
    Hook(String),
    /// Those of every hook whose grant gives this `namespace`.
    Shared(String),
}

/// Which session's keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionKeys {
    /// All sessions have the same.
    All,
    /// Those of one session; `None`: of the events whose client sends no session.
    One(Option<String>),
}

/// Written as `hook:NAME` or `shared:NAME`; the part before the first colon is ours, so the two never meet.
impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook(name) => write!(f, "hook:{name}"),
            Self::Shared(name) => write!(f, "shared:{name}"),
        }
    }
}

/// Written as nothing, `session` or `session:ID`.
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
    /// The capability that `grant` gives over `store`; `None` when it gives none (`"state": false`).
    pub fn granted(store: Arc<dyn Store>, grant: &StateGrant) -> Option<Self> {
        Some(Self { store, grant: grant.details()?, tenant_bytes: None })
    }

    /// Bounds what the whole tenant keeps.
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

/// Counts what is written, and says when it is too much.
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
