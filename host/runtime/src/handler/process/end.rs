//! The end of a process.

use std::time::Instant;

use hookbox_protocol::Failure;

/// The end of a run: the reason and the time.
#[derive(Debug, Clone)]
pub(super) struct ProcessEnd {
    pub(super) failure: Failure,
    pub(super) at: Instant,
}
