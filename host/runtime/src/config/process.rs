//! What the file says about a hook process.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use hookbox_protocol::EventKind;

/// A process that speaks `PicoClaw`'s JSON-RPC, and how long it may take. Two entries with one name and one `Process` are
/// one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The executable and its arguments.
    pub command: Vec<String>,
    /// Its working directory.
    pub dir: PathBuf,
    /// Environment variables it gets.
    pub env: BTreeMap<String, String>,
    /// Variables of hookbox's own environment that it gets too.
    pub variables: Vec<String>,
    /// Until when it must have answered the handshake.
    pub start: Duration,
    /// To be told of an event.
    pub observer: Option<Duration>,
    /// Over a request.
    pub interceptor: Option<Duration>,
    /// Over an approval.
    pub approval: Option<Duration>,
}

/// A time for observers, interceptors and approvers.
pub(super) type Stages = [Option<Duration>; 3];

/// What `PicoClaw` gives its hook processes.
const DEFAULTS: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(5), Duration::from_mins(1)];

impl Process {
    /// Settles how long each stage may take that the entry gives no time of its own: the entry's `timeout`, or what the file
    /// says of the stage, or of every hook. The longest of them, and whether the file gives any.
    pub(super) fn settle(&mut self, own: Option<Duration>, stages: Stages, all: Option<Duration>) -> (Duration, bool) {
        let times = [&mut self.observer, &mut self.interceptor, &mut self.approval];
        let mut given = false;
        let mut longest = Duration::ZERO;
        for ((time, stage), default) in times.into_iter().zip(stages).zip(DEFAULTS) {
            let said = time.or(own).or(stage).or(all);
            given |= said.is_some();
            longest = longest.max(*time.insert(said.unwrap_or(default)));
        }
        (longest, given)
    }

    /// How long it may take over an event of this kind.
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
