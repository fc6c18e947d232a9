//! The scripts that the server runs.

use redis::Script;

/// The script of each method.
pub(super) struct Scripts {
    pub(super) get: Script,
    pub(super) set: Script,
    pub(super) delete: Script,
    pub(super) increment: Script,
    pub(super) swap: Script,
    pub(super) keys: Script,
    pub(super) size: Script,
}

impl Scripts {
    /// The scripts with their common start.
    pub(super) fn new() -> Self {
        let script = |body: &str| Script::new(&format!("{BEGIN}{body}"));
        Self {
            get: script(GET),
            set: script(SET),
            delete: script(DELETE),
            increment: script(INCREMENT),
            swap: script(SWAP),
            keys: script(KEYS),
            size: script(SIZE),
        }
    }
}

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
