//! A round-robin executor across tenants.
//!
//! A decision consists of stretches of CPU work between waits (for a server, a process, the end of a time slice). The
//! async runtime would run ready tasks in FIFO order, behind another tenant's burst. Here each tenant has a queue, the
//! queues are served round-robin, and connections are served between two stretches.
//!
//! Decoding, hashing and encoding a large event is one long stretch. It runs on separate threads, also round-robin. The
//! operating system preempts them for connections and small events.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, available_parallelism},
};

use async_task::{Builder, Runnable};
use rustix::process::nice;
use tokio::{
    runtime::Handle,
    sync::Semaphore,
    task::{JoinSet, yield_now},
};
use tracing::Instrument;

/// The size from which an event runs on the threads for large ones, in bytes.
const LARGE: usize = 64 << 10;
/// The niceness of these threads.
const NICE: i32 = 5;

/// The executor of all decisions. Dropping it ends its workers.
#[derive(Debug)]
pub struct Processor {
    ready: Arc<Ready>,
    large: Arc<Ready>,
    _workers: JoinSet<()>,
}

/// Tasks that are ready to run.
#[derive(Debug)]
struct Ready {
    lanes: Mutex<Lanes>,
    /// The number of ready tasks.
    count: Semaphore,
}

#[derive(Debug, Default)]
struct Lanes {
    lanes: HashMap<Arc<str>, VecDeque<Runnable>>,
    /// Tenants with ready tasks, in round-robin order.
    turns: VecDeque<Arc<str>>,
}

impl Processor {
    /// Starts one worker per processor in the current async runtime. Also starts the threads for large events: one
    /// less, but at least one.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start() -> io::Result<Self> {
        let processors = available_parallelism().map_or(1, usize::from);
        let this = Self::of(processors);
        for _ in 0..processors.saturating_sub(1).max(1) {
            let (large, runtime) = (Arc::clone(&this.large), Handle::current());
            thread::Builder::new().name("large-events".into()).spawn(move || {
                // If this fails, the thread does the same work without lower priority.
                let _ = nice(NICE);
                runtime.block_on(large.work());
            })?;
        }
        Ok(this)
    }

    fn of(workers: usize) -> Self {
        let [ready, large] = [(); 2].map(|()| Arc::new(Ready { lanes: Mutex::default(), count: Semaphore::new(0) }));
        let work = (0..workers).map(|_| Arc::clone(&ready).work()).collect();
        Self { ready, large, _workers: work }
    }

    /// Runs the work on an event of this size in the tenant's queue. Dropping the future cancels the work.
    pub async fn share<T: Send + 'static>(
        &self,
        tenant: &str,
        bytes: usize,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let ready = if bytes > LARGE { &self.large } else { &self.ready };
        let (ready, tenant) = (Arc::clone(ready), Arc::from(tenant));
        let schedule = move |work| ready.push(&tenant, work);
        // A panic propagates to the caller, not to the worker.
        let builder = Builder::new().propagate_panic(true);
        let (first, done) = builder.spawn(|()| work.in_current_span(), schedule);
        first.schedule();
        done.await
    }
}

impl Drop for Processor {
    fn drop(&mut self) {
        self.large.count.close();
    }
}

impl Ready {
    async fn work(self: Arc<Self>) {
        while let Ok(one) = self.count.acquire().await {
            one.forget();
            if let Some(work) = self.pop() {
                work.run();
            }
            yield_now().await;
        }
    }

    fn push(&self, tenant: &Arc<str>, work: Runnable) {
        let mut lanes = self.lock();
        let lane = lanes.lanes.entry(Arc::clone(tenant)).or_default();
        lane.push_back(work);
        if lane.len() == 1 {
            lanes.turns.push_back(Arc::clone(tenant));
        }
        drop(lanes);
        self.count.add_permits(1);
    }

    fn pop(&self) -> Option<Runnable> {
        let mut lanes = self.lock();
        let tenant = lanes.turns.pop_front()?;
        let lane = lanes.lanes.get_mut(&tenant)?;
        let work = lane.pop_front();
        if lane.is_empty() {
            lanes.lanes.remove(&tenant);
        } else {
            lanes.turns.push_back(tenant);
        }
        work
    }

    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use std::{
        panic::AssertUnwindSafe,
        sync::{Arc, Mutex, PoisonError},
    };

    use futures_util::{
        FutureExt,
        future::{join, join_all},
    };
    use tokio::task::yield_now;

    use super::Processor;

    type Log = Arc<Mutex<Vec<&'static str>>>;

    /// Work of this many stretches.
    async fn work(log: Log, tenant: &'static str, stretches: usize) {
        for _ in 0..stretches {
            log.lock().unwrap_or_else(PoisonError::into_inner).push(tenant);
            yield_now().await;
        }
    }

    #[tokio::test]
    async fn who_comes_last_does_not_wait_behind_the_burst_of_another() {
        let (processor, log) = (Processor::of(1), Log::default());
        let burst = (0..50).map(|_| processor.share("greedy", 0, work(Arc::clone(&log), "greedy", 20)));
        join(join_all(burst), processor.share("other", 0, work(Arc::clone(&log), "other", 5))).await;
        let log = log.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(log.len(), 50 * 20 + 5);
        let ended = log.iter().rposition(|tenant| *tenant == "other");
        assert!(ended.is_some_and(|ended| ended < 20), "it ended with stretch {ended:?} of all");
        assert!(processor.ready.lock().lanes.is_empty() && processor.ready.lock().turns.is_empty());
    }

    #[tokio::test]
    async fn a_panic_is_that_of_who_waits() {
        let processor = Processor::of(1);
        let panics = AssertUnwindSafe(processor.share("a", 0, async { panic!("in the work") }));
        assert!(panics.catch_unwind().await.is_err());
        assert_eq!(processor.share("a", 0, async { 1 }).await, 1);
    }

    #[tokio::test]
    async fn who_stops_waiting_ends_the_work() {
        let (processor, log) = (Processor::of(1), Log::default());
        let mut endless = Box::pin(processor.share("a", 0, work(Arc::clone(&log), "a", usize::MAX)));
        assert!((&mut endless).now_or_never().is_none());
        yield_now().await;
        drop(endless);
        assert_eq!(processor.share("b", 0, async { 1 }).await, 1);
        let before = log.lock().unwrap_or_else(PoisonError::into_inner).len();
        assert_eq!(processor.share("b", 0, async { 1 }).await, 1);
        assert_eq!(log.lock().unwrap_or_else(PoisonError::into_inner).len(), before);
    }

    #[tokio::test]
    async fn a_large_event_is_no_work_for_the_threads_of_connections() -> std::io::Result<()> {
        let processor = Processor::start()?;
        let name = async || std::thread::current().name().unwrap_or_default().to_owned();
        let ours = name().await;
        assert_eq!(processor.share("a", super::LARGE, name()).await, ours);
        assert_eq!(processor.share("a", super::LARGE + 1, name()).await, "large-events");
        Ok(())
    }
}
