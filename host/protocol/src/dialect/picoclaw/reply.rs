//! Encodes the response line: `{"jsonrpc":"2.0","id":…,"result":{…}}`.

use serde_json::{Value, json};

use super::{events, output::rewrite_key};
use crate::{
    Dialect,
    dialect::common::{put_extra, put_text},
    event::{Event, EventContext, EventKind, Input, Raw},
    glimpse::number,
    json::{Object, shorten},
    output::{Decision, HookOutput, Scope},
};

/// Length of a reason that was cut, in characters.
pub(super) const REASON_LIMIT: usize = 4096;
/// The id of a request that never came over a wire. The client counts from 1, and 0 is its id of notifications.
pub(super) const FIRST_ID: u64 = 1;

/// Maximum length of a line in bytes, exclusive, with its newline. The client's reader takes less than 1 MiB.
const LINE_LIMIT: usize = 1024 * 1024;

pub(super) fn encode(event: &Event, output: &HookOutput) -> Option<Value> {
    let id = answered_id(event)?;
    let mut result = Object::new();
    match event.kind() {
        EventKind::OtherEvent if event.name == events::HELLO => return Some(response(id, Value::Object(hello(event)))),
        EventKind::PermissionRequest => put_approval(output, &mut result),
        _ => put_action(event, output, &mut result),
    }
    put_extra(output, &mut result);
    Some(response(id, Value::Object(result)))
}

/// Builds the response. `json!` would copy a large result.
fn response(id: u64, result: Value) -> Value {
    let line = [("jsonrpc", "2.0".into()), ("id", id.into()), ("result", result)];
    Value::Object(line.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Returns the id to answer. picoclaw.md#hookevent: "`id` is 0 or absent."
fn answered_id(event: &Event) -> Option<u64> {
    // decisions.md#picoclaw: "`hook.event` is a notification, which has no reply."
    if event.kind() == EventKind::AgentEvent {
        return None;
    }
    if event.raw.is_unset() {
        return Some(FIRST_ID);
    }
    event.raw.member("id")?.as_u64().filter(|id| *id != 0)
}

/// picoclaw.md#hookhello: "`ok` | boolean | `true`"; "`name` | string | a name of the hook's own".
fn hello(event: &Event) -> Object {
    let mut result = Object::new();
    result.insert("ok".into(), true.into());
    if let Input::OtherEvent(hello) = &event.input {
        let name = hello.payload.get("name").and_then(|name| name.as_str()).map(|name| shorten(name, REASON_LIMIT));
        put_text(&mut result, "name", name.as_ref());
    }
    result
}

/// Writes an approval. decisions.md#picoclaw: "`approve_tool`: the first `approved:false` wins and its reason is
/// returned; all must approve."
fn put_approval(output: &HookOutput, result: &mut Object) {
    let refused =
        output.halt.is_some() || output.decision.as_ref().is_some_and(|decision| *decision != Decision::Allow);
    result.insert("approved".into(), (!refused).into());
    if refused {
        put_text(result, "reason", output.reason.as_ref());
    }
}

fn put_action(event: &Event, output: &HookOutput, result: &mut Object) {
    let action = match (&output.halt, &output.decision) {
        (Some(halt), _) if halt.scope == Scope::Session => "hard_abort",
        (Some(_), _) => "abort_turn",
        (None, Some(Decision::Respond(_))) => "respond",
        (None, Some(Decision::Deny)) => "deny_tool",
        _ if output.updated.is_some() || output.updated_tool.is_some() => "modify",
        _ => "continue",
    };
    result.insert("action".into(), action.into());
    let reason = output.halt.as_ref().map_or(output.reason.as_ref(), |halt| halt.reason.as_ref());
    match (action, &output.decision) {
        ("modify", _) => put_rewrite(event, output, result),
        ("respond", Some(Decision::Respond(value))) => {
            if output.updated.is_some() || output.updated_tool.is_some() {
                put_rewrite(event, output, result);
            }
            result.insert("result".into(), value.clone());
        }
        ("continue", _) => {}
        _ => put_text(result, "reason", reason),
    }
}

/// Writes a rewrite. decisions.md#the-real-picoclaw: "`after_llm` modify must nest:
/// `{"action":"modify","response":{"model":…,"response":{…}}}`; `after_tool` modify:
/// `{"action":"modify","result":{"result":{"for_llm":…}}}`." And: "so always emit the complete object."
fn put_rewrite(event: &Event, output: &HookOutput, result: &mut Object) {
    let Some(key) = rewrite_key(event.kind()) else { return };
    let updated = output.updated.clone();
    let object = match (&event.input, &event.call) {
        (Input::PreToolUse(_), Some(call)) => json!({
            "tool": output.updated_tool.as_ref().unwrap_or(&call.name),
            "arguments": updated.or_else(|| call.input.is_object().then(|| call.input.clone().into())).unwrap_or_else(|| json!({})),
        }),
        (Input::AfterLlm(input), _) => {
            let mut object = Object::new();
            put_text(&mut object, "model", input.model.as_ref());
            object.insert("response".into(), updated.unwrap_or_default());
            Value::Object(object)
        }
        (Input::PostToolUse(_), _) => json!({ "result": updated }),
        _ => updated.unwrap_or_default(),
    };
    result.insert(key.into(), object);
}

/// Returns true if the reply is short enough for the client's reader.
pub(super) fn fits(event: &Event, output: &HookOutput) -> bool {
    encode(event, output).is_none_or(|reply| reply.to_string().len() + "\n".len() < LINE_LIMIT)
}

/// Copies the typed part of an event, which rewrites change. It leaves out the raw line, which can be large.
pub(super) fn without_raw(event: &Event) -> Event {
    Event {
        name: event.name.clone(),
        context: EventContext::default(),
        call: event.call.clone(),
        input: event.input.clone(),
        extra: event.extra.clone(),
        raw: Raw::default(),
        notes: Vec::new(),
    }
}

/// Returns the reply that blocks, by method. `None` if the client does not wait for a block. It reads only the id and
/// the names, so that other faults of the line do not matter.
pub(super) fn refusal(dialect: &dyn Dialect, wire: &[u8], name: Option<&str>, reason: &str) -> Option<Value> {
    let id = number("id", wire).filter(|id| *id != 0)?;
    let spec = dialect.glimpse_spec(wire, name);
    spec.is_none_or(|spec| spec.blockable).then(|| response(id, block(spec.map(|spec| spec.kind), false, reason)))
}

/// The `result` that blocks a request of this event kind. `None`: the method is unknown, and every possible method accepts the
/// result, because it reads its own field and ignores the other. `is_tool` is true if such a request is about a tool.
pub fn block(kind: Option<EventKind>, is_tool: bool, reason: &str) -> Value {
    let reason = shorten(reason, REASON_LIMIT);
    match kind {
        Some(EventKind::PermissionRequest) => json!({ "approved": false, "reason": reason }),
        Some(EventKind::PreToolUse) => json!({ "action": "deny_tool", "reason": reason }),
        Some(_) => json!({ "action": "abort_turn", "reason": reason }),
        None if is_tool => json!({ "action": "deny_tool", "approved": false, "reason": reason }),
        None => json!({ "action": "abort_turn", "approved": false, "reason": reason }),
    }
}
