// Written by `just bindings` from the contract. Do not edit.

//! The events, one file each: its WIT record out of the neutral input, and the neutral answer out of its decision.

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

use hookbox_protocol::EventKind;
use wasmtime::component::{InstancePre, types::ComponentFunc};

use super::Interface;
use crate::store::Sandbox;

/// Binds one event's interface, whose `handle` has this type; `Err` says how the type differs.
pub(crate) fn bind(
    kind: EventKind,
    pre: &InstancePre<Sandbox>,
    handle: &ComponentFunc,
) -> wasmtime::Result<Box<dyn Interface>> {
    match kind {
        EventKind::AfterLlm => after_llm::bind(pre, handle),
        EventKind::AgentEvent => agent_event::bind(pre, handle),
        EventKind::BeforeLlm => before_llm::bind(pre, handle),
        EventKind::CanUseTool => can_use_tool::bind(pre, handle),
        EventKind::Notification => notification::bind(pre, handle),
        EventKind::OtherEvent => other_event::bind(pre, handle),
        EventKind::PermissionRequest => permission_request::bind(pre, handle),
        EventKind::PostToolUse => post_tool_use::bind(pre, handle),
        EventKind::PostToolUseFailure => post_tool_use_failure::bind(pre, handle),
        EventKind::PreCompact => pre_compact::bind(pre, handle),
        EventKind::PreToolUse => pre_tool_use::bind(pre, handle),
        EventKind::SessionEnd => session_end::bind(pre, handle),
        EventKind::SessionStart => session_start::bind(pre, handle),
        EventKind::Stop => stop::bind(pre, handle),
        EventKind::SubagentStart => subagent_start::bind(pre, handle),
        EventKind::SubagentStop => subagent_stop::bind(pre, handle),
        EventKind::TaskCompleted => task_completed::bind(pre, handle),
        EventKind::UserPromptSubmit => user_prompt_submit::bind(pre, handle),
    }
}
