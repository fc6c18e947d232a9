//! The networked store: a Valkey or Redis server that several hosts share.
//!
//! A space is two keys: a hash of the values, and a sorted set of the expiring values by expiry time. A tenant has two
//! more keys in the same hash slot: a hash of the bytes of each space, and a sorted set of the expiring spaces. Every
//! method is one script, which the server runs atomically. Scripts use the server's clock, so the hosts' clocks need
//! not agree.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use hookbox_sandbox::sha256;
use redis::{
    Client, FromRedisValue, RedisError, Script,
    aio::{ConnectionManager, ConnectionManagerConfig},
};
use tokio::sync::OnceCell;

use super::{ENTRY_BYTES, Space, StateError, Store};

/// The timeout of connecting and of each response.
const ANSWER: Duration = Duration::from_secs(2);
/// The longest time to live, in ms: 100 years. Lua's numbers are exact in this range.
const LONGEST_MS: u64 = 100 * 365 * 24 * 60 * 60 * 1000;

/// The start of every script: removes expired entries and defines the shared functions.
const BEGIN: &str = "
    local values, ends, sizes, spaces = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
    local space, names, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)

    -- The sum of all spaces is that of the one without a name.
    local function count(name, bytes)
        redis.call('HINCRBY', sizes, name, bytes)
        redis.call('HINCRBY', sizes, '', bytes)
    end
    local function forget(name)
        local bytes = redis.call('HGET', sizes, name)
        -- Not `-bytes`: minus nothing is not a whole number.
        if bytes then redis.call('HINCRBY', sizes, '', 0 - bytes) end
        redis.call('HDEL', sizes, name)
        redis.call('ZREM', spaces, name)
    end
    local function forget_ended(most)
        for _, name in ipairs(redis.call('ZRANGEBYSCORE', spaces, '-inf', now, 'LIMIT', 0, most)) do forget(name) end
    end
    local function size(key)
        if redis.call('HEXISTS', values, key) == 0 then return 0 end
        return #key + redis.call('HSTRLEN', values, key) + names
    end
    local function remove(key)
        local bytes = size(key)
        redis.call('ZREM', ends, key)
        if bytes == 0 then return 0 end
        redis.call('HDEL', values, key)
        count(space, -bytes)
        return 1
    end

    for _, key in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now)) do remove(key) end
    -- It ended as a whole, or the server gave it up.
    if redis.call('HLEN', values) == 0 then forget(space) end
    forget_ended(16)

    -- What is kept ends with the last of its parts, unless one of them stays.
    local function until_last(hash, set, parts)
        local last = parts == redis.call('ZCARD', set) and redis.call('ZRANGE', set, -1, -1, 'WITHSCORES')[2]
        for _, key in ipairs({hash, set}) do
            if last then redis.call('PEXPIREAT', key, last) else redis.call('PERSIST', key) end
        end
        return last
    end
    local function finish()
        local parts = redis.call('HLEN', values)
        local last = until_last(values, ends, parts)
        if parts == 0 then
            forget(space)
        elseif last then
            redis.call('ZADD', spaces, last, space)
        else
            redis.call('ZREM', spaces, space)
        end
        local others = redis.call('HLEN', sizes) - 1
        if others == 0 then redis.call('HDEL', sizes, '') end
        until_last(sizes, spaces, others)
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
    -- Whether the tenant may have so many bytes more.
    local function fits(more)
        if not limit or more <= 0 then return true end
        local function has() return tonumber(redis.call('HGET', sizes, '') or 0) end
        if has() + more > limit then forget_ended(-1) end
        return has() + more <= limit
    end
    -- 1: it is written; 0: too many keys; -1: too many bytes.
    local function write(key, value, ms, most)
        if full(key, most) then return 0 end
        local more = #key + #value + names - size(key)
        if not fits(more) then return -1 end
        redis.call('HSET', values, key, value)
        count(space, more)
        ttl(key, ms)
        finish()
        return 1
    end
    local key = ARGV[4]
";
const GET: &str = "return redis.call('HGET', values, key)";
const SET: &str = "return write(key, ARGV[5], ARGV[6], ARGV[7])";
const DELETE: &str = "
    local found = remove(key)
    finish()
    return found";
/// Returns the sum as text, because Lua's numbers are exact only up to 53 bits.
const INCREMENT: &str = "
    local before, found = size(key), redis.call('HGET', values, key)
    if full(key, ARGV[7]) then return '0' end
    local done = redis.pcall('HINCRBY', values, key, ARGV[5])
    if type(done) == 'table' then return 'NaN' end
    local more = size(key) - before
    if not fits(more) then
        if before == 0 then redis.call('HDEL', values, key) else redis.call('HSET', values, key, found) end
        return '-1'
    end
    count(space, more)
    if before == 0 then ttl(key, ARGV[6]) end
    finish()
    return '=' .. redis.call('HGET', values, key)";
/// Returns the same codes as [`SET`], and -2 if the value is not the expected one.
const SWAP: &str = "
    local found = redis.call('HGET', values, key)
    if ARGV[8] == '1' then
        if found ~= ARGV[9] then return -2 end
    elseif found then
        return -2
    end
    return write(key, ARGV[5], ARGV[6], ARGV[7])";
const KEYS: &str = "
    local found = {}
    for _, name in ipairs(redis.call('HKEYS', values)) do
        if string.sub(name, 1, #key) == key then found[#found + 1] = name end
    end
    return found";
/// The bytes of all spaces of the tenant, as text.
const SIZE: &str = "return redis.call('HGET', sizes, '') or '0'";

/// A [`Store`] in a Valkey or Redis server. Connects on first use, and reconnects automatically.
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
    size: Script,
}

impl RedisStore {
    /// A store at `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, or with TLS at `rediss://…`. With TLS, this machine
    /// has to trust the server's certificate. Does not connect yet.
    ///
    /// # Errors
    /// [`StateError::Unavailable`] if the URL is invalid.
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
                size: script(SIZE),
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

/// The names of a space on the server.
struct Names {
    /// The keys for scripts: values and expiry times of the space, sizes and expiry times of the tenant's spaces.
    keys: [String; 4],
    /// The name of the space in the tenant's keys.
    space: String,
    /// The overhead of each entry of the space, in bytes.
    entry_bytes: u64,
}

impl Names {
    /// Hashes the parts of a space with their lengths, so that different spaces get different names. The tenant's name
    /// stays readable, so that operators can find its keys.
    fn of(space: &Space) -> Self {
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
        let of_space = |part: &str| format!("hookbox:{{{tenant}}}:{digest}:{part}");
        let of_tenant = |part: &str| format!("hookbox:{{{tenant}}}:{part}");
        Self {
            keys: [of_space("values"), of_space("ends"), of_tenant("sizes"), of_tenant("spaces")],
            entry_bytes: ENTRY_BYTES + (namespace.len() + session.len()) as u64,
            space: digest,
        }
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
