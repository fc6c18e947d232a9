//! `can-use-tool`

use serde_json::Value;

use crate::bindings::{
    exports::hookbox::hooks::can_use_tool::{Event, Output},
    hookbox::hooks::types::ToolCall,
};
use crate::call::input::{texts, tool_call};

interface! {
    CanUseTool(event, input) => can_use_tool::handle(
        call: ToolCall = tool_call(event),
        question: Event = Event {
            tool_kind: input.tool_kind.as_deref(),
            affected_paths: &texts(input.affected_paths.as_deref().unwrap_or_default()),
        }
    ) -> Output,
    (Output { decision, updated_input, effects }, reader) => {
        let updated = reader.object("updated-input", updated_input)?.map(Value::Object);
        let mut output = reader.permission(decision, effects)?;
        output.updated = updated;
        Ok(output)
    }
}
