//! Applies rewrites to an event: for the next hook, and at the end for the client.

use serde_json::Value;

use crate::{
    degrade::WITHHELD,
    event::{AfterLlm, BeforeLlm, Event, EventKind, Input, Json},
    json::Object,
    output::HookOutput,
};

/// A part of a rewrite that the client could not decode.
pub(super) struct WrongType<'a> {
    /// JSON pointer within the rewrite.
    pub(super) member: String,
    pub(super) expected: &'static str,
    pub(super) value: &'a Value,
}

/// Finds the first part of a rewrite with the wrong type. The client would drop the whole reply because of it.
pub(super) fn misfit(kind: EventKind, updated: &Value) -> Option<WrongType<'_>> {
    type Check = fn(&Value) -> bool;
    const TEXT: (Check, &str) = (Value::is_string, "a string");
    const LIST: (Check, &str) = (Value::is_array, "an array");
    const TABLE: (Check, &str) = (Value::is_object, "an object");
    if !updated.is_object() {
        return Some(WrongType { member: String::new(), expected: TABLE.1, value: updated });
    }
    let members: &[(&str, (Check, &'static str))] = match kind {
        EventKind::BeforeLlm => &[("model", TEXT), ("messages", LIST), ("tools", LIST), ("options", TABLE)],
        EventKind::AfterLlm => &[("content", TEXT), ("tool_calls", LIST)],
        EventKind::PostToolUse => &[("for_llm", TEXT), ("for_user", TEXT)],
        _ => &[],
    };
    members.iter().find_map(|(member, (fits, expected))| {
        let value = updated.get(member).filter(|value| !value.is_null() && !fits(value))?;
        Some(WrongType { member: format!("/{member}"), expected, value })
    })
}

/// Rewrites the typed fields of an event, but not [`Event::raw`]. Returns true if the event changed. `Err` is the
/// reason why a rewrite is not possible; the event is then unchanged.
pub(super) fn apply(event: &mut Event, output: &HookOutput) -> Result<bool, String> {
    let mut changed = match &output.updated {
        Some(updated) => put(event, updated)?,
        None => false,
    };
    if let (Input::PreToolUse(_), Some(call), Some(tool)) = (&event.input, &mut event.call, &output.updated_tool) {
        changed |= replace(&mut call.name, tool.clone());
    }
    Ok(changed)
}

fn put(event: &mut Event, updated: &Value) -> Result<bool, String> {
    let updated = match (&event.input, updated) {
        (Input::PostToolUse(now), Value::String(text)) => with_text(now.output.as_deref(), text),
        (Input::PostToolUse(_), Value::Object(result)) => without_nulls(result.clone()),
        _ => updated.clone(),
    };
    if let Some(found) = misfit(event.kind(), &updated) {
        let at = if found.member.is_empty() { "" } else { " at " };
        return Err(format!("no effect: {} wants {}{at}{}", event.name, found.expected, found.member));
    }
    match (&mut event.input, &mut event.call) {
        (Input::PreToolUse(_), Some(call)) => Ok(call.rewrite(updated)),
        (Input::PostToolUse(result), _) => Ok(replace(&mut result.output, Some(updated.into()))),
        (Input::BeforeLlm(request), _) => Ok(put_request(request, &updated)),
        (Input::AfterLlm(answered), _) => put_response(answered, updated),
        _ => Ok(false),
    }
}

/// Removes the null members of a tool's result. decisions.md#degradation: "A result that is rewritten to
/// `null` is withheld".
fn without_nulls(mut result: Object) -> Value {
    if is_withheld(&result) {
        result.insert(FOR_LLM.into(), WITHHELD.into());
    }
    result.retain(|_, value| !value.is_null());
    Value::Object(result)
}

/// Returns true if a rewritten result has null in the place of what the model reads.
pub(super) fn is_withheld(result: &Object) -> bool {
    result.get(FOR_LLM).is_some_and(Value::is_null)
}

const FOR_LLM: &str = "for_llm";

/// wit/before-llm.wit: "Missing members keep their value." The client would make them empty.
fn put_request(request: &mut BeforeLlm, updated: &Value) -> bool {
    let given = |member: &str| updated.get(member).filter(|value| !value.is_null()).cloned();
    let mut changed = false;
    if let Some(Value::String(model)) = given("model") {
        changed |= replace(&mut request.model, Some(model));
    }
    let places =
        [("messages", &mut request.messages), ("tools", &mut request.tools), ("options", &mut request.options)];
    for (member, place) in places {
        if let Some(value) = given(member) {
            changed |= replace(place, Some(value.into()));
        }
    }
    changed
}

/// wit/after-llm.wit: "Missing members keep their value." A null member is removed.
fn put_response(answered: &mut AfterLlm, updated: Value) -> Result<bool, String> {
    let mut response = answered.response.as_deref().and_then(Value::as_object).cloned().unwrap_or_default();
    if let Value::Object(members) = updated {
        for (member, value) in members {
            if !value.is_null() {
                response.insert(member, value);
            } else if response.get(&member).is_some_and(|old| !old.is_null()) {
                response.shift_remove(&member);
            }
        }
    }
    let response = Some(Json::from(Value::Object(response)));
    if answered.response != response && loses_calls(response.as_deref()) {
        return Err("no effect: it would destroy the tool calls, which the client sends without name and arguments; \
                    give whole `tool_calls` (or `[]`) to replace them"
            .to_owned());
    }
    Ok(replace(&mut answered.response, response))
}

fn replace<T: PartialEq>(place: &mut T, value: T) -> bool {
    let changed = *place != value;
    *place = value;
    changed
}

/// decisions.md#the-real-picoclaw: "`after_llm` tool calls arrive as `[{"id":…}]` without name and arguments; echoing
/// them in `modify` destroys the call." Leaving them out destroys it too, because the whole response is replaced. The
/// call survives only if nothing is modified.
fn loses_calls(response: Option<&Value>) -> bool {
    let calls =
        response.and_then(|r| r.get("tool_calls")).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |call: &Value| call.pointer("/function/name").and_then(Value::as_str).is_some_and(|n| !n.is_empty());
    !calls.iter().all(name)
}

/// Replaces a tool's result with a text, for the model. The user gets it too if both had the same text before.
fn with_text(now: Option<&Value>, text: &str) -> Value {
    let mut result = now.and_then(Value::as_object).cloned().unwrap_or_default();
    if result.get("for_user").is_some_and(|user| Some(user) == result.get("for_llm")) {
        result.insert("for_user".into(), text.into());
    }
    result.insert(FOR_LLM.into(), text.into());
    Value::Object(result)
}
