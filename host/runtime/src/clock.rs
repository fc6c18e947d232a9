//! Unix time, for data that outlives the process (expiry in the state store, records), and time arithmetic that never
//! panics.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Replaces durations that no clock of the operating system can represent: 30 years.
const FAR: Duration = Duration::from_hours(30 * 365 * 24);

/// Adds a duration to an instant. Returns an instant about 30 years ahead on overflow. `+` would panic there, and
/// durations come from headers, options and configurations.
#[must_use]
pub fn later(since: Instant, time: Duration) -> Instant {
    since.checked_add(time).or_else(|| since.checked_add(FAR)).unwrap_or(since)
}

/// The current Unix time in milliseconds.
pub(crate) fn unix_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{FAR, later};

    #[test]
    fn no_duration_is_too_long() {
        let now = Instant::now();
        assert_eq!(later(now, Duration::from_secs(1)) - now, Duration::from_secs(1));
        for long in [1.8e19, 1e19, 9.3e18].map(Duration::from_secs_f64).into_iter().chain([Duration::MAX]) {
            assert_eq!(later(now, long) - now, FAR, "{long:?}");
        }
    }
}
