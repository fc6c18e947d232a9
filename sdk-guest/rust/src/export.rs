//! `export!`: which events a hook handles.

/// Exports a hook for the events it handles. What is listed is what the hook is subscribed to, and nothing else ends up
/// in the component.
///
/// ```
/// use hookbox_guest::prelude::*;
///
/// struct Guard;
///
/// impl PreToolUse for Guard {
///     fn handle(_: &EventContext, _: &ToolCall) -> Result<Output> {
///         Ok(pass())
///     }
/// }
///
/// impl Stop for Guard {
///     fn handle(_: &EventContext, _: &stop::Event) -> Result<stop::Output> {
///         Ok(pass())
///     }
/// }
///
/// hookbox_guest::export!(Guard: PreToolUse, Stop);
/// ```
///
/// The events: `SessionStart`, `SessionEnd`, `UserPromptSubmit`, `PreToolUse`, `PostToolUse`, `PostToolUseFailure`,
/// `PermissionRequest`, `CanUseTool`, `Notification`, `SubagentStart`, `SubagentStop`, `Stop`, `PreCompact`,
/// `TaskCompleted`, `BeforeLlm`, `AfterLlm`, `AgentEvent`, `OtherEvent`.
#[macro_export]
macro_rules! export {
    ($hook:ident: $($event:ident),+ $(,)?) => {
        $($crate::__export!($hook: $event);)+

        // `hookbox build` calls it once, and the component begins with the memory that there is then.
        #[cfg(target_family = "wasm")]
        const _: () = {
            #[unsafe(export_name = "hookbox-start")]
            extern "C" fn start() {
                $crate::start();
            }
        };

        // An event listed twice would only fail at link time; as an enum it fails here.
        const _: () = {
            #[allow(dead_code)]
            enum Events { $($event),+ }
        };
    };
    ($hook:ident $(:)?) => {
        ::core::compile_error!("name the events that the hook handles: `export!(Hook: PreToolUse, Stop)`");
    };
}

/// One event: checked everywhere, exported where there is a component to export from.
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($hook:ident: SessionStart) => { $crate::__export!($hook: SessionStart, session_start, export_session_start); };
    ($hook:ident: SessionEnd) => { $crate::__export!($hook: SessionEnd, session_end, export_session_end); };
    ($hook:ident: UserPromptSubmit) => {
        $crate::__export!($hook: UserPromptSubmit, user_prompt_submit, export_user_prompt_submit);
    };
    ($hook:ident: PreToolUse) => { $crate::__export!($hook: PreToolUse, pre_tool_use, export_pre_tool_use); };
    ($hook:ident: PostToolUse) => { $crate::__export!($hook: PostToolUse, post_tool_use, export_post_tool_use); };
    ($hook:ident: PostToolUseFailure) => {
        $crate::__export!($hook: PostToolUseFailure, post_tool_use_failure, export_post_tool_use_failure);
    };
    ($hook:ident: PermissionRequest) => {
        $crate::__export!($hook: PermissionRequest, permission_request, export_permission_request);
    };
    ($hook:ident: CanUseTool) => { $crate::__export!($hook: CanUseTool, can_use_tool, export_can_use_tool); };
    ($hook:ident: Notification) => { $crate::__export!($hook: Notification, notification, export_notification); };
    ($hook:ident: SubagentStart) => { $crate::__export!($hook: SubagentStart, subagent_start, export_subagent_start); };
    ($hook:ident: SubagentStop) => { $crate::__export!($hook: SubagentStop, subagent_stop, export_subagent_stop); };
    ($hook:ident: Stop) => { $crate::__export!($hook: Stop, stop, export_stop); };
    ($hook:ident: PreCompact) => { $crate::__export!($hook: PreCompact, pre_compact, export_pre_compact); };
    ($hook:ident: TaskCompleted) => { $crate::__export!($hook: TaskCompleted, task_completed, export_task_completed); };
    ($hook:ident: BeforeLlm) => { $crate::__export!($hook: BeforeLlm, before_llm, export_before_llm); };
    ($hook:ident: AfterLlm) => { $crate::__export!($hook: AfterLlm, after_llm, export_after_llm); };
    ($hook:ident: AgentEvent) => { $crate::__export!($hook: AgentEvent, agent_event, export_agent_event); };
    ($hook:ident: OtherEvent) => { $crate::__export!($hook: OtherEvent, other_event, export_other_event); };
    // One hook serves every dialect, so an event has one name; these are what single dialects call it.
    ($hook:ident: Compaction) => { ::core::compile_error!("blade's `Compaction` is `PreCompact` here"); };
    ($hook:ident: BeforeTool) => { ::core::compile_error!("picoclaw's `before_tool` is `PreToolUse` here"); };
    ($hook:ident: AfterTool) => { ::core::compile_error!("picoclaw's `after_tool` is `PostToolUse` here"); };
    ($hook:ident: ApproveTool) => { ::core::compile_error!("picoclaw's `approve_tool` is `PermissionRequest` here"); };
    ($hook:ident: $unknown:ident) => {
        ::core::compile_error!(::core::concat!(
            "`", ::core::stringify!($unknown), "` is not an event; the events are SessionStart, SessionEnd, ",
            "UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, PermissionRequest, CanUseTool, Notification, ",
            "SubagentStart, SubagentStop, Stop, PreCompact, TaskCompleted, BeforeLlm, AfterLlm, AgentEvent and OtherEvent",
        ));
    };
    ($hook:ident: $event:ident, $module:ident, $export:ident) => {
        const _: () = {
            const fn handles<H: $crate::$module::$event>() {}
            handles::<$hook>();
        };

        #[cfg(target_family = "wasm")]
        $crate::bindings::$module::$export!($hook with_types_in $crate::bindings::$module);
    };
}
