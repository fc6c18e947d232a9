// Written by `just bindings` from the contract. Do not edit.

/// One event: checked everywhere, exported where there is a component to export from.
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($hook:ident: SessionStart) => {
        $crate::__export_event!($hook: SessionStart, session_start, export_session_start);
    };
    ($hook:ident: SessionEnd) => {
        $crate::__export_event!($hook: SessionEnd, session_end, export_session_end);
    };
    ($hook:ident: UserPromptSubmit) => {
        $crate::__export_event!($hook: UserPromptSubmit, user_prompt_submit, export_user_prompt_submit);
    };
    ($hook:ident: PreToolUse) => {
        $crate::__export_event!($hook: PreToolUse, pre_tool_use, export_pre_tool_use);
    };
    ($hook:ident: PostToolUse) => {
        $crate::__export_event!($hook: PostToolUse, post_tool_use, export_post_tool_use);
    };
    ($hook:ident: PostToolUseFailure) => {
        $crate::__export_event!($hook: PostToolUseFailure, post_tool_use_failure, export_post_tool_use_failure);
    };
    ($hook:ident: PermissionRequest) => {
        $crate::__export_event!($hook: PermissionRequest, permission_request, export_permission_request);
    };
    ($hook:ident: CanUseTool) => {
        $crate::__export_event!($hook: CanUseTool, can_use_tool, export_can_use_tool);
    };
    ($hook:ident: Notification) => {
        $crate::__export_event!($hook: Notification, notification, export_notification);
    };
    ($hook:ident: SubagentStart) => {
        $crate::__export_event!($hook: SubagentStart, subagent_start, export_subagent_start);
    };
    ($hook:ident: SubagentStop) => {
        $crate::__export_event!($hook: SubagentStop, subagent_stop, export_subagent_stop);
    };
    ($hook:ident: Stop) => {
        $crate::__export_event!($hook: Stop, stop, export_stop);
    };
    ($hook:ident: PreCompact) => {
        $crate::__export_event!($hook: PreCompact, pre_compact, export_pre_compact);
    };
    ($hook:ident: TaskCompleted) => {
        $crate::__export_event!($hook: TaskCompleted, task_completed, export_task_completed);
    };
    ($hook:ident: BeforeLlm) => {
        $crate::__export_event!($hook: BeforeLlm, before_llm, export_before_llm);
    };
    ($hook:ident: AfterLlm) => {
        $crate::__export_event!($hook: AfterLlm, after_llm, export_after_llm);
    };
    ($hook:ident: AgentEvent) => {
        $crate::__export_event!($hook: AgentEvent, agent_event, export_agent_event);
    };
    ($hook:ident: OtherEvent) => {
        $crate::__export_event!($hook: OtherEvent, other_event, export_other_event);
    };
    // One hook serves every dialect, so an event has one name. These are its names in single dialects.
    ($hook:ident: Compaction) => {
        ::core::compile_error!("blade's `Compaction` is `PreCompact` here");
    };
    ($hook:ident: BeforeTool) => {
        ::core::compile_error!("picoclaw's `before_tool` is `PreToolUse` here");
    };
    ($hook:ident: AfterTool) => {
        ::core::compile_error!("picoclaw's `after_tool` is `PostToolUse` here");
    };
    ($hook:ident: ApproveTool) => {
        ::core::compile_error!("picoclaw's `approve_tool` is `PermissionRequest` here");
    };
    ($hook:ident: $unknown:ident) => {
        ::core::compile_error!(::core::concat!(
            "`",
            ::core::stringify!($unknown),
            "` is not an event; the events are ",
            "SessionStart, ",
            "SessionEnd, ",
            "UserPromptSubmit, ",
            "PreToolUse, ",
            "PostToolUse, ",
            "PostToolUseFailure, ",
            "PermissionRequest, ",
            "CanUseTool, ",
            "Notification, ",
            "SubagentStart, ",
            "SubagentStop, ",
            "Stop, ",
            "PreCompact, ",
            "TaskCompleted, ",
            "BeforeLlm, ",
            "AfterLlm, ",
            "AgentEvent",
            " and OtherEvent",
        ));
    };
}
