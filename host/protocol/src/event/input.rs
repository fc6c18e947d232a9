//! The fields of each event. The WIT interface of the same name (`wit/<event>.wit`) documents them and lists the
//! dialects that give them.

use super::{
    fields::wire_struct,
    kind::EventKind,
    untyped::{Field, UntypedFields},
};
use crate::json::{DecodeError, Fields, Json, Object};

macro_rules! inputs {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty,)* })*) => {
        $(wire_struct! {
            $(#[$doc])*
            #[allow(missing_docs)] // see the module
            pub struct $name { $($field: $ty,)* }
        })*

        /// The fields of one event, besides the tool call.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs)] // one variant per struct of the same name
        pub enum Input { $($name($name),)* OtherEvent(OtherEvent) }

        impl Input {
            /// The event kind.
            pub const fn kind(&self) -> EventKind {
                match self { $(Self::$name(_) => EventKind::$name,)* Self::OtherEvent(_) => EventKind::OtherEvent }
            }

            /// Makes an event of this kind with no field set.
            pub fn empty(kind: EventKind) -> Self {
                match kind {
                    $(EventKind::$name => Self::$name($name::default()),)*
                    EventKind::OtherEvent => Self::OtherEvent(OtherEvent::default()),
                }
            }

            /// The contract's names of all fields of an event kind. It is the [`crate::protocol::EventSpec::fields`] of
            /// dialects whose events have all of them.
            pub const fn fields(kind: EventKind) -> &'static [&'static str] {
                match kind { $(EventKind::$name => $name::FIELDS,)* EventKind::OtherEvent => &[] }
            }

            /// Takes the field if this event has it. Returns true if it does.
            pub(crate) fn take(&mut self, field: &mut Field<'_>, rest: &mut UntypedFields<'_>) -> Result<bool, DecodeError> {
                match self {
                    $(Self::$name(input) => input.take(field, rest),)*
                    // `decode_fields` adds all remaining fields as the payload.
                    Self::OtherEvent(_) => Ok(false),
                }
            }

            pub(crate) fn encode(&self, to: &mut Object) {
                match self {
                    $(Self::$name(input) => input.encode(to),)*
                    // The fields have the wire's names already; `encode_fields` adds them.
                    Self::OtherEvent(_) => {}
                }
            }
        }
    };
}

inputs! {
    /// `session-start`
    SessionStart { source: String, is_resume: bool, resume_session_id: String, }
    /// `session-end`
    SessionEnd { reason: String, total_turns: u32, total_tokens: u64, }
    /// `user-prompt-submit`
    UserPromptSubmit { prompt: String, has_images: bool, image_count: u32, }
    /// `pre-tool-use`: it has only the tool call.
    PreToolUse { }
    /// `post-tool-use`
    PostToolUse { output: Json, duration_ns: u64, }
    /// `post-tool-use-failure`
    PostToolUseFailure { error: String, error_type: String, is_interrupt: bool, is_timeout: bool, }
    /// `permission-request`
    PermissionRequest { permission_suggestions: Json, }
    /// `can-use-tool`
    CanUseTool { tool_kind: String, affected_paths: Vec<String>, }
    /// `notification`
    Notification { message: String, title: String, notification_type: String, }
    /// `subagent-start`
    SubagentStart { agent_type: String, task_description: String, parent_agent_id: String, }
    /// `subagent-stop`
    SubagentStop {
        stop_hook_active: bool, agent_type: String, agent_transcript_path: String, task_description: String,
        success: bool, result_summary: String, error: String, final_response: String,
    }
    /// `stop`
    Stop { stop_hook_active: bool, stop_reason: String, final_response: String, }
    /// `pre-compact`
    PreCompact { trigger: String, custom_instructions: String, messages_before: u32, tokens_before: u64, }
    /// `task-completed`
    TaskCompleted {
        task_id: String, task_subject: String, task_description: String, result_summary: String, success: bool,
    }
    /// `before-llm`
    BeforeLlm { model: String, messages: Json, tools: Json, options: Json, graceful_terminal: bool, }
    /// `after-llm`
    AfterLlm { model: String, response: Json, }
    /// `agent-event`
    AgentEvent { kind: String, payload: Json, }
}

/// `other-event`: all fields that are not part of [`super::EventContext`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OtherEvent {
    /// The event's fields, unchanged.
    pub payload: Fields,
}
