//! `post-tool-use`

use crate::bindings::{
    exports::hookbox::hooks::post_tool_use::{Output, ToolOutput},
    hookbox::hooks::types::ToolCall,
};
use crate::call::input::{json, tool_call};

interface! {
    PostToolUse(event, input) => post_tool_use::handle(
        call: ToolCall = tool_call(event),
        output: ToolOutput = ToolOutput { value: json(event, input.output.as_ref()), duration_ns: input.duration_ns }
    ) -> Output,
    (Output { decision, updated_output, effects }, reader) => {
        let updated = reader.json("updated-output", updated_output)?;
        let mut output = reader.gate(decision, effects)?;
        output.updated = updated;
        Ok(output)
    }
}
