//! Decodes and encodes payloads in camelCase and in Claude's form.

use serde_json::Value;

use super::events::{self, CAMEL_CONTEXT};
use crate::{
    dialect::common::check_name,
    event::{Event, EventKind, decode_members, encode_fields, wire::parse_wire},
    json::{DecodeError, Json, Members, Object},
    protocol::EventSpec,
};

const NAME_KEY: &str = "hook_event_name";

/// Returns true if a payload is in Claude's form. copilot.md#payloads: "`notification` carries `hook_event_name` in
/// both forms", so the name alone is not enough. `subagentStart` mixes both forms.
fn is_pascal(has: impl Fn(&str) -> bool) -> bool {
    has(NAME_KEY) && !has("sessionId") || has("agent_id")
}

/// Returns the row and the context names for an event in this form.
fn form(name: &str, pascal: bool) -> (&'static EventSpec, &'static [(&'static str, &'static str)]) {
    if pascal {
        (events::pascal_by_name(name).unwrap_or(&events::OTHER), &[])
    } else {
        (events::by_name(name).unwrap_or(&events::OTHER), CAMEL_CONTEXT)
    }
}

pub(super) fn decode(wire: &[u8], given: Option<&str>) -> Result<Event, DecodeError> {
    let mut wire = parse_wire(wire)?;
    let (raw, mut fields, mut notes) = (wire.raw(), wire.members, wire.notes);
    let name = name(&fields, given)?;
    let pascal = is_pascal(|name| fields.has(name));
    let (spec, context_names) = form(&name, pascal);
    if pascal {
        fields.take(NAME_KEY);
    } else if let Some(arguments) = fields.get("toolArgs").and_then(unquoted) {
        fields.replace("toolArgs", arguments);
    }
    let event = decode_members(spec, name, context_names, "", fields, raw)?;
    notes.extend(event.notes);
    Ok(Event { notes, ..event })
}

/// Encodes an event, the inverse of [`decode`]. An event that was never on a wire is written in camelCase, Copilot's
/// own form.
pub(super) fn encode(event: &Event) -> Value {
    let pascal = event.raw.as_object().is_some_and(|payload| is_pascal(|name| payload.contains_key(name)));
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

/// Parses arguments in a string. copilot.md#payloads: "Older versions write `toolArgs` as a string that holds JSON." A
/// string without an object is the tool's own text.
fn unquoted(arguments: &Value) -> Option<Json> {
    Json::object(arguments.as_str()?)
}

/// Returns the client's string if the arguments did not change, or else the new arguments as a string.
fn requoted(args: &Value, quoted: &Value) -> Value {
    let same = match unquoted(quoted) {
        Some(before) => before == *args,
        None => quoted == args,
    };
    if same { quoted.clone() } else { args.to_string().into() }
}

/// Returns the event's name. decisions.md#copilot: "The name of an event is the given one, or else the one in the
/// payload, or else the one that its fields imply."
fn name(payload: &Members, given: Option<&str>) -> Result<String, DecodeError> {
    if let Some(given) = given {
        for key in [NAME_KEY, "hookName"] {
            check_name(&super::DIALECT, payload.find(key).and_then(|stated| stated.as_str()), key, Some(given))?;
        }
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
    let stated = IMPLIED_BY.iter().find(|(fields, _)| fields.iter().all(|field| payload.has(field)));
    stated.map(|(_, name)| (*name).to_owned()).ok_or_else(|| DecodeError::Missing {
        pointer: format!("/{NAME_KEY}"),
        why: "without the event's name no hook can be chosen (or give --event NAME)".into(),
    })
}

/// The fields that identify an event in camelCase. The first entry that matches is used.
const IMPLIED_BY: &[(&[&str], &str)] = &[
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
