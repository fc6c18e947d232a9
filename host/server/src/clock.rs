//! The clock of records and pages.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The current Unix time in ms.
pub fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
