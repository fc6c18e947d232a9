//! Cooperative CPU scheduler: throttles long calls so that short ones do not queue behind them.
//!
//! A call that has run for one tick must wait for a turn. Each thread has one turn per tick. While calls begin, one
//! thread has no turns, so that short calls find it free. Waiters that have run for less time are served first, but no
//! call waits longer than it has run.
//!
//! A tenant becomes heavy for a while when one of its calls has run for long. Calls of heavy tenants are held while
//! calls of other tenants begin: they run only in short grants, every few ticks. Fuel interrupts calls as well as the
//! clock, because the clock's thread may get no processor time. See `docs/adr/0011-fair-cpu-scheduling.md`.

mod call;
mod clock;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::sync::oneshot;

pub(crate) use call::Pace;

/// Period of the clock: the longest time between two checks of a component's deadline.
pub(crate) const TICK: Duration = Duration::from_millis(1);
/// Fuel between two yields: 12 to 200 µs, depending on the instructions.
pub(crate) const SLICE: u64 = 250_000;
/// Processor time of one call that makes its tenant heavy. Hooks that read an event and answer take less.
const LONG: Duration = Duration::from_millis(16);
/// Processor time that a held call may use per grant.
const GRANT: Duration = Duration::from_micros(200);
/// Ticks between two grants to held calls.
const SHARE: u64 = 4;
/// Ticks for which a tenant stays heavy: 10 s.
const HEAVY: u64 = 10_000;
/// Ticks without a new call after which a [`Lane`] counts as quiet.
const QUIET: u32 = 8;

/// The scheduler of an engine. See the module's documentation.
pub(crate) struct Lane {
    line: Mutex<Line>,
    /// Calls begun so far, and the part of them by tenants that are not heavy.
    begun: AtomicU64,
    light: AtomicU64,
    /// True if there are heavy tenants and other tenants begin calls.
    holds: AtomicBool,
}

#[derive(Default)]
struct Line {
    /// Ticks so far.
    now: u64,
    /// Turns left in this tick.
    turns: usize,
    /// Waiting calls, by arrival plus time already run (both in ticks), and then in order of arrival.
    waiting: BTreeMap<(u64, u64), oneshot::Sender<()>>,
    came: u64,
    /// The tick until which each tenant is heavy, and the held calls that wait for a grant.
    heavy: HashMap<Arc<str>, u64>,
    held: VecDeque<oneshot::Sender<()>>,
    /// Ticks left without grants after a grant that took too long. A single instruction can fill a whole memory.
    rest: u64,
}

/// State of the clock that it keeps from tick to tick.
#[derive(Default)]
pub(crate) struct Seen {
    all: Begun,
    light: Begun,
    /// Number of threads available to the process. Read at the first tick.
    threads: Option<usize>,
}

/// Detects periods without new calls.
#[derive(Default)]
struct Begun {
    count: u64,
    quiet: u32,
}

impl Begun {
    /// Returns true if a call began within the last [`QUIET`] ticks.
    fn lately(&mut self, count: u64) -> bool {
        self.quiet = if count == self.count { self.quiet.saturating_add(1) } else { 0 };
        self.count = count;
        self.quiet < QUIET
    }
}

impl Lane {
    /// Creates a scheduler with one turn. From the first tick on, it has the turns of all available threads.
    pub(crate) fn new() -> Self {
        Self {
            line: Mutex::new(Line { turns: 1, ..Line::default() }),
            begun: AtomicU64::new(0),
            light: AtomicU64::new(0),
            holds: AtomicBool::new(false),
        }
    }

    /// Registers a new call of this tenant. A new call needs no turn.
    pub(crate) fn begin(self: &Arc<Self>, tenant: &Arc<str>) -> Arc<Pace> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        if !self.line().heavy.contains_key(tenant) {
            self.light.fetch_add(1, Ordering::Relaxed);
        }
        Arc::new(Pace::new(Arc::clone(self), Arc::clone(tenant)))
    }

    /// Returns true if the calls of this tenant are held.
    fn holds(&self, tenant: &str) -> bool {
        self.holds.load(Ordering::Relaxed) && self.line().heavy.contains_key(tenant)
    }

    /// Waits for a turn, for a call that has run for `ran`.
    async fn turn(&self, ran: Duration) {
        let turn = {
            let mut line = self.line();
            if line.turns > 0 {
                line.turns -= 1;
                return;
            }
            let (sender, receiver) = oneshot::channel();
            let place = (line.now.saturating_add(ticks(ran)), line.came);
            line.came += 1;
            line.waiting.insert(place, sender);
            receiver
        };
        // The sender is dropped only after it was used.
        let _ = turn.await;
    }

    /// Marks this tenant as heavy, because one of its calls has run for long.
    fn make_heavy(&self, tenant: &Arc<str>) {
        let mut line = self.line();
        let until = line.now.saturating_add(HEAVY);
        line.heavy.insert(Arc::clone(tenant), until);
    }

    /// Returns true if grants are suspended because the last one took too long.
    fn rests(&self) -> bool {
        self.line().rest > 0
    }

    /// Records the processor time that a held call used.
    fn used(&self, time: Duration) {
        let mut line = self.line();
        line.rest = line.rest.saturating_add(ticks(time).saturating_mul(SHARE));
    }

    /// Queues a held call and returns a receiver that resolves with its grant.
    fn grant(&self) -> oneshot::Receiver<()> {
        let (sender, grant) = oneshot::channel();
        self.line().held.push_back(sender);
        grant
    }

    /// Advances the tick count by a period in which the clock slept.
    pub(crate) fn pass(&self, time: Duration) {
        if !time.is_zero() {
            let mut line = self.line();
            line.now = line.now.saturating_add(ticks(time));
        }
    }

    /// Ends a tick and hands out the turns and grants of the next one.
    pub(crate) fn tick(&self, seen: &mut Seen) {
        let begins = seen.all.lately(self.begun.load(Ordering::Relaxed));
        let others = seen.light.lately(self.light.load(Ordering::Relaxed));
        // Reading the number takes several system calls, so the first tick does it and not the start of the process.
        let threads = *seen.threads.get_or_insert_with(|| thread::available_parallelism().map_or(1, usize::from));
        let mut line = self.line();
        line.now += 1;
        let now = line.now;
        line.heavy.retain(|_, until| *until > now);
        let holds = others && !line.heavy.is_empty();
        self.holds.store(holds, Ordering::Relaxed);
        let spared = threads.saturating_sub(1).max(1);

        line.turns = if begins { spared } else { threads };
        while line.turns > 0
            && let Some((_, next)) = line.waiting.pop_first()
        {
            // A waiter that was cancelled uses no turn.
            line.turns -= usize::from(next.send(()).is_ok());
        }
        line.rest = if holds { line.rest.saturating_sub(1) } else { 0 };
        let mut grants = match holds {
            true if line.rest == 0 && now.is_multiple_of(SHARE) => spared,
            true => 0,
            false => usize::MAX,
        };
        while grants > 0
            && let Some(next) = line.held.pop_front()
        {
            grants -= usize::from(next.send(()).is_ok());
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_micros() / TICK.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
