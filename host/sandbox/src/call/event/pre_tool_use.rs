//! `pre-tool-use`

use hookbox_protocol::{Decision, json::Object};
use serde_json::Value;

use crate::bindings::{
    exports::hookbox::hooks::pre_tool_use::{self as wit, Output},
    hookbox::hooks::types::ToolCall,
};
use crate::call::input::tool_call;

interface! {
    PreToolUse(event, _) => pre_tool_use::handle(call: ToolCall = tool_call(event)) -> Output,
    (Output { decision, updated_input, updated_tool, effects }, reader) => {
        let (decision, reason) = match decision {
            wit::Decision::Pass => (None, None),
            wit::Decision::Allow(reason) => (Some(Decision::Allow), reason),
            wit::Decision::Ask(reason) => (Some(Decision::Ask), reason),
            wit::Decision::Deny(reason) => (Some(Decision::Deny), reason),
            wit::Decision::Skip(reason) => (Some(Decision::Skip), reason),
            wit::Decision::Respond(response) => {
                let for_llm = reader.text(response.for_llm)?;
                let for_user = reader.optional(response.for_user)?;
                let extra = reader.object("extra", response.extra)?.unwrap_or_default();
                (Some(Decision::Respond(result(for_llm, for_user, response.silent, response.is_error, extra))), None)
            }
        };
        let reason = reader.optional(reason)?;
        let updated = reader.object("updated-input", updated_input)?.map(Value::Object);
        let updated_tool = reader.optional(updated_tool)?;
        let mut output = reader.effects(effects)?;
        (output.decision, output.reason) = (decision, reason);
        (output.updated, output.updated_tool) = (updated, updated_tool);
        Ok(output)
    }
}

/// Builds a tool result as [`Decision::Respond`] expects it. The typed fields override those of `extra`.
fn result(for_llm: String, for_user: Option<String>, silent: bool, is_error: bool, extra: Object) -> Value {
    let mut result: Object = [("for_llm", for_llm.into()), ("silent", silent.into()), ("is_error", is_error.into())]
        .map(|(key, value): (&str, Value)| (key.to_owned(), value))
        .into_iter()
        .chain(for_user.map(|text| ("for_user".to_owned(), text.into())))
        .collect();
    for (key, value) in extra {
        result.entry(key).or_insert(value);
    }
    Value::Object(result)
}
