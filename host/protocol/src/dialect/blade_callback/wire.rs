//! Decodes and encodes `HookInput` and the arguments of `canUseTool` as one JSON object.

use serde_json::{Value, json};

use super::{BladeCallback, events};
use crate::{
    dialect::common::{Alias, add_aliases, decode_fields_of_flat, drop_aliases, encode_flat_object, take_aliases},
    event::{Event, EventKind, Fields, Input, field_type::left_untyped, wire::parse_wire},
    json::{DecodeError, Members, Object},
    output::Note,
    protocol::EventSpec,
};

const NAME_KEY: &str = "event";

/// The fields of the third argument of `canUseTool`: "toolKind: 'readonly' | 'write' | 'execute'; affectedPaths: string[]".
const OPTIONS: [&str; 2] = ["toolKind", "affectedPaths"];

pub(super) fn decode(dialect: &BladeCallback, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
    let mut wire = parse_wire(wire)?;
    let named = name.or_else(|| wire.members.get(NAME_KEY).and_then(Value::as_str)).unwrap_or_default();
    let kind = crate::Dialect::spec_by_name(dialect, named).map(|spec| spec.kind);
    if let Some(kind) = kind {
        take_aliases(&mut wire, aliases(kind));
    }
    let raw = wire.raw();
    let (mut flat, mut notes) = (wire.members, wire.notes);
    let mut extra = Fields::default();
    match kind {
        Some(EventKind::PostToolUseFailure) => flatten_error(&mut flat, &mut extra),
        Some(EventKind::CanUseTool) => notes.extend(flatten_can_use_tool(&mut flat, &mut extra)),
        _ => {}
    }
    let mut event = decode_fields_of_flat(dialect, NAME_KEY, events::ORIGIN, flat, raw, name)?;
    event.extra.extend(extra);
    event.notes.extend(notes);
    if kind == Some(EventKind::CanUseTool) {
        events::CAN_USE_TOOL.clone_into(&mut event.name);
    }
    Ok(event)
}

/// decisions.md#blade-callback: "`userPrompt`, as the real SDK calls it, is read as `message`; hooks find both."
fn aliases(kind: EventKind) -> &'static [Alias] {
    match kind {
        EventKind::UserPromptSubmit => &[("/userPrompt", "message")],
        _ => &[],
    }
}

/// The event in the form that hooks get.
pub(super) fn seen(spec: &EventSpec, event: &Event) -> Object {
    let mut object = encode(spec, event);
    add_aliases(&mut object, aliases(spec.kind));
    object
}

pub(super) fn encode(spec: &EventSpec, event: &Event) -> Object {
    let mut object = encode_flat_object(spec, NAME_KEY, events::ORIGIN, event);
    drop_aliases(&mut object, aliases(spec.kind));
    match &event.input {
        // blade-callback.md#input: "`error` | an error with a `message`, optional | why the tool failed". `extra` has
        // an error that came over the wire, unchanged.
        Input::PostToolUseFailure(failure) if !event.extra.contains_key("error") => {
            if let Some(message) = &failure.error {
                object.insert("error".into(), json!({ "message": message }));
            }
        }
        Input::CanUseTool(_) => unflatten_can_use_tool(event, &mut object),
        _ => {}
    }
    object
}

/// Replaces an `Error` of the SDK with its `message`. A string is its own message.
fn flatten_error(flat: &mut Members, extra: &mut Fields) {
    let Some(error) = flat.take("error") else { return };
    let message = error.member("message").unwrap_or_else(|| error.clone());
    if message.is_string() {
        flat.push("error", message);
    }
    extra.insert("error", error);
}

/// Normalises the three forms of the callback's arguments: `toolInput` becomes `input`, and the members of `options` move up.
fn flatten_can_use_tool(flat: &mut Members, extra: &mut Fields) -> Option<Note> {
    if !flat.has("input")
        && let Some(input) = flat.take("toolInput")
    {
        flat.push("input", input);
    }
    let options = flat.take("options")?;
    let Some(mut members) = options.members() else {
        let note = left_untyped("/options", "an object", &options);
        extra.insert("options", options);
        return Some(note);
    };
    for name in OPTIONS {
        if !flat.has(name)
            && let Some(value) = members.take(name)
        {
            flat.push(name, value);
        }
    }
    extra.insert("options", members.into_fields());
    None
}

/// Restores the form of the arguments on the wire. A typed event gets the form of the callback's signature.
fn unflatten_can_use_tool(event: &Event, object: &mut Object) {
    if event.raw.get("input").is_none()
        && event.raw.get("toolInput").is_some()
        && let Some(input) = object.shift_remove("input")
    {
        object.insert("toolInput".into(), input);
    }
    if let Some(name) = event.raw.get(NAME_KEY) {
        object.insert(NAME_KEY.into(), name.clone());
    }
    let nested = OPTIONS.into_iter().filter(|key| event.raw.get(*key).is_none() && object.contains_key(*key));
    for key in nested.collect::<Vec<_>>() {
        let Some(value) = object.shift_remove(key) else { continue };
        if let Some(options) = object.entry("options").or_insert_with(|| json!({})).as_object_mut() {
            options.insert(key.into(), value);
        }
    }
}
