//! The networked store: a Valkey or Redis server that several hosts share.
//!
//! A space is two keys, both of one hash slot: a hash of the values, and a sorted set of those that end, by when. Every method is
//! one script, which the server runs as one step. The time is the server's own, so that hosts need not agree on it.

use std::{fmt::Write, time::Duration};

use async_trait::async_trait;
use hookbox_sandbox::sha256;
use redis::{
    Client, FromRedisValue, RedisError, Script,
    aio::{ConnectionManager, ConnectionManagerConfig},
};
use tokio::sync::OnceCell;

use super::{Space, StateError, Store};

/// A server that has not answered by then is away.
const ANSWER: Duration = Duration::from_secs(2);
/// The longest time to live: numbers of a script are exact up to there.
const LONGEST_MS: u64 = 100 * 365 * 24 * 60 * 60 * 1000;

/// Before each script: what has ended goes, and what is left is live.
const BEGIN: &str = "
    local values, ends = KEYS[1], KEYS[2]
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    for _, key in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now)) do
        redis.call('HDEL', values, key)
        redis.call('ZREM', ends, key)
    end
    -- A space ends with the last of its values, unless one of them stays.
    local function finish()
        if redis.call('HLEN', values) == redis.call('ZCARD', ends) then
            local last = redis.call('ZRANGE', ends, -1, -1, 'WITHSCORES')[2]
            if last then
                redis.call('PEXPIREAT', values, last)
                redis.call('PEXPIREAT', ends, last)
            end
        else
            redis.call('PERSIST', values)
            redis.call('PERSIST', ends)
        end
    end
    local function ttl(key, ms)
        if ms == '' then
            redis.call('ZREM', ends, key)
        else
            redis.call('ZADD', ends, now + ms, key)
        end
    end
    local function full(key, most)
        return redis.call('HEXISTS', values, key) == 0 and redis.call('HLEN', values) >= tonumber(most)
    end
";
const GET: &str = "return redis.call('HGET', values, ARGV[1])";
const SET: &str = "
    if full(ARGV[1], ARGV[4]) then return 0 end
    redis.call('HSET', values, ARGV[1], ARGV[2])
    ttl(ARGV[1], ARGV[3])
    finish()
    return 1";
const DELETE: &str = "
    redis.call('ZREM', ends, ARGV[1])
    local found = redis.call('HDEL', values, ARGV[1])
    finish()
    return found";
/// The sum is read back as text: a script's own numbers are exact up to 53 bits only.
const INCREMENT: &str = "
    local new = redis.call('HEXISTS', values, ARGV[1]) == 0
    if full(ARGV[1], ARGV[4]) then return false end
    local done = redis.pcall('HINCRBY', values, ARGV[1], ARGV[2])
    if type(done) == 'table' then return 'NaN' end
    if new then
        ttl(ARGV[1], ARGV[3])
        finish()
    end
    return redis.call('HGET', values, ARGV[1])";
const SWAP: &str = "
    local found = redis.call('HGET', values, ARGV[1])
    if ARGV[5] == '1' then
        if found ~= ARGV[6] then return 0 end
    elseif found then
        return 0
    end
    if full(ARGV[1], ARGV[4]) then return -1 end
    redis.call('HSET', values, ARGV[1], ARGV[2])
    ttl(ARGV[1], ARGV[3])
    finish()
    return 1";
