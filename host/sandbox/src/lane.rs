//! Turns on the processor for components that compute for long, so that those that only begin do not wait behind them.
//!
//! Whoever has run for a tick waits for a turn, of which there is one per thread and tick. While calls begin, one thread
//! fewer has turns to give: what is short finds a thread that nobody keeps. Those that have run for less go first, but
//! nobody waits longer than it has run.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use tokio::sync::oneshot;

/// So many ticks without a call that begins make it quiet.
const QUIET: u32 = 8;

/// See the module.
pub(crate) struct Lane {
    line: Mutex<Line>,
    threads: usize,
    /// Calls that began so far.
    begun: AtomicU64,
}

#[derive(Default)]
struct Line {
    /// Ticks so far.
    now: u64,
    /// Turns that are left of this tick.
    turns: usize,
    /// Who waits, by when it came and how long it has run, both in ticks; and in the order in which they came.
    waiting: BTreeMap<(u64, u64), oneshot::Sender<()>>,
    came: u64,
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
        Self::of(thread::available_parallelism().map_or(1, usize::from))
    }

    fn of(threads: usize) -> Self {
        Self { line: Mutex::new(Line { turns: threads, ..Line::default() }), threads, begun: AtomicU64::new(0) }
    }

    /// A call begins, which needs no turn.
    pub(crate) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets others run, and waits for a turn. The call has run for so many ticks.
    pub(crate) async fn turn(&self, ran: u64) {
        tokio::task::yield_now().await;
        let turn = {
            let mut line = self.line();
            if line.turns > 0 {
                line.turns -= 1;
                return;
            }
            let (sender, receiver) = oneshot::channel();
            let place = (line.now.saturating_add(ran), line.came);
            line.came += 1;
            line.waiting.insert(place, sender);
            receiver
        };
        // Nobody drops it before its turn.
        let _ = turn.await;
    }

    /// A tick has passed: the turns of the next one.
    pub(crate) fn tick(&self, seen: &mut Seen) {
        let begun = self.begun.load(Ordering::Relaxed);
        seen.quiet = if begun == seen.begun { seen.quiet.saturating_add(1) } else { 0 };
        seen.begun = begun;
        let mut line = self.line();
        line.now += 1;
        line.turns = if seen.quiet < QUIET { self.threads.saturating_sub(1).max(1) } else { self.threads };
        while line.turns > 0
            && let Some((_, next)) = line.waiting.pop_first()
        {
            // Whoever ended while it waited needs none.
            line.turns -= usize::from(next.send(()).is_ok());
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll, Waker},
    };

    use super::{Lane, QUIET, Seen};

    #[test]
    fn one_thread_is_kept_for_those_who_begin() {
        let (lane, mut seen) = (Lane::of(4), Seen::default());
        lane.begin();
        for _ in 0..QUIET {
            lane.tick(&mut seen);
            assert_eq!(lane.line().turns, 3);
        }
        lane.tick(&mut seen);
        assert_eq!(lane.line().turns, 4);
        lane.begin();
        lane.tick(&mut seen);
        assert_eq!(lane.line().turns, 3);
        // Somebody has a turn even where there is one thread only.
        let lane = Lane::of(1);
        lane.begin();
        lane.tick(&mut Seen::default());
        assert_eq!(lane.line().turns, 1);
    }

    fn is_there(turn: &mut Pin<Box<impl Future<Output = ()>>>) -> bool {
        matches!(turn.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(()))
    }

    #[test]
    fn who_ran_for_less_goes_first_and_nobody_waits_for_ever() {
        let (lane, mut seen) = (Lane::of(1), Seen::default());
        lane.line().turns = 0;
        // The first poll is what lets others run.
        let wait = |ran| {
            let mut turn = Box::pin(lane.turn(ran));
            assert!(!is_there(&mut turn) && !is_there(&mut turn));
            turn
        };
        let (mut old, mut young, gone) = (wait(40), wait(1), wait(0));
        drop(gone);
        lane.tick(&mut seen);
        assert!(is_there(&mut young) && !is_there(&mut old));
        for _ in 0..38 {
            let mut another = wait(1);
            lane.tick(&mut seen);
            assert!(is_there(&mut another) && !is_there(&mut old));
        }
        let mut another = wait(1);
        lane.tick(&mut seen);
        assert!(is_there(&mut old) && !is_there(&mut another));
    }
}
