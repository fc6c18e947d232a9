//! Turns on the processor for components that compute for long, so that those that only begin do not wait behind them.
//!
//! Whoever has run for a tick waits for a turn, of which there is one per thread and tick. While calls begin, one thread
//! fewer has turns to give: what is short finds a thread that nobody keeps. Those that have run for less go first, but
//! nobody waits longer than it has run.
//!
//! A tenant whose component has run for long is heavy for a while. As long as calls of others begin, its calls are held:
//! after each slice they wait until one of them may have another, every few ticks. Slices are counted in fuel, since a clock
//! that has no processor itself ends nothing.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::ready,
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

/// How long a component can run between two looks at its deadline.
pub(crate) const TICK: Duration = Duration::from_millis(1);
/// Fuel between two chances for others: some 200 µs.
pub(crate) const SLICE: u64 = 250_000;
/// Fuel of about a tick: so much is a turn, whatever the clock says of a call that gave others a chance meanwhile.
pub(crate) const TURN: u64 = 1_000_000;
/// More fuel than hooks take that read an event and answer: some 20 ms.
const LONG: u64 = 20 * TURN;
/// So many ticks without a call that begins make it quiet.
const QUIET: u32 = 8;
/// So many ticks a tenant is heavy: 10 s.
const HEAVY: u64 = 10_000;
/// A slice for those that are held comes every so many ticks.
const SHARE: u64 = 4;

/// See the module.
pub(crate) struct Lane {
    line: Mutex<Line>,
    threads: usize,
    /// Calls that began so far, and those of them that are not of heavy tenants.
    begun: AtomicU64,
    light: AtomicU64,
    /// Whether there are heavy tenants, and others than those begin calls.
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
    /// Ticks without a slice, since one took longer: a single instruction may fill a memory.
    rest: u64,
}

/// What the clock remembers of a [`Lane`] from tick to tick.
#[derive(Default)]
pub(crate) struct Seen {
    all: Begun,
    light: Begun,
}

/// Calls that begin, or do not.
#[derive(Default)]
struct Begun {
    count: u64,
    quiet: u32,
}

impl Begun {
    /// Whether one began lately.
    fn lately(&mut self, count: u64) -> bool {
        self.quiet = if count == self.count { self.quiet.saturating_add(1) } else { 0 };
        self.count = count;
        self.quiet < QUIET
    }
}

impl Lane {
    /// With as many threads as the machine has for us.
    pub(crate) fn new() -> Self {
        Self::of(thread::available_parallelism().map_or(1, usize::from))
    }

    fn of(threads: usize) -> Self {
        Self {
            line: Mutex::new(Line { turns: threads, ..Line::default() }),
            threads,
            begun: AtomicU64::new(0),
            light: AtomicU64::new(0),
            holds: AtomicBool::new(false),
        }
    }

    /// A call of this tenant begins, which needs no turn.
    pub(crate) fn begin(&self, tenant: &str) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        if !self.line().heavy.contains_key(tenant) {
            self.light.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether the calls of this tenant are held.
    pub(crate) fn holds(&self, tenant: &str) -> bool {
        self.holds.load(Ordering::Relaxed) && self.line().heavy.contains_key(tenant)
    }

    /// Lets others run, and waits for a turn. The call of this tenant has used so much fuel.
    pub(crate) async fn turn(&self, tenant: &Arc<str>, used: u64) {
        tokio::task::yield_now().await;
        let turn = {
            let mut line = self.line();
            if used >= LONG {
                let until = line.now.saturating_add(HEAVY);
                line.heavy.insert(Arc::clone(tenant), until);
            }
            if line.turns > 0 {
                line.turns -= 1;
                return;
            }
            let (sender, receiver) = oneshot::channel();
            let place = (line.now.saturating_add(used / TURN), line.came);
            line.came += 1;
            line.waiting.insert(place, sender);
            receiver
        };
        // Nobody drops it before its turn.
        let _ = turn.await;
    }

    /// Does what a call does, which gives others a chance after each slice; where the tenant is held, it waits then.
    pub(crate) async fn paced<T>(&self, tenant: &str, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        let mut held = (self.holds(tenant) && self.line().rest > 0).then(|| self.slice());
        poll_fn(|cx| {
            loop {
                if let Some(slice) = &mut held {
                    // Nobody drops it before its turn.
                    let _ = ready!(Pin::new(slice).poll(cx));
                }
                let began = Instant::now();
                let polled = call.as_mut().poll(cx);
                let holds = self.holds(tenant);
                if holds {
                    let ticks = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                    let mut line = self.line();
                    line.rest = line.rest.saturating_add(ticks.saturating_mul(SHARE));
                }
                held = (holds && polled.is_pending()).then(|| self.slice());
                if held.is_none() {
                    return polled;
                }
            }
        })
        .await
    }

    fn slice(&self) -> oneshot::Receiver<()> {
        let (sender, slice) = oneshot::channel();
        self.line().held.push_back(sender);
        slice
    }

    /// A tick has passed: the turns of the next one.
    pub(crate) fn tick(&self, seen: &mut Seen) {
        let begins = seen.all.lately(self.begun.load(Ordering::Relaxed));
        let others = seen.light.lately(self.light.load(Ordering::Relaxed));
        let mut line = self.line();
        line.now += 1;
        line.turns = if begins { self.threads.saturating_sub(1).max(1) } else { self.threads };
        while line.turns > 0
            && let Some((_, next)) = line.waiting.pop_first()
        {
            // Whoever ended while it waited needs none.
            line.turns -= usize::from(next.send(()).is_ok());
        }
        let now = line.now;
        line.heavy.retain(|_, until| *until > now);
        let holds = others && !line.heavy.is_empty();
        self.holds.store(holds, Ordering::Relaxed);
        line.rest = if holds { line.rest.saturating_sub(1) } else { 0 };
        let mut slices = match holds {
            true if line.rest == 0 && now.is_multiple_of(SHARE) => self.threads.saturating_sub(1).max(1),
            true => 0,
            false => usize::MAX,
        };
        while slices > 0
            && let Some(next) = line.held.pop_front()
        {
            slices -= usize::from(next.send(()).is_ok());
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
