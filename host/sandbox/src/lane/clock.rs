//! The clock of a thread.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What this thread had of a processor, without the time in which others had it.
pub(super) fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
