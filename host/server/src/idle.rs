//! Connections on which nobody waits for an answer. When there is no room for a new one, one of these is asked to leave:
//! whoever only holds connections does not keep others out.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;

/// The idle connections of a daemon: first those that never asked anything, and each time those first that have been idle
/// for the longest.
#[derive(Debug, Default)]
pub struct Idle(Mutex<Queue>);

/// What is added to the number of one that asked something.
const ASKED: u64 = 1 << 63;

#[derive(Debug, Default)]
struct Queue {
    /// The last number that was given.
    last: u64,
    lines: BTreeMap<u64, Arc<Notify>>,
}

impl Idle {
    /// Asks the first one to leave; false when there is none.
    pub fn ask_one_to_leave(&self) -> bool {
        let first = self.lock().lines.pop_first();
        if let Some((_, leave)) = &first {
            leave.notify_one();
        }
        first.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection, idle until it is told otherwise.
#[derive(Debug)]
pub struct Line {
    all: Arc<Idle>,
    leave: Arc<Notify>,
    /// Its number among the idle ones; 0 while it is busy.
    number: AtomicU64,
}

impl Line {
    /// A new one.
    pub fn new(all: &Arc<Idle>) -> Self {
        let line = Self { all: Arc::clone(all), leave: Arc::default(), number: AtomicU64::new(0) };
        line.rest(0);
        line
    }

    /// It is busy until the value is dropped.
    pub fn work(self: &Arc<Self>) -> Busy {
        self.leave_queue();
        Busy(Arc::clone(self))
    }

    /// It may leave as soon as it has its answer, for which there is nothing left to do.
    pub fn done(&self) {
        self.rest(ASKED);
    }

    /// Whether nobody waits for an answer on it.
    pub fn is_idle(&self) -> bool {
        self.number.load(Ordering::Acquire) != 0
    }

    /// Waits until it is to make room.
    pub async fn asked_to_leave(&self) {
        self.leave.notified().await;
    }

    fn rest(&self, class: u64) {
        let mut queue = self.all.lock();
        queue.last += 1;
        let number = queue.last | class;
        queue.lines.insert(number, Arc::clone(&self.leave));
        let before = self.number.swap(number, Ordering::AcqRel);
        queue.lines.remove(&before);
    }

    fn leave_queue(&self) {
        let number = self.number.swap(0, Ordering::AcqRel);
        self.all.lock().lines.remove(&number);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.leave_queue();
    }
}

/// See [`Line::work`].
#[derive(Debug)]
pub struct Busy(Arc<Line>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.rest(ASKED);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::Arc,
        task::{Context, Waker},
    };

    use super::{Idle, Line};

    fn is_asked(line: &Line) -> bool {
        pin!(line.asked_to_leave()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn who_never_asked_leaves_first_and_then_who_is_idle_for_the_longest() {
        let all = Arc::new(Idle::default());
        let [first, second, busy, new] = [(); 4].map(|()| Arc::new(Line::new(&all)));
        drop(second.work());
        drop(first.work());
        let working = busy.work();
        for leaves in [&new, &second, &first] {
            assert!(leaves.is_idle() && all.ask_one_to_leave() && is_asked(leaves));
        }
        assert!(!all.ask_one_to_leave() && !is_asked(&busy) && !busy.is_idle());
        drop(working);
        assert!(busy.is_idle() && all.ask_one_to_leave() && is_asked(&busy));
        let working = busy.work();
        busy.done();
        drop(working);
        assert!(all.ask_one_to_leave() && is_asked(&busy) && !all.ask_one_to_leave());
        let gone = Line::new(&all);
        drop(gone);
        assert!(!all.ask_one_to_leave());
    }
}
