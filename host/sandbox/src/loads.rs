//! Where components' code came from, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Where the code of the components that were loaded so far came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Loads {
    /// From another hook that had it in memory.
    pub memory: u64,
    /// From the folder of compiled components, refusals that are kept there included.
    pub cache: u64,
    /// From the compiler, whether or not it could compile it.
    pub compiler: u64,
}

/// [`Loads`] while they are counted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) memory: AtomicU64,
    pub(crate) cache: AtomicU64,
    pub(crate) compiler: AtomicU64,
}

impl Counters {
    pub(crate) fn so_far(&self) -> Loads {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Loads { memory: read(&self.memory), cache: read(&self.cache), compiler: read(&self.compiler) }
    }
}

/// One more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
