//! `can-use-tool`

use hookbox_protocol::Answer;
use serde_json::Value;

use super::input::tool_call;
use crate::bindings::{
    exports::hookbox::hooks::can_use_tool::{Decision, Event},
    hookbox::hooks::types::ToolCall,
};

interface! {
    CanUseTool(event, input) => can_use_tool::handle(
        call: ToolCall = tool_call(event),
        question: Event = Event {
            tool_kind: input.tool_kind.clone(),
            affected_paths: input.affected_paths.clone().unwrap_or_default(),
        }
    ) -> Decision,
    (Decision { rule, updated_input, effects }, reader) => {
        let updated = reader.object("updated-input", updated_input)?.map(Value::Object);
        Ok(Answer { updated, ..reader.permission(rule, effects)? })
    }
}
