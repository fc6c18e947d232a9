//! The networked store: a Valkey or Redis server that several hosts share.
//!
//! A space is two keys: a hash of the values, and a sorted set of the expiring values by expiry time. A tenant has two
//! more keys in the same hash slot: a hash of the bytes of each space, and a sorted set of the expiring spaces. Every
//! method is one script, which the server runs atomically. Scripts use the server's clock, so the hosts' clocks need
//! not agree.

mod names;
mod scripts;

use std::time::{Duration, Instant};

use async_trait::async_trait;
use redis::{
    Client, FromRedisValue, RedisError, Script,
    aio::{ConnectionManager, ConnectionManagerConfig},
};
use tokio::sync::OnceCell;

use self::{names::Names, scripts::Scripts};
use super::{Space, StateError, Store};

/// The timeout of connecting and of each response.
const ANSWER: Duration = Duration::from_secs(2);
/// The longest time to live, in ms: 100 years. Lua's numbers are exact in this range.
const LONGEST_MS: u64 = 100 * 365 * 24 * 60 * 60 * 1000;

/// A [`Store`] in a Valkey or Redis server. Connects on first use, and reconnects automatically.
pub struct RedisStore {
    client: Client,
    connection: OnceCell<ConnectionManager>,
    scripts: Scripts,
}

impl RedisStore {
    /// A store at `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, or with TLS at `rediss://…`. With TLS, this machine
    /// has to trust the server's certificate. Does not connect yet.
    ///
    /// # Errors
    /// [`StateError::Unavailable`] if the URL is invalid.
    pub fn new(url: &str) -> Result<Self, StateError> {
        Ok(Self {
            client: Client::open(url).map_err(|error| unavailable(&error))?,
            connection: OnceCell::new(),
            scripts: Scripts::new(),
        })
    }

    async fn run<T: FromRedisValue>(
        &self,
        space: &Space,
        script: &Script,
        arguments: &[&str],
    ) -> Result<T, StateError> {
        let running = async {
            let connect = || async {
                let patience = Some(ANSWER);
                let config =
                    ConnectionManagerConfig::new().set_connection_timeout(patience).set_response_timeout(patience);
                // At most one retry, because the waiting hook has a deadline.
                let config = config.set_number_of_retries(1).set_max_delay(Duration::from_millis(100));
                ConnectionManager::new_lazy_with_config(self.client.clone(), config)
            };
            let mut connection = self.connection.get_or_try_init(connect).await?.clone();
            let names = Names::of(space);
            let mut call = script.prepare_invoke();
            for key in &names.keys {
                call.key(key);
            }
            call.arg(names.space)
                .arg(names.entry_bytes)
                .arg(space.tenant_bytes.map(|bytes| bytes.to_string()).unwrap_or_default());
            for argument in arguments {
                call.arg(*argument);
            }
            call.invoke_async(&mut connection).await
        };
        let late = |_| StateError::Unavailable("the server did not respond in time".into());
        let ended = tokio::time::timeout_at(space.deadline.into(), running).await.map_err(late)?;
        ended.map_err(|error| unavailable(&error))
    }
}

fn ttl(ttl_ms: Option<u64>) -> String {
    ttl_ms.map(|ttl| ttl.min(LONGEST_MS).to_string()).unwrap_or_default()
}

fn unavailable(error: &RedisError) -> StateError {
    // The message must not contain the URL, which may include a password.
    StateError::Unavailable(error.to_string())
}

/// Converts the result code of a writing script.
fn written(answer: i64, space: &Space) -> Result<(), StateError> {
    match (answer, space.tenant_bytes) {
        (1, _) => Ok(()),
        (-1, Some(limit)) => Err(StateError::Quota(format!("the tenant's state would exceed {limit} bytes"))),
        _ => Err(StateError::Quota(format!("all {} granted keys are in use", space.max_keys))),
    }
}

#[async_trait]
impl Store for RedisStore {
    async fn get(&self, space: &Space, key: &str) -> Result<Option<String>, StateError> {
        self.run(space, &self.scripts.get, &[key]).await
    }

    async fn set(&self, space: &Space, key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), StateError> {
        let most = space.max_keys.to_string();
        written(self.run(space, &self.scripts.set, &[key, value, &ttl(ttl_ms), &most]).await?, space)
    }

    async fn delete(&self, space: &Space, key: &str) -> Result<bool, StateError> {
        let found: i64 = self.run(space, &self.scripts.delete, &[key]).await?;
        Ok(found > 0)
    }

    async fn increment(&self, space: &Space, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, StateError> {
        let most = space.max_keys.to_string();
        let arguments = [key, &by.to_string(), &ttl(ttl_ms), &most];
        let answer: String = self.run(space, &self.scripts.increment, &arguments).await?;
        if let Some(sum) = answer.strip_prefix('=') {
            return sum.parse().map_err(|_| StateError::NotANumber);
        }
        written(answer.parse().map_err(|_| StateError::NotANumber)?, space)?;
        Err(StateError::NotANumber)
    }

    async fn compare_and_swap(
        &self,
        space: &Space,
        key: &str,
        expected: Option<&str>,
        value: &str,
        ttl_ms: Option<u64>,
    ) -> Result<bool, StateError> {
        let most = space.max_keys.to_string();
        let is_expected = if expected.is_some() { "1" } else { "0" };
        let arguments = [key, value, &ttl(ttl_ms), &most, is_expected, expected.unwrap_or_default()];
        match self.run(space, &self.scripts.swap, &arguments).await? {
            -2 => Ok(false),
            answer => written(answer, space).map(|()| true),
        }
    }

    async fn keys(&self, space: &Space, prefix: &str) -> Result<Vec<String>, StateError> {
        let mut keys: Vec<String> = self.run(space, &self.scripts.keys, &[prefix]).await?;
        keys.sort_unstable();
        Ok(keys)
    }

    async fn size(&self, tenant: &str, deadline: Instant) -> Result<Option<u64>, StateError> {
        let bytes: String = self.run(&Space::of_tenant(tenant, deadline), &self.scripts.size, &[""]).await?;
        Ok(bytes.parse().ok())
    }
}
