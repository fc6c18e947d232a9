//! Turns on the processor for components that compute for long, so that those that only begin do not wait behind them.
//!
//! Whoever has run for a tick waits for a turn, of which there is one per thread and tick. While calls begin, one thread
//! fewer has turns to give: what is short finds a thread that nobody keeps.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use tokio::sync::Semaphore;

/// So many ticks without a call that begins make it quiet.
const QUIET: u32 = 8;

/// See the module.
pub(crate) struct Lane {
    turns: Semaphore,
    threads: usize,
    /// Calls that began so far.
    begun: AtomicU64,
}

/// What the clock remembers of a [`Lane`] from tick to tick.
#[derive(Default)]
pub(crate) struct Seen {
    begun: u64,
    quiet: u32,
}

impl Lane {
    /// With as many threads as the machine has for us.
    pub(crate) fn new() -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self { turns: Semaphore::new(threads), threads, begun: AtomicU64::new(0) }
    }

    /// A call begins, which needs no turn.
    pub(crate) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets others run, and waits for a turn.
    pub(crate) async fn turn(&self) {
        tokio::task::yield_now().await;
        // Nobody closes it.
        if let Ok(turn) = self.turns.acquire().await {
            turn.forget();
        }
    }

    /// A tick has passed: the turns of the next one.
    pub(crate) fn tick(&self, seen: &mut Seen) {
        let begun = self.begun.load(Ordering::Relaxed);
        seen.quiet = if begun == seen.begun { seen.quiet.saturating_add(1) } else { 0 };
        seen.begun = begun;
        let wanted = if seen.quiet < QUIET { self.threads.saturating_sub(1).max(1) } else { self.threads };
        let left = self.turns.available_permits();
        self.turns.forget_permits(left.saturating_sub(wanted));
        self.turns.add_permits(wanted.saturating_sub(left));
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::{Lane, QUIET, Seen};

    #[test]
    fn one_thread_is_kept_for_those_who_begin() {
        let lane = Lane { turns: Semaphore::new(4), threads: 4, begun: 0.into() };
        let mut seen = Seen::default();
        lane.begin();
        for _ in 0..QUIET {
            lane.tick(&mut seen);
            assert_eq!(lane.turns.available_permits(), 3);
        }
        lane.tick(&mut seen);
        assert_eq!(lane.turns.available_permits(), 4);
        lane.begin();
        lane.tick(&mut seen);
        assert_eq!(lane.turns.available_permits(), 3);
        // Somebody has a turn even where there is one thread only.
        let lane = Lane { turns: Semaphore::new(1), threads: 1, begun: 1.into() };
        lane.tick(&mut Seen::default());
        assert_eq!(lane.turns.available_permits(), 1);
    }
}
