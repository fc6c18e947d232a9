//! `post-tool-use`

use hookbox_protocol::Answer;

use super::input::{json, tool_call};
use crate::bindings::{
    exports::hookbox::hooks::post_tool_use::{Decision, Outcome},
    hookbox::hooks::types::ToolCall,
};

interface! {
    PostToolUse(event, input) => post_tool_use::handle(
        call: ToolCall = tool_call(event),
        outcome: Outcome = Outcome { output: json(input.output.as_ref()), duration_ns: input.duration_ns }
    ) -> Decision,
    (Decision { rule, updated_output, effects }, reader) => {
        let updated = reader.json("updated-output", updated_output)?;
        Ok(Answer { updated, ..reader.gate(rule, effects)? })
    }
}
