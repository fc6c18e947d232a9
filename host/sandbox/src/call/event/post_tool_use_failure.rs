//! `post-tool-use-failure`

use crate::bindings::{
    exports::hookbox::hooks::post_tool_use_failure::Failure,
    hookbox::hooks::types::{Effects, ToolCall},
};
use crate::call::input::tool_call;

interface! {
    PostToolUseFailure(event, input) => post_tool_use_failure::handle(
        call: ToolCall = tool_call(event),
        failure: Failure = Failure {
            error: input.error.as_deref().unwrap_or_default(),
            error_type: input.error_type.as_deref(),
            is_interrupt: input.is_interrupt,
            is_timeout: input.is_timeout,
        }
    ) -> Effects,
    (effects, reader) => reader.effects(effects)
}
