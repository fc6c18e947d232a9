//! Payloads in camelCase and in Claude's fields.

use serde_json::Value;

use super::events::{self, CAMEL_CONTEXT};
use crate::{
    dialect::EventSpec,
    event::{Event, EventKind, decode_fields, encode_fields},
    json::{DecodeError, Object, parse, parse_wire},
};

const NAME_KEY: &str = "hook_event_name";

/// Whether a payload has Claude's fields. copilot.md#payloads: "`notification` carries `hook_event_name` in both forms", so
/// the name alone does not tell; and `subagentStart` has some of both.
fn is_pascal(payload: &Object) -> bool {
    let named = payload.contains_key(NAME_KEY) && !payload.contains_key("sessionId");
    named || payload.contains_key("agent_id")
}

/// How an event's fields are named in a payload of that form.
fn form(name: &str, pascal: bool) -> (&'static EventSpec, &'static [(&'static str, &'static str)]) {
    if pascal {
        (events::pascal_by_name(name).unwrap_or(&events::OTHER), &[])
    } else {
        (events::by_name(name).unwrap_or(&events::OTHER), CAMEL_CONTEXT)
    }
}

pub(super) fn decode(wire: &[u8], given: Option<&str>) -> Result<Event, DecodeError> {
    let mut wire = parse_wire(wire)?;
    let (mut raw, payload, mut notes) = (wire.raw(), wire.members.into_object(), wire.notes);
    let name = name(&payload, given)?;
    let pascal = is_pascal(&payload);
    let (spec, context_names) = form(&name, pascal);
    let mut fields = payload;
    if pascal {
        fields.shift_remove(NAME_KEY);
    } else if let Some(text) = fields.get_mut("toolArgs").and_then(unquote) {
        raw = raw.quoting(text);
    }
    let event = decode_fields(spec, context_names, "", fields)?;
    notes.extend(event.notes);
    Ok(Event { name, raw, notes, ..event })
}

/// The inverse of [`decode`]. An event that never was on a wire is in camelCase, as Copilot's own are.
pub(super) fn encode(event: &Event) -> Value {
    let pascal = event.raw.as_object().is_some_and(is_pascal);
    let (spec, context_names) = form(&event.name, pascal);
    let mut wire = Object::new();
    if pascal && let Some(name) = event.raw.get(NAME_KEY) {
        wire.insert(NAME_KEY.to_owned(), name.clone());
    }
    if !pascal && event.kind() == EventKind::PermissionRequest {
        wire.insert("hookName".to_owned(), spec.name.into());
    }
    wire.extend(encode_fields(spec, context_names, event));
    if let (Some(args), Some(quoted @ Value::String(_))) = (wire.get_mut("toolArgs"), event.raw.get("toolArgs")) {
        *args = requoted(args, quoted);
    }
    Value::Object(wire)
}

/// copilot.md#payloads: "Older versions write `toolArgs` as a string that holds JSON." What holds no object is the tool's own
/// text. The text that was one.
fn unquote(args: &mut Value) -> Option<String> {
    let object = parse(args.as_str()?.as_bytes()).ok().filter(Value::is_object)?;
    match std::mem::replace(args, object) {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Arguments as the string they were, unless they have changed.
fn requoted(args: &Value, quoted: &Value) -> Value {
    let mut before = quoted.clone();
    unquote(&mut before);
    if before == *args { quoted.clone() } else { args.to_string().into() }
}

/// decisions.md#copilot: "An event's name is the one that is given, or else the one that it carries, or else what its fields
/// tell."
fn name(payload: &Object, given: Option<&str>) -> Result<String, DecodeError> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    for key in [NAME_KEY, "hookName"] {
        match payload.get(key) {
            Some(Value::String(name)) => return Ok(name.clone()),
            Some(other) => {
                return Err(DecodeError::wrong_type(format!("/{key}"), "the event's name, a string", other));
            }
            None => {}
        }
    }
    let told = TOLD_BY.iter().find(|(fields, _)| fields.iter().all(|field| payload.contains_key(*field)));
    told.map(|(_, name)| (*name).to_owned()).ok_or_else(|| DecodeError::Missing {
        pointer: format!("/{NAME_KEY}"),
        why: "without the event's name no hook can be chosen (or give --event NAME)".into(),
    })
}

/// The fields that tell which event a payload in camelCase is; the first line that fits.
const TOLD_BY: &[(&[&str], &str)] = &[
    (&["transformedPrompt"], "userPromptTransformed"),
    (&["toolResult"], "postToolUse"),
    (&["toolName", "error"], "postToolUseFailure"),
    (&["toolInput"], "permissionRequest"),
    (&["toolName"], "preToolUse"),
    (&["prompt"], "userPromptSubmitted"),
    (&["errorContext"], "errorOccurred"),
    (&["agentName", "stopReason"], "subagentStop"),
    (&["stopReason"], "agentStop"),
    (&["agentName"], "subagentStart"),
    (&["sessionId", "source"], "sessionStart"),
    (&["sessionId", "reason"], "sessionEnd"),
    (&["sessionId", "trigger"], "preCompact"),
];
