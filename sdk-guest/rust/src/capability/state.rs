//! Keys and values that outlive a call, separate for each tenant, hook and (if configured) session.
//!
//! A hook starts without memory of earlier calls, so values to remember belong here.

use std::fmt;
use std::time::Duration;

use super::host;
use crate::Fault;
use crate::bindings::shared::hookbox::hooks::state as wit;

/// A failed state operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The key or value is too long, or the hook holds too many.
    Quota(String),
    /// [`increment`] found a value that is not a whole number.
    NotANumber,
    /// The store is busy or broken. A retry may help.
    Unavailable(String),
}

/// Returns the value of a key.
pub fn get(key: &str) -> Result<Option<String>, Error> {
    Ok(host::state::get(key)?)
}

/// Sets a value.
pub fn set(key: &str, value: impl AsRef<str>) -> Result<(), Error> {
    Ok(host::state::set(key, value.as_ref(), None)?)
}

/// Sets a value that expires after `ttl`.
pub fn set_for(ttl: Duration, key: &str, value: impl AsRef<str>) -> Result<(), Error> {
    Ok(host::state::set(key, value.as_ref(), Some(milliseconds(ttl)))?)
}

/// Deletes a value. Returns true if there was one.
pub fn delete(key: &str) -> Result<bool, Error> {
    Ok(host::state::delete(key)?)
}

/// Adds `by` atomically and returns the new value. A missing value counts as 0.
pub fn increment(key: &str, by: i64) -> Result<i64, Error> {
    Ok(host::state::increment(key, by, None)?)
}

/// As [`increment`], but a new value expires after `ttl`. Use it to count per time window.
pub fn increment_for(ttl: Duration, key: &str, by: i64) -> Result<i64, Error> {
    Ok(host::state::increment(key, by, Some(milliseconds(ttl)))?)
}

/// Sets the value only if it is still `expected`, where `None` means no value. Returns true if it was set.
pub fn compare_and_swap(key: &str, expected: Option<&str>, value: impl AsRef<str>) -> Result<bool, Error> {
    Ok(host::state::compare_and_swap(key, expected, value.as_ref(), None)?)
}

/// Returns the keys that begin with the prefix, in byte order.
pub fn keys(prefix: &str) -> Result<Vec<String>, Error> {
    Ok(host::state::keys(prefix)?)
}

fn milliseconds(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quota(why) => write!(f, "state: {why}"),
            Self::NotANumber => f.write_str("state: the value is not a whole number"),
            Self::Unavailable(why) => write!(f, "state is unavailable: {why}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<wit::Error> for Error {
    fn from(error: wit::Error) -> Self {
        match error {
            wit::Error::Quota(why) => Self::Quota(why),
            wit::Error::NotANumber => Self::NotANumber,
            wit::Error::Unavailable(why) => Self::Unavailable(why),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::failed(error)
    }
}
