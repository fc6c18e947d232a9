//! `permission-request`

use serde_json::Value;

use crate::bindings::{
    exports::hookbox::hooks::permission_request::{Event, Output},
    hookbox::hooks::types::ToolCall,
};
use crate::call::input::{json, tool_call};

interface! {
    PermissionRequest(event, input) => permission_request::handle(
        call: ToolCall = tool_call(event),
        request: Event = Event { suggestions: input.permission_suggestions.as_ref().map(|said| json(event, Some(said))) }
    ) -> Output,
    (Output { decision, updated_input, updated_permissions, effects }, reader) => {
        let updated = reader.object("updated-input", updated_input)?.map(Value::Object);
        let updated_permissions = reader.json("updated-permissions", updated_permissions)?;
        let mut output = reader.permission(decision, effects)?;
        (output.updated, output.updated_permissions) = (updated, updated_permissions);
        Ok(output)
    }
}
