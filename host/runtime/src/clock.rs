//! The time of day, for what outlives the process: expiry in the state store, and records.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds of Unix time.
pub(crate) fn unix_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
