//! Generated from the WIT package, one world per event.
//!
//! Every event has its own `export` macro, and the custom section that names the export comes with that macro: a hook's
//! component exports what its author listed and nothing else. Types and capabilities are generated once and shared.

// Nothing here is written by hand: the canonical ABI is `unsafe`, and the documentation is the WIT's.
#![allow(unsafe_code, missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

/// The shared types and the capabilities a hook may call.
pub mod shared {
    wit_bindgen::generate!({
        path: "wit",
        world: "capabilities",
        generate_unused_types: true,
        additional_derives: [PartialEq],
    });
}

macro_rules! event_worlds {
    ($($module:ident = $world:tt exports $export:tt,)*) => {$(
        pub mod $module {
            wit_bindgen::generate!({
                path: "wit",
                world: $world,
                additional_derives: [PartialEq],
                pub_export_macro: true,
                export_macro_name: $export,
                with: {
                    "hookbox:hooks/types@0.2.0": crate::bindings::shared::hookbox::hooks::types,
                    "hookbox:hooks/log@0.2.0": crate::bindings::shared::hookbox::hooks::log,
                    "hookbox:hooks/config@0.2.0": crate::bindings::shared::hookbox::hooks::config,
                    "hookbox:hooks/event@0.2.0": crate::bindings::shared::hookbox::hooks::event,
                    "hookbox:hooks/state@0.2.0": crate::bindings::shared::hookbox::hooks::state,
                    "hookbox:hooks/http@0.2.0": crate::bindings::shared::hookbox::hooks::http,
                    "hookbox:hooks/llm@0.2.0": crate::bindings::shared::hookbox::hooks::llm,
                },
            });
        }
    )*};
}

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
