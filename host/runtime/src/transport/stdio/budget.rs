//! The client's timeouts, and the events of its methods.

use std::time::Duration;

use crate::{Dialect, dialect, event::EventKind};

/// The client's timeouts by type of message. The default is `PicoClaw`'s own defaults.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Observers: `hook.event`, `hook.runtime_event`. 0.5 s.
    pub observer: Duration,
    /// Interceptors: `hook.before_llm`, `hook.after_llm`, `hook.before_tool`, `hook.after_tool`. 5 s.
    pub interceptor: Duration,
    /// `hook.approve_tool`. 60 s.
    pub approval: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            observer: Duration::from_millis(500),
            interceptor: Duration::from_secs(5),
            approval: Duration::from_mins(1),
        }
    }
}

impl Budget {
    /// The client's timeout for this method.
    pub(super) fn of(self, method: &str) -> Duration {
        match kind(method) {
            Some(EventKind::AgentEvent) => self.observer,
            Some(EventKind::PermissionRequest) => self.approval,
            _ => self.interceptor,
        }
    }
}

/// The event kind of a method. `None` for an unknown method.
pub(super) fn kind(method: &str) -> Option<EventKind> {
    dialect::picoclaw::DIALECT.spec_by_name(method).map(|spec| spec.kind)
}
