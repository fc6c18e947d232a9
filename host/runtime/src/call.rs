//! One call of one component: a neutral event in, a neutral answer or a failure out.
//!
//! Each file below is one event: its WIT record out of the neutral input, and the neutral answer out of its decision.

mod input;
mod output;
#[macro_use]
mod interface;

mod after_llm;
mod agent_event;
mod before_llm;
mod can_use_tool;
mod notification;
mod other_event;
mod permission_request;
mod post_tool_use;
mod post_tool_use_failure;
mod pre_compact;
mod pre_tool_use;
mod session_end;
mod session_start;
mod stop;
mod subagent_start;
mod subagent_stop;
mod task_completed;
mod user_prompt_submit;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox_protocol::{EventKind, Failure, HookOutput, Note};
use wasmtime::component::{InstancePre, types::ComponentFunc};

use crate::{capability::Capabilities, config::types::Limits, sandbox::Sandbox};

pub(crate) use interface::{Call, Failed, Interface};
pub(crate) use output::Reader;

/// What one call of a hook works with, beside the event.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// Whose state it sees.
    pub tenant: String,
    /// The hook, as its state knows it.
    pub hook: String,
    /// The session of the event, when the client sent one.
    pub session: Option<String>,
    /// The hook's `config` object as JSON text.
    pub config_json: String,
    /// What it may use up. `timeout` is not read: `deadline` is what holds.
    pub limits: Limits,
    /// When it ends, whatever it is doing; waiting for its turn included.
    pub deadline: Instant,
    /// What it was granted, ready to use.
    pub capabilities: Arc<Capabilities>,
}

/// How one call went.
#[derive(Debug, Clone, PartialEq)]
pub struct CallReport {
    /// The answer, or why there is none.
    pub result: Result<HookOutput, Failure>,
    /// What was accepted although it should not be, and what had no effect.
    pub notes: Vec<Note>,
    /// Fuel used, the same for the same component and event every time.
    pub fuel: u64,
    /// What it logged, up to its end.
    pub logs: Vec<LogLine>,
    /// Wall-clock time, waiting for its turn included.
    pub time: Duration,
}

/// One message of a component to whoever runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How much it matters.
    pub level: LogLevel,
    /// As written; may hold anything, also line breaks and escape codes.
    pub message: String,
}

/// How much a [`LogLine`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For the hook's author.
    Debug,
    /// For the record.
    Info,
    /// Something is off.
    Warn,
    /// Something failed.
    Error,
}

impl LogLevel {
    /// One word for diagnostics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Binds one event's interface, whose `handle` has this type; `Err` says how the type differs.
pub(crate) fn bind(
    kind: EventKind,
    pre: &InstancePre<Sandbox>,
    handle: &ComponentFunc,
) -> wasmtime::Result<Box<dyn Interface>> {
    match kind {
        EventKind::SessionStart => session_start::bind(pre, handle),
        EventKind::SessionEnd => session_end::bind(pre, handle),
        EventKind::UserPromptSubmit => user_prompt_submit::bind(pre, handle),
        EventKind::PreToolUse => pre_tool_use::bind(pre, handle),
        EventKind::PostToolUse => post_tool_use::bind(pre, handle),
        EventKind::PostToolUseFailure => post_tool_use_failure::bind(pre, handle),
        EventKind::PermissionRequest => permission_request::bind(pre, handle),
        EventKind::CanUseTool => can_use_tool::bind(pre, handle),
        EventKind::Notification => notification::bind(pre, handle),
        EventKind::SubagentStart => subagent_start::bind(pre, handle),
        EventKind::SubagentStop => subagent_stop::bind(pre, handle),
        EventKind::Stop => stop::bind(pre, handle),
        EventKind::PreCompact => pre_compact::bind(pre, handle),
        EventKind::TaskCompleted => task_completed::bind(pre, handle),
        EventKind::BeforeLlm => before_llm::bind(pre, handle),
        EventKind::AfterLlm => after_llm::bind(pre, handle),
        EventKind::AgentEvent => agent_event::bind(pre, handle),
        EventKind::OtherEvent => other_event::bind(pre, handle),
    }
}