const KEYS: &str = "
    local found = {}
    for _, key in ipairs(redis.call('HKEYS', values)) do
        if string.sub(key, 1, #ARGV[1]) == ARGV[1] then found[#found + 1] = key end
    end
    return found";

/// A [`Store`] in a Valkey or Redis server. It connects with the first use, and again by itself when the server was away.
pub struct RedisStore {
    client: Client,
    connection: OnceCell<ConnectionManager>,
    scripts: Scripts,
}

struct Scripts {
    get: Script,
    set: Script,
    delete: Script,
    increment: Script,
    swap: Script,
    keys: Script,
}

impl RedisStore {
    /// The store at `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`. Nothing is connected yet.
    ///
    /// # Errors
    /// [`StateError::Unavailable`]: this is no such URL.
    pub fn new(url: &str) -> Result<Self, StateError> {
        let script = |body: &str| Script::new(&format!("{BEGIN}{body}"));
        Ok(Self {
            client: Client::open(url).map_err(|error| unavailable(&error))?,
            connection: OnceCell::new(),
            scripts: Scripts {
                get: script(GET),
                set: script(SET),
                delete: script(DELETE),
                increment: script(INCREMENT),
                swap: script(SWAP),
                keys: script(KEYS),
            },
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
                // What waits must not wait for more than one attempt: its hook has a time of its own.
                let config = config.set_number_of_retries(1).set_max_delay(Duration::from_millis(100));
                ConnectionManager::new_lazy_with_config(self.client.clone(), config)
            };
            let mut connection = self.connection.get_or_try_init(connect).await?.clone();
            let [values, ends] = keys(space);
            let mut call = script.prepare_invoke();
            call.key(values).key(ends);
            for argument in arguments {
                call.arg(*argument);
            }
            call.invoke_async(&mut connection).await
        };
        let late = |_| StateError::Unavailable("the server did not answer in time".into());
        let ended = tokio::time::timeout_at(space.deadline.into(), running).await.map_err(late)?;
        ended.map_err(|error| unavailable(&error))
    }
}

/// The two keys of a space. What names it is hashed with its lengths, so that no two spaces meet; the tenant stays
/// readable, so that an operator finds its keys.
fn keys(space: &Space) -> [String; 2] {
    let mut tenant = String::new();
    for byte in space.tenant.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => tenant.push(byte.into()),
            // Writing to a string cannot fail.
            _ => drop(write!(tenant, "%{byte:02X}")),
        }
    }
    let (namespace, session) = (space.namespace.to_string(), space.session.to_string());
    let digest = sha256(format!("{}:{namespace}{}:{session}", namespace.len(), session.len()));
    ["values", "ends"].map(|part| format!("hookbox:{{{tenant}/{digest}}}:{part}"))
}

fn ttl(ttl_ms: Option<u64>) -> String {
    ttl_ms.map(|ttl| ttl.min(LONGEST_MS).to_string()).unwrap_or_default()
}

fn unavailable(error: &RedisError) -> StateError {
    // Not with what the URL holds: it may have a password.
    StateError::Unavailable(error.to_string())
}

fn quota(space: &Space) -> StateError {
    StateError::Quota(format!("{} keys are granted, and as many are held", space.max_keys))
}

#[async_trait]
impl Store for RedisStore {
    async fn get(&self, space: &Space, key: &str) -> Result<Option<String>, StateError> {
        self.run(space, &self.scripts.get, &[key]).await
    }

    async fn set(&self, space: &Space, key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), StateError> {
        let most = space.max_keys.to_string();
        let done: i64 = self.run(space, &self.scripts.set, &[key, value, &ttl(ttl_ms), &most]).await?;
        if done == 1 { Ok(()) } else { Err(quota(space)) }
    }

    async fn delete(&self, space: &Space, key: &str) -> Result<bool, StateError> {
        let found: i64 = self.run(space, &self.scripts.delete, &[key]).await?;
        Ok(found > 0)
    }

    async fn increment(&self, space: &Space, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, StateError> {
        let most = space.max_keys.to_string();
        let arguments = [key, &by.to_string(), &ttl(ttl_ms), &most];
        let sum: Option<String> = self.run(space, &self.scripts.increment, &arguments).await?;
        sum.ok_or_else(|| quota(space))?.parse().map_err(|_| StateError::NotANumber)
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
        match self.run::<i64>(space, &self.scripts.swap, &arguments).await? {
            -1 => Err(quota(space)),
            done => Ok(done == 1),
        }
    }

    async fn keys(&self, space: &Space, prefix: &str) -> Result<Vec<String>, StateError> {
        let mut keys: Vec<String> = self.run(space, &self.scripts.keys, &[prefix]).await?;
        keys.sort_unstable();
        Ok(keys)
    }
}
