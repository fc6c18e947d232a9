//! A hook process in the configuration.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use hookbox_protocol::EventKind;

/// A process that speaks `PicoClaw`'s JSON-RPC, with its timeouts. Entries with the same name and an equal `Process`
/// share one process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Process {
    /// The executable and its arguments.
    pub command: Vec<String>,
    /// Its working directory.
    pub dir: PathBuf,
    /// Additional environment variables.
    pub env: BTreeMap<String, String>,
    /// Variables of hookbox's own environment that it also gets.
    pub variables: Vec<String>,
    /// The timeout of the handshake.
    pub start: Duration,
    /// The timeout of a notification.
    pub observer: Option<Duration>,
    /// The timeout of a request.
    pub interceptor: Option<Duration>,
    /// The timeout of an approval.
    pub approval: Option<Duration>,
}

/// The timeouts of observers, interceptors and approvers.
pub(super) type Stages = [Option<Duration>; 3];

/// `PicoClaw`'s default timeouts.
const DEFAULTS: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(5), Duration::from_mins(1)];

impl Process {
    /// Sets missing timeouts: to the entry's `timeout`, or else to the file's timeout for the stage or for all hooks,
    /// or else to the default. Returns the longest timeout, and true if any is configured.
    pub(super) fn settle(&mut self, own: Option<Duration>, stages: Stages, all: Option<Duration>) -> (Duration, bool) {
        let times = [&mut self.observer, &mut self.interceptor, &mut self.approval];
        let mut given = false;
        let mut longest = Duration::ZERO;
        for ((time, stage), default) in times.into_iter().zip(stages).zip(DEFAULTS) {
            let configured = time.or(own).or(stage).or(all);
            given |= configured.is_some();
            longest = longest.max(*time.insert(configured.unwrap_or(default)));
        }
        (longest, given)
    }

    /// The timeout for events of this kind.
    pub(super) fn timeout_on(&self, kind: EventKind) -> Option<Duration> {
        match kind {
            EventKind::PermissionRequest | EventKind::CanUseTool => self.approval,
            EventKind::PreToolUse
            | EventKind::PostToolUse
            | EventKind::PostToolUseFailure
            | EventKind::BeforeLlm
            | EventKind::AfterLlm
            | EventKind::OtherEvent => self.interceptor,
            _ => self.observer,
        }
    }
}
