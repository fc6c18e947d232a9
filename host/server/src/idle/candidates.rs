//! Selects the connection that makes room.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::queue::Queue;

/// The minimum number of unauthenticated connections that each address may have.
pub(super) const PER_ADDRESS: usize = 16;

/// The connections that may be closed to make room.
#[derive(Debug)]
pub struct Idle {
    queue: Mutex<Queue>,
    /// The maximum number of unauthenticated connections per address, not counting new ones.
    pub(super) per_address: usize,
    pub(super) grace: Duration,
}

/// The result of [`Idle::ask_one_to_leave`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseResult {
    /// One connection will close.
    One,
    /// Some may be closed later, when their grace period is over.
    Later,
    /// None may be closed.
    None,
}

impl Idle {
    /// For a daemon with this many connections and this grace period.
    pub fn new(connections: usize, grace: Duration) -> Self {
        Self { queue: Mutex::default(), per_address: PER_ADDRESS.max(connections / 4), grace }
    }

    /// Asks the first candidate to leave.
    pub fn ask_one_to_leave(&self) -> CloseResult {
        let mut queue = self.lock();
        let resting = |queue: &mut Queue| queue.resting.pop_first().map(|(_, signals)| signals);
        let first = queue.refused.pop(Duration::ZERO).or_else(|| queue.strangers.pop(self.grace));
        if first.is_none() && !queue.strangers.is_empty() {
            return CloseResult::Later;
        }
        let Some(signals) = first.or_else(|| resting(&mut queue)).or_else(|| queue.reading.pop(Duration::ZERO)) else {
            return CloseResult::None;
        };
        signals.leave.notify_one();
        signals.hurry.notify_one();
        CloseResult::One
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
