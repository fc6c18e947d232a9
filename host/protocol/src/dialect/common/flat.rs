//! Events with all their fields at the top of one JSON object.

use serde_json::Value;

use crate::{
    event::{
        Event, Raw, decode_members, encode_fields,
        wire::{Wire, parse_wire},
    },
    json::{DecodeError, Json, Members, Object},
    protocol::{Dialect, EventSpec},
};

/// Decodes an event with all its fields at the top of one JSON object. Its name is under `name_key`.
pub(crate) fn decode_flat_event(
    dialect: &dyn Dialect,
    name_key: &str,
    context_names: &[(&str, &str)],
    wire: &[u8],
    name: Option<&str>,
) -> Result<Event, DecodeError> {
    decode_flat_wire(dialect, name_key, context_names, parse_wire(wire)?, name)
}

/// [`decode_flat_event`] for a text that is already parsed.
pub(crate) fn decode_flat_wire(
    dialect: &dyn Dialect,
    name_key: &str,
    context_names: &[(&str, &str)],
    mut wire: Wire,
    name: Option<&str>,
) -> Result<Event, DecodeError> {
    let raw = wire.raw();
    let mut event = decode_fields_of_flat(dialect, name_key, context_names, wire.members, raw, name)?;
    event.notes.splice(..0, wire.notes);
    Ok(event)
}

/// [`decode_flat_wire`] for an object that is only a part of the text.
pub(crate) fn decode_fields_of_flat(
    dialect: &dyn Dialect,
    name_key: &str,
    context_names: &[(&str, &str)],
    mut fields: Members,
    raw: Raw,
    name: Option<&str>,
) -> Result<Event, DecodeError> {
    let stated = fields.take(name_key);
    check_name(dialect, stated.as_ref().and_then(|stated| stated.as_str()), name_key, name)?;
    let name = named(stated, name_key, name)?;
    let spec = dialect.spec_by_name(&name).unwrap_or(dialect.other_spec());
    decode_members(spec, name, context_names, "", fields, raw)
}

/// Returns the name of an event that carries it under `name_key`, unless the caller gives the name.
pub(crate) fn event_name(object: &Members, name_key: &str, given: Option<&str>) -> Result<String, DecodeError> {
    named(object.find(name_key).cloned(), name_key, given)
}

/// Rejects an event whose own name contradicts the given one. Two names of the same event kind agree.
///
/// decisions.md#who-is-calling: "A name that contradicts the event's own makes the event unreadable".
pub(crate) fn check_name(
    dialect: &dyn Dialect,
    stated: Option<&str>,
    name_key: &str,
    given: Option<&str>,
) -> Result<(), DecodeError> {
    let (Some(given), Some(stated)) = (given, stated) else { return Ok(()) };
    if dialect.is_one_event(given, stated) {
        return Ok(());
    }
    Err(DecodeError::Type {
        pointer: format!("/{name_key}"),
        expected: format!("`{}`, the event that was named", crate::json::shorten(given, 60)),
        found: format!("`{}`", crate::json::shorten(stated, 60)),
    })
}

fn named(stated: Option<Json>, name_key: &str, given: Option<&str>) -> Result<String, DecodeError> {
    match (given, stated) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, Some(stated)) => stated.into_string().map_err(|other| {
            DecodeError::wrong_type(format!("/{name_key}"), "the event's name, a string", other.value())
        }),
        (None, None) => Err(DecodeError::Missing {
            pointer: format!("/{name_key}"),
            why: "without the event's name no hook can be chosen (or give --event NAME)".into(),
        }),
    }
}

/// Encodes an event, the inverse of [`decode_flat_event`].
pub(crate) fn encode_flat_event(
    spec: &EventSpec,
    name_key: &str,
    context_names: &[(&str, &str)],
    event: &Event,
) -> Value {
    encode_flat_object(spec, name_key, context_names, event).into()
}

/// [`encode_flat_event`] with an object as the result.
pub(crate) fn encode_flat_object(
    spec: &EventSpec,
    name_key: &str,
    context_names: &[(&str, &str)],
    event: &Event,
) -> Object {
    let mut wire = Object::new();
    wire.insert(name_key.to_owned(), event.name.clone().into());
    wire.extend(encode_fields(spec, context_names, event));
    wire
}
