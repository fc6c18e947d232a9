//! Turns on the processor for components that compute for long, so that those that only begin do not wait behind them.
//!
//! Whoever has run for a tick waits for a turn, of which there is one per thread and tick. While calls begin, one thread
//! fewer has turns to give: what is short finds a thread that nobody keeps. Those that have run for less go first, but
//! nobody waits longer than it has run.
//!
//! A tenant one of whose calls has run for long is heavy for a while. As long as calls of others begin, its calls are held:
//! after each grant they wait until one of them may have another, every few ticks. They are interrupted by their fuel as
//! well as by the clock, since a clock that has no processor itself interrupts nobody. See
//! `docs/adr/0011-whose-turn-on-the-processor.md`.

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

/// How long a component can run between two looks at its deadline.
pub(crate) const TICK: Duration = Duration::from_millis(1);
/// Fuel between two chances for others: 12 to 200 µs, by what it is used for.
pub(crate) const SLICE: u64 = 250_000;
/// Longer than hooks run that read an event and answer.
const LONG: Duration = Duration::from_millis(16);
/// What a call that is held may run for at a time.
const GRANT: Duration = Duration::from_micros(200);
/// A grant for those that are held comes every so many ticks.
const SHARE: u64 = 4;
/// So many ticks a tenant is heavy: 10 s.
const HEAVY: u64 = 10_000;
/// So many ticks without a call that begins make it quiet.
const QUIET: u32 = 8;

/// See the module.
pub(crate) struct Lane {
    line: Mutex<Line>,
    /// Calls that began so far, and those of them that are not of heavy tenants.
    begun: AtomicU64,
    light: AtomicU64,
    /// True if there are heavy tenants, and others than those begin calls.
    holds: AtomicBool,
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
    /// Until which tick a tenant is heavy, and which of their calls wait.
    heavy: HashMap<Arc<str>, u64>,
    held: VecDeque<oneshot::Sender<()>>,
    /// Ticks without a grant, since one took longer: a single instruction may fill a memory.
    rest: u64,
}

/// What the clock remembers of a [`Lane`] from tick to tick.
#[derive(Default)]
pub(crate) struct Seen {
    all: Begun,
    light: Begun,
    /// How many threads the machine has for us, once a tick has asked.
    threads: Option<usize>,
}

/// Calls that begin, or do not.
#[derive(Default)]
struct Begun {
    count: u64,
    quiet: u32,
}

impl Begun {
    /// Returns true if one began lately.
    fn lately(&mut self, count: u64) -> bool {
        self.quiet = if count == self.count { self.quiet.saturating_add(1) } else { 0 };
        self.count = count;
        self.quiet < QUIET
    }
}

impl Lane {
    /// One turn until the first tick, and then those of all threads that the machine has for us.
    pub(crate) fn new() -> Self {
        Self {
            line: Mutex::new(Line { turns: 1, ..Line::default() }),
            begun: AtomicU64::new(0),
            light: AtomicU64::new(0),
            holds: AtomicBool::new(false),
        }
    }

    /// A call of this tenant begins, which needs no turn.
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

    /// Waits for a turn. The call has run for so long.
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
        // Nobody drops it before its turn.
        let _ = turn.await;
    }

    /// A call of this tenant has run for long.
    fn make_heavy(&self, tenant: &Arc<str>) {
        let mut line = self.line();
        let until = line.now.saturating_add(HEAVY);
        line.heavy.insert(Arc::clone(tenant), until);
    }

    /// Returns true if the last grant took so long that nobody has one now.
    fn rests(&self) -> bool {
        self.line().rest > 0
    }

    /// A grant was used for so long.
    fn used(&self, time: Duration) {
        let mut line = self.line();
        line.rest = line.rest.saturating_add(ticks(time).saturating_mul(SHARE));
    }

    /// A grant, when it comes.
    fn grant(&self) -> oneshot::Receiver<()> {
        let (sender, grant) = oneshot::channel();
        self.line().held.push_back(sender);
        grant
    }

    /// So much time has passed without a tick.
    pub(crate) fn pass(&self, time: Duration) {
        if !time.is_zero() {
            let mut line = self.line();
            line.now = line.now.saturating_add(ticks(time));
        }
    }

    /// A tick has passed: the turns of the next one.
    pub(crate) fn tick(&self, seen: &mut Seen) {
        let begins = seen.all.lately(self.begun.load(Ordering::Relaxed));
        let others = seen.light.lately(self.light.load(Ordering::Relaxed));
        // Asking takes several files, and whoever starts us need not wait for that.
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
            // Whoever ended while it waited needs none.
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
