//! A call of a plugin in OpenCode's own form: `{"input": …, "output": …}`.

use serde_json::Value;

use super::{NAME_KEY, OpenCode};
use crate::{
    dialect::common::{check_name, decode_fields_of_flat},
    event::{Event, wire::Wire},
    json::{DecodeError, Members},
};

/// The functions of a plugin and their events: opencode.md#events.
pub(super) const CALLS: &[(&str, &str)] = &[
    ("tool.execute.before", "PreToolUse"),
    ("tool.execute.after", "PostToolUse"),
    ("chat.message", "UserPromptSubmit"),
    ("session.created", "SessionStart"),
    ("session.idle", "Stop"),
];

/// The places of an event's fields in a call.
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

/// Returns true if a payload with this number of members is a call.
pub(super) fn is_call<'w>(members: usize, member: impl Fn(&str) -> Option<&'w Value>) -> bool {
    members == 2 && member("input").is_some_and(Value::is_object) && member("output").is_some()
}

/// Decodes the event of a call. All of OpenCode's fields stay in [`Event::raw`].
pub(super) fn decode(dialect: &OpenCode, mut wire: Wire, given: Option<&str>) -> Result<Event, DecodeError> {
    let (raw, payload) = (wire.raw(), wire.members);
    let implied_name = implied_name(&payload);
    check_name(dialect, implied_name.as_deref(), "input", given)?;
    let name = given.map(str::to_owned).or(implied_name);
    let mut flat = Members::default();
    for (pointer, name) in FIELDS {
        if !flat.has(name)
            && let Some(value) = payload.at(pointer)
        {
            flat.push(name, value);
        }
    }
    if let Some(prompt) = prompt(&payload) {
        flat.push("prompt", Value::from(prompt));
    }
    let name = name.map(|name| {
        let event = CALLS.iter().find(|(call, _)| *call == name);
        event.map_or(name.clone(), |(_, event)| (*event).to_owned())
    });
    let event = decode_fields_of_flat(dialect, NAME_KEY, &[], flat, raw, name.as_deref())?;
    wire.notes.extend(event.notes);
    Ok(Event { notes: wire.notes, ..event })
}

/// Returns the event's name. opencode.md#payloads: "Which event it is, its fields tell."
fn implied_name(payload: &Members) -> Option<String> {
    if let Some(kind) = payload.at("/input/type") {
        return kind.into_string().ok();
    }
    let implied_name: &[(&[&str], &str)] = &[
        (&["/input/tool", "/output/args"], "tool.execute.before"),
        (&["/input/tool"], "tool.execute.after"),
        (&["/output/parts"], "chat.message"),
        (&["/output/env"], "shell.env"),
        (&["/output/system"], "experimental.chat.system.transform"),
    ];
    let fits = |fields: &[&str]| fields.iter().all(|field| payload.at(field).is_some());
    implied_name.iter().find(|(fields, _)| fits(fields)).map(|(_, name)| (*name).to_owned())
}

/// Joins the texts of a message's parts.
fn prompt(payload: &Members) -> Option<String> {
    let parts = payload.at("/output/parts")?;
    let parts = parts.as_array()?;
    let texts = parts.iter().filter(|part| part.get("type").and_then(Value::as_str) == Some("text"));
    let texts: Vec<&str> = texts.filter_map(|part| part.get("text")?.as_str()).collect();
    Some(texts.join("\n"))
}
