//! A call of a plugin as OpenCode made it: `{"input": …, "output": …}`.

use serde_json::Value;

use super::{NAME_KEY, OpenCode};
use crate::{
    dialect::common::decode_fields_of_flat,
    event::Event,
    json::{DecodeError, Object, Wire},
};

/// The functions of a plugin, and the events they are: opencode.md#events.
pub(super) const CALLS: &[(&str, &str)] = &[
    ("tool.execute.before", "PreToolUse"),
    ("tool.execute.after", "PostToolUse"),
    ("chat.message", "UserPromptSubmit"),
    ("session.created", "SessionStart"),
    ("session.idle", "Stop"),
];

/// Where the fields of an event stand in a call.
const FIELDS: &[(&str, &str)] = &[
    ("/input/sessionID", "session_id"),
    ("/input/properties/sessionID", "session_id"),
    ("/input/cwd", "cwd"),
    ("/input/tool", "tool_name"),
    ("/input/callID", "tool_use_id"),
    ("/input/args", "tool_input"),
    ("/output/args", "tool_input"),
    ("/output/output", "tool_response"),
];

/// Whether a payload of so many members is one.
pub(super) fn is_call<'w>(members: usize, member: impl Fn(&str) -> Option<&'w Value>) -> bool {
    members == 2 && member("input").is_some_and(Value::is_object) && member("output").is_some()
}

/// The event of a call. Everything that OpenCode gave stays in [`Event::raw`].
pub(super) fn decode(dialect: &OpenCode, mut wire: Wire<'_>, given: Option<&str>) -> Result<Event, DecodeError> {
    let raw = wire.raw();
    let mut payload = Value::Object(wire.members.into_object());
    let name = given.or_else(|| told(&payload)).map(str::to_owned);
    let prompt = prompt(&payload);
    let mut flat = Object::new();
    for (pointer, name) in FIELDS {
        if let Some(value) = payload.pointer_mut(pointer).filter(|value| !value.is_null() && !flat.contains_key(*name))
        {
            flat.insert((*name).to_owned(), value.take());
        }
    }
    if let Some(prompt) = prompt {
        flat.insert("prompt".into(), prompt.into());
    }
    let name = name.map(|name| {
        let event = CALLS.iter().find(|(call, _)| *call == name);
        event.map_or(name.clone(), |(_, event)| (*event).to_owned())
    });
    let event = decode_fields_of_flat(dialect, NAME_KEY, &[], flat.into(), raw, name.as_deref())?;
    wire.notes.extend(event.notes);
    Ok(Event { notes: wire.notes, ..event })
}

/// opencode.md#payloads: "Which event it is, its fields tell."
fn told(payload: &Value) -> Option<&str> {
    let has = |pointer: &str| payload.pointer(pointer).is_some_and(|value| !value.is_null());
    if has("/input/type") {
        return payload.pointer("/input/type").and_then(Value::as_str);
    }
    let told: &[(&[&str], &str)] = &[
        (&["/input/tool", "/output/args"], "tool.execute.before"),
        (&["/input/tool"], "tool.execute.after"),
        (&["/output/parts"], "chat.message"),
        (&["/output/env"], "shell.env"),
        (&["/output/system"], "experimental.chat.system.transform"),
    ];
    told.iter().find(|(fields, _)| fields.iter().all(|field| has(field))).map(|(_, name)| *name)
}

/// The text of a message's parts.
fn prompt(payload: &Value) -> Option<String> {
    let parts = payload.pointer("/output/parts")?.as_array()?;
    let texts = parts.iter().filter(|part| part.get("type").and_then(Value::as_str) == Some("text"));
    let texts: Vec<&str> = texts.filter_map(|part| part.get("text")?.as_str()).collect();
    Some(texts.join("\n"))
}
