//! What a rewrite makes of an event: the next hook's input, and in the end what the client is told to use.

use serde_json::Value;

use crate::{
    answer::Answer,
    event::{Event, Input, Kind},
    json::Object,
};

/// A part of a rewrite that the client could not read.
pub(super) struct Misfit<'a> {
    /// JSON pointer within the rewrite.
    pub(super) member: String,
    pub(super) expected: &'static str,
    pub(super) value: &'a Value,
}

/// The first part of a rewrite that is not of the type the client wants. It would drop the whole reply for it.
pub(super) fn misfit(kind: Kind, updated: &Value) -> Option<Misfit<'_>> {
    type Check = fn(&Value) -> bool;
    const TEXT: (Check, &str) = (Value::is_string, "a string");
    const LIST: (Check, &str) = (Value::is_array, "an array");
    const TABLE: (Check, &str) = (Value::is_object, "an object");
    if !updated.is_object() {
        return Some(Misfit { member: String::new(), expected: TABLE.1, value: updated });
    }
    let members: &[(&str, (Check, &'static str))] = match kind {
        Kind::BeforeLlm => &[("model", TEXT), ("messages", LIST), ("tools", LIST), ("options", TABLE)],
        Kind::AfterLlm => &[("content", TEXT), ("tool_calls", LIST)],
        Kind::PostToolUse => &[("for_llm", TEXT), ("for_user", TEXT)],
        _ => &[],
    };
    members.iter().find_map(|(member, (fits, expected))| {
        let value = updated.get(member).filter(|value| !value.is_null() && !fits(value))?;
        Some(Misfit { member: format!("/{member}"), expected, value })
    })
}

/// Rewrites the typed fields of an event; [`Event::raw`] stays. Whether anything changed, or why the rewrite cannot be.
pub(super) fn apply(event: &mut Event, answer: &Answer) -> Result<bool, String> {
    let mut changed = false;
    if let (Input::PreToolUse(_), Some(call), Some(tool)) = (&event.input, &mut event.call, &answer.updated_tool) {
        changed |= replace(&mut call.name, tool.clone());
    }
    let Some(updated) = &answer.updated else { return Ok(changed) };
    let kind = event.kind();
    let updated = match (&event.input, updated) {
        (Input::PostToolUse(now), Value::String(text)) => tell(now.output.as_ref(), text),
        _ => updated.clone(),
    };
    if let Some(found) = misfit(kind, &updated) {
        return Err(format!(
            "the rewrite has no effect: {} wants {} at `{}`",
            event.name, found.expected, found.member
        ));
    }
    let members = updated.as_object().cloned().unwrap_or_default();
    Ok(changed
        | match (&mut event.input, &mut event.call) {
            (Input::PreToolUse(_), Some(call)) => replace(&mut call.input, updated),
            (Input::PostToolUse(result), _) => replace(&mut result.output, Some(updated)),
            // wit/before-llm.wit: "Members left out keep their value." For the client they would become empty.
            (Input::BeforeLlm(request), _) => {
                let mut changed = false;
                if let Some(Value::String(model)) = members.get("model") {
                    changed |= replace(&mut request.model, Some(model.clone()));
                }
                let places = [
                    ("messages", &mut request.messages),
                    ("tools", &mut request.tools),
                    ("options", &mut request.options),
                ];
                for (member, place) in places {
                    if let Some(value) = members.get(member).filter(|value| !value.is_null()) {
                        changed |= replace(place, Some(value.clone()));
                    }
                }
                changed
            }
            (Input::AfterLlm(now), _) => {
                let response = overlay(now.response.as_ref(), members);
                if now.response.as_ref() != Some(&response) && loses_calls(&response) {
                    return Err("the rewrite has no effect: it would destroy the tool calls, which the client sends \
                                without name and arguments; give whole `tool_calls` (or `[]`) to replace them"
                        .to_owned());
                }
                replace(&mut now.response, Some(response))
            }
            _ => false,
        })
}

fn replace<T: PartialEq>(place: &mut T, value: T) -> bool {
    let changed = *place != value;
    *place = value;
    changed
}

/// wit/after-llm.wit: "Members left out keep their value." A member given as null is taken out.
fn overlay(now: Option<&Value>, members: Object) -> Value {
    let mut response = now.and_then(Value::as_object).cloned().unwrap_or_default();
    for (member, value) in members {
        if !value.is_null() {
            response.insert(member, value);
        } else if response.get(&member).is_some_and(|old| !old.is_null()) {
            response.shift_remove(&member);
        }
    }
    Value::Object(response)
}

/// decisions.md: "`after_llm` tool calls arrive as `[{"id":…}]` without name and arguments; echoing them in `modify`
/// destroys the call." Leaving them out destroys it too, because the whole response is replaced. So the call survives
/// only when nothing is modified.
fn loses_calls(response: &Value) -> bool {
    let calls = response.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |call: &Value| call.pointer("/function/name").and_then(Value::as_str).is_some_and(|n| !n.is_empty());
    !calls.iter().all(name)
}

/// A text in place of a tool's result: what the model reads, and what the user reads where that was the same.
fn tell(now: Option<&Value>, text: &str) -> Value {
    let mut result = now.and_then(Value::as_object).cloned().unwrap_or_default();
    if result.get("for_user").is_some_and(|user| Some(user) == result.get("for_llm")) {
        result.insert("for_user".into(), text.into());
    }
    result.insert("for_llm".into(), text.into());
    Value::Object(result)
}
