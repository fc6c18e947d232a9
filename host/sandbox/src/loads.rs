//! Counters of where the code of components came from.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of components loaded so far, by the source of their code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loads {
    /// Shared with another hook that had it in memory.
    pub memory: u64,
    /// Read from the folder of compiled components. Includes refusals that are stored there.
    pub cache: u64,
    /// Compiled, with or without success.
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

/// Adds one to a counter.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
