// Written by `just bindings` from the contract. Do not edit.

event_worlds! {
    session_start = "on-session-start" exports "export_session_start",
    session_end = "on-session-end" exports "export_session_end",
    user_prompt_submit = "on-user-prompt-submit" exports "export_user_prompt_submit",
    pre_tool_use = "on-pre-tool-use" exports "export_pre_tool_use",
    post_tool_use = "on-post-tool-use" exports "export_post_tool_use",
    post_tool_use_failure = "on-post-tool-use-failure" exports "export_post_tool_use_failure",
    permission_request = "on-permission-request" exports "export_permission_request",
    can_use_tool = "on-can-use-tool" exports "export_can_use_tool",
    notification = "on-notification" exports "export_notification",
    subagent_start = "on-subagent-start" exports "export_subagent_start",
    subagent_stop = "on-subagent-stop" exports "export_subagent_stop",
    stop = "on-stop" exports "export_stop",
    pre_compact = "on-pre-compact" exports "export_pre_compact",
    task_completed = "on-task-completed" exports "export_task_completed",
    before_llm = "on-before-llm" exports "export_before_llm",
    after_llm = "on-after-llm" exports "export_after_llm",
    agent_event = "on-agent-event" exports "export_agent_event",
    other_event = "on-other-event" exports "export_other_event",
}
