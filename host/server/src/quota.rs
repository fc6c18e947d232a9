//! Rate limits of tenants.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// A token bucket. It holds at most the tokens of one second. It may go into debt, because the cost of a call is known
/// only afterwards.
#[derive(Debug)]
pub struct Bucket {
    per_second: f64,
    level: Mutex<(f64, Instant)>,
}

impl Bucket {
    /// Creates a full bucket.
    pub fn new(per_second: f64, now: Instant) -> Self {
        Self { per_second, level: Mutex::new((Self::full(per_second), now)) }
    }

    /// The capacity. At least one token, or nothing would ever pass.
    fn full(per_second: f64) -> f64 {
        per_second.max(1.0)
    }

    /// Takes `amount`, if it is available.
    ///
    /// # Errors
    /// The time until it is available.
    pub fn take(&self, amount: f64, now: Instant) -> Result<(), Duration> {
        self.with(now, |level| {
            if *level >= amount {
                *level -= amount;
                return Ok(());
            }
            let wait = (amount - *level) / self.per_second;
            Err(Duration::try_from_secs_f64(wait).unwrap_or(Duration::MAX))
        })
    }

    /// Takes `amount`, even if that leads to a debt.
    pub fn charge(&self, amount: f64, now: Instant) {
        self.with(now, |level| *level -= amount);
    }

    /// The rate and the current level, which is negative while the bucket is in debt.
    pub fn level(&self, now: Instant) -> (f64, f64) {
        (self.per_second, self.with(now, |level| *level))
    }

    fn with<T>(&self, now: Instant, change: impl FnOnce(&mut f64) -> T) -> T {
        let mut state = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let (level, then) = &mut *state;
        let since = now.saturating_duration_since(*then).as_secs_f64();
        *level = (since.mul_add(self.per_second, *level)).min(Self::full(self.per_second));
        *then = now.max(*then);
        change(level)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Bucket;

    #[test]
    fn a_bucket_holds_the_tokens_of_one_second() {
        let begin = Instant::now();
        let bucket = Bucket::new(10.0, begin);
        let taken = (0..100).filter(|_| bucket.take(1.0, begin).is_ok()).count();
        assert_eq!(taken, 10);
        assert_eq!(bucket.take(1.0, begin), Err(Duration::from_millis(100)));
        let later = begin + Duration::from_millis(500);
        assert_eq!((0..100).filter(|_| bucket.take(1.0, later).is_ok()).count(), 5);
        // At most the tokens of one second, however long the bucket was unused.
        let much_later = begin + Duration::from_secs(1000);
        assert_eq!((0..100).filter(|_| bucket.take(1.0, much_later).is_ok()).count(), 10);
    }

    #[test]
    fn a_charge_delays_later_calls() {
        let begin = Instant::now();
        let bucket = Bucket::new(100.0, begin);
        bucket.charge(300.0, begin);
        assert_eq!(bucket.take(1.0, begin), Err(Duration::from_millis(2010)));
        assert_eq!(bucket.take(1.0, begin + Duration::from_secs(3)), Ok(()));
    }

    #[test]
    fn less_than_one_per_second_still_passes() {
        let begin = Instant::now();
        let bucket = Bucket::new(0.5, begin);
        assert_eq!(bucket.take(1.0, begin), Ok(()));
        assert_eq!(bucket.take(1.0, begin), Err(Duration::from_secs(2)));
    }
}
