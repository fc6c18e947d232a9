//! Handles every event and calls every capability that is always granted, as a hook of contract 0.2.0 does.

use hookbox_guest::prelude::*;

struct Frozen;

impl PreToolUse for Frozen {
    fn handle(context: &EventContext, call: &ToolCall) -> Result<Output> {
        let command = call.input.str("/command").unwrap_or_default();
        log::info(format!("{} {command} {}", context.dialect, config::json()));
        match raw_event().str("/tool_name") {
            Some(tool) if command.contains("rm -rf") => Ok(deny(format!("{tool}: {command}")).context("frozen")),
            _ => Ok(pass()),
        }
    }
}

impl PostToolUse for Frozen {
    fn handle(_: &EventContext, _: &ToolCall, _: &post_tool_use::ToolOutput) -> Result<post_tool_use::Output> {
        Ok(pass())
    }
}

impl PostToolUseFailure for Frozen {
    fn handle(
        _: &EventContext,
        _: &ToolCall,
        _: &post_tool_use_failure::Failure,
    ) -> Result<post_tool_use_failure::Output> {
        Ok(pass())
    }
}

impl PermissionRequest for Frozen {
    fn handle(_: &EventContext, _: &ToolCall, _: &permission_request::Event) -> Result<permission_request::Output> {
        Ok(pass())
    }
}

impl CanUseTool for Frozen {
    fn handle(_: &EventContext, _: &ToolCall, _: &can_use_tool::Event) -> Result<can_use_tool::Output> {
        Ok(pass())
    }
}

impl AgentEvent for Frozen {
    fn handle(_: &EventContext, _: &agent_event::Event) -> Result<()> {
        Ok(())
    }
}

impl OtherEvent for Frozen {
    fn handle(_: &EventContext, _: &Json) -> Result<Option<Json>> {
        Ok(None)
    }
}

/// The events that differ only in their fields.
macro_rules! says_nothing_to {
    ($($name:ident in $module:ident,)*) => {
        $(impl $name for Frozen {
            fn handle(_: &EventContext, _: &$module::Event) -> Result<$module::Output> {
                Ok(pass())
            }
        })*
    };
}

says_nothing_to! {
    SessionStart in session_start,
    SessionEnd in session_end,
    UserPromptSubmit in user_prompt_submit,
    Notification in notification,
    SubagentStart in subagent_start,
    SubagentStop in subagent_stop,
    Stop in stop,
    PreCompact in pre_compact,
    TaskCompleted in task_completed,
    BeforeLlm in before_llm,
    AfterLlm in after_llm,
}

hookbox_guest::export!(
    Frozen: SessionStart, SessionEnd, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure,
    PermissionRequest, CanUseTool, Notification, SubagentStart, SubagentStop, Stop, PreCompact, TaskCompleted,
    BeforeLlm, AfterLlm, AgentEvent, OtherEvent,
);
