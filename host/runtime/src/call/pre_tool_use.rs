//! `pre-tool-use`

use hookbox_protocol::{Answer, Rule};
use serde_json::Value;

use super::input::tool_call;
use crate::bindings::{
    exports::hookbox::hooks::pre_tool_use::{self as wit, Decision},
    hookbox::hooks::types::ToolCall,
};

interface! {
    PreToolUse(event, _) => pre_tool_use::handle(call: ToolCall = tool_call(event)) -> Decision,
    (Decision { rule, updated_input, updated_tool, effects }, reader) => {
        let (rule, reason) = match rule {
            wit::Rule::Pass => (None, None),
            wit::Rule::Allow(reason) => (Some(Rule::Allow), reason),
            wit::Rule::Ask(reason) => (Some(Rule::Ask), reason),
            wit::Rule::Deny(reason) => (Some(Rule::Deny), reason),
            wit::Rule::Skip(reason) => (Some(Rule::Skip), reason),
            wit::Rule::Respond(response) => {
                let for_llm = reader.text(response.for_llm)?;
                let for_user = reader.optional(response.for_user)?;
                (Some(Rule::Respond(result(for_llm, for_user, response.silent, response.is_error))), None)
            }
        };
        Ok(Answer {
            rule,
            reason: reader.optional(reason)?,
            updated: reader.object("updated-input", updated_input)?.map(Value::Object),
            updated_tool: reader.optional(updated_tool)?,
            ..reader.effects(effects)?
        })
    }
}

/// A tool result as [`Rule::Respond`] has it.
fn result(for_llm: String, for_user: Option<String>, silent: bool, is_error: bool) -> Value {
    let for_user = for_user.map(|text| ("for_user".to_owned(), text.into()));
    let others = [("for_llm", for_llm.into()), ("silent", silent.into()), ("is_error", is_error.into())];
    Value::Object(others.into_iter().map(|(key, value)| (key.to_owned(), value)).chain(for_user).collect())
}
