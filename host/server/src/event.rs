//! An event of a tenant as its client sent it.

use std::time::{Duration, Instant};

use axum::body::Bytes;
use hookbox::{Request, later, time_for_hooks};

/// An event as the client sent it.
#[derive(Debug, Clone)]
pub struct TenantEvent {
    /// Its JSON.
    pub wire: Bytes,
    /// The event's name, if its JSON does not carry it.
    pub name: Option<String>,
    /// The time for the response.
    pub time: TimeLimit,
}

impl TenantEvent {
    /// The request to the library.
    pub fn request(&self) -> Request<'_> {
        let TimeLimit { began, limit } = self.time;
        let request = Request::new(&self.wire).event_name(self.name.as_deref());
        request.received_at(began).timeout(Some(limit)).body_only()
    }
}

/// The time for a response.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimit {
    /// The start of the request.
    pub began: Instant,
    /// The client's timeout.
    pub limit: Duration,
}

impl TimeLimit {
    /// The deadline of the hooks, as in the library. Work that has not started by then does not start.
    pub fn deadline(self) -> tokio::time::Instant {
        later(self.began, time_for_hooks(self.limit)).into()
    }

    /// The latest time for sending a response: halfway between the hooks' deadline and the client's timeout.
    pub fn last(self) -> tokio::time::Instant {
        let (deadline, end) = (self.deadline(), self.end());
        deadline.max(deadline + end.saturating_duration_since(deadline) / 2)
    }

    /// The end of the client's timeout.
    pub fn end(self) -> tokio::time::Instant {
        later(self.began, self.limit).into()
    }
}
