//! A request of the client.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Budget, message::RpcError};

/// A request with those fields that could be read from its line.
pub(super) struct Request {
    pub(super) id: Value,
    /// The method. `None` if the line is invalid before its method.
    pub(super) method: Option<String>,
    pub(super) line: Vec<u8>,
    /// The time at which its line had been read.
    pub(super) since: Instant,
    /// The error, if the line is invalid.
    pub(super) broken: Option<Incomplete>,
}

/// The error of a request with an invalid line.
pub(super) struct Incomplete {
    pub(super) error: RpcError,
    /// True if the line exceeds the length limit.
    pub(super) too_large: bool,
}

impl Request {
    /// The client's timeout for this request.
    pub(super) fn budget(&self, budget: Budget) -> Duration {
        self.method.as_deref().map_or(budget.interceptor, |method| budget.of(method))
    }

    /// The request to the hooks.
    pub(super) fn asked(&self, budget: Budget) -> crate::Request<'_> {
        let asked = crate::Request::new(&self.line).received_at(self.since).timeout(Some(self.budget(budget)));
        match &self.broken {
            Some(Incomplete { error, too_large: true }) => asked.too_large(&error.message),
            Some(Incomplete { error, .. }) => asked.incomplete(Some(&error.message)),
            None => asked,
        }
    }
}
