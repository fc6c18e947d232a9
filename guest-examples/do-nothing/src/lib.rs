//! Handles every event and decides nothing. Use it to check that a client's events arrive, and to measure a call.

use hookbox_guest::prelude::*;

struct DoNothing;

impl PreToolUse for DoNothing {
    fn handle(_: &EventContext, _: &ToolCall) -> Result<Output> {
        Ok(pass())
    }
}

impl PostToolUse for DoNothing {
    fn handle(_: &EventContext, _: &ToolCall, _: &post_tool_use::ToolOutput) -> Result<post_tool_use::Output> {
        Ok(pass())
    }
}

impl PostToolUseFailure for DoNothing {
    fn handle(
        _: &EventContext,
        _: &ToolCall,
        _: &post_tool_use_failure::Failure,
    ) -> Result<post_tool_use_failure::Output> {
        Ok(pass())
    }
}

impl PermissionRequest for DoNothing {
    fn handle(_: &EventContext, _: &ToolCall, _: &permission_request::Event) -> Result<permission_request::Output> {
        Ok(pass())
    }
}

impl CanUseTool for DoNothing {
    fn handle(_: &EventContext, _: &ToolCall, _: &can_use_tool::Event) -> Result<can_use_tool::Output> {
        Ok(pass())
    }
}

impl AgentEvent for DoNothing {
    fn handle(_: &EventContext, _: &agent_event::Event) -> Result<()> {
        Ok(())
    }
}

impl OtherEvent for DoNothing {
    fn handle(_: &EventContext, _: &Json) -> Result<Option<Json>> {
        Ok(None)
    }
}

/// Implements the events that differ only in their fields.
macro_rules! says_nothing_to {
    ($($name:ident in $module:ident,)*) => {
        $(impl $name for DoNothing {
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
    DoNothing: SessionStart, SessionEnd, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure,
    PermissionRequest, CanUseTool, Notification, SubagentStart, SubagentStop, Stop, PreCompact, TaskCompleted,
    BeforeLlm, AfterLlm, AgentEvent, OtherEvent,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_nothing() {
        let call = ToolCall::new("Bash", json!({"command": "rm -rf /"}));
        assert_eq!(<DoNothing as PreToolUse>::handle(&EventContext::default(), &call), Ok(pass()));
        assert_eq!(<DoNothing as Stop>::handle(&EventContext::default(), &stop::Event::default()), Ok(pass()));
    }
}
