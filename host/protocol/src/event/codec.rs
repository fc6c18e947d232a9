//! Decodes and encodes the fields of an event by its event spec.

use super::{
    Event, EventContext, Input, Raw, ToolCall,
    untyped::{Field, UntypedFields},
};
use crate::{
    json::{DecodeError, Fields, Members, Object, token},
    protocol::spec::EventSpec,
};

/// Decodes the fields of one wire object by its event spec. `context_names` are the dialect's names of the context
/// fields, as (wire, contract) pairs. `at` is the JSON pointer of `wire` within the text.
///
/// The typed fields are the context, the fields of [`EventSpec::fields`] and [`EventSpec::names`], and the tool call if
/// the event is about a tool. A field of the wrong type is left untyped, with a note, unless the event requires it.
///
/// The result has the name of the event spec and no [`Event::raw`]; the caller sets both.
///
/// # Errors
/// [`DecodeError::Missing`] for required fields of the event spec, [`DecodeError::Type`] for those and for the tool name.
pub fn decode_fields(
    spec: &EventSpec,
    context_names: &[(&str, &str)],
    at: &str,
    wire: Object,
) -> Result<Event, DecodeError> {
    decode_members(spec, spec.name.to_owned(), context_names, at, wire.into(), Raw::default())
}

/// [`decode_fields`] for members that are not a map yet, with the event's name and text.
pub(crate) fn decode_members(
    spec: &EventSpec,
    name: String,
    context_names: &[(&str, &str)],
    at: &str,
    wire: Members,
    raw: Raw,
) -> Result<Event, DecodeError> {
    for required in spec.required {
        if !wire.has(required) {
            let why = format!("{} means nothing without it", spec.name);
            return Err(DecodeError::Missing { pointer: format!("{at}/{}", token(required)), why });
        }
    }
    let names = Names { spec, context: context_names };
    let mut rest = UntypedFields { spec, at, extra: Fields::default(), notes: Vec::new() };
    let mut call = spec.kind.has_tool().then(ToolCall::default);
    let mut context = EventContext::default();
    let mut input = Input::empty(spec.kind);
    wire.each(|wire, member| {
        // No type has a field with an empty name.
        let (ours, listed) = names.ours(wire).filter(|_| !member.is_null()).unwrap_or_default();
        let mut field = Field { ours, wire, member };
        let taken = call.as_mut().map_or(Ok(false), |call| call.take(&mut field, &mut rest))?
            || context.take(&mut field, &mut rest)?
            || listed && input.take(&mut field, &mut rest)?;
        if !taken {
            rest.extra.insert(wire, field.member);
        }
        Ok(())
    })?;
    if let Input::OtherEvent(other) = &mut input {
        other.payload = std::mem::take(&mut rest.extra);
    }
    Ok(Event { name, context, call, input, extra: rest.extra, raw, notes: rest.notes })
}

/// Encodes an event as a wire object, the inverse of [`decode_fields`].
pub fn encode_fields(spec: &EventSpec, context_names: &[(&str, &str)], event: &Event) -> Object {
    let names = Names { spec, context: context_names };
    let mut ours = Object::new();
    event.context.encode(&mut ours);
    if let Some(call) = &event.call {
        call.encode(&mut ours);
    }
    event.input.encode(&mut ours);
    let mut wire: Object = ours.into_iter().map(|(key, value)| (names.wire(&key).to_owned(), value)).collect();
    // These have the wire's names already.
    if let Input::OtherEvent(other) = &event.input {
        wire.extend(other.payload.to_object());
    }
    wire.extend(event.extra.to_object());
    wire
}

/// The tables of names for one event. The event's own names come first.
pub(super) struct Names<'a> {
    pub(super) spec: &'a EventSpec,
    pub(super) context: &'a [(&'a str, &'a str)],
}

impl Names<'_> {
    fn pairs(&self) -> impl Iterator<Item = &(&str, &str)> {
        self.spec.names.iter().chain(self.context)
    }

    /// The contract's name of a wire field, and true if the event spec lists it. `None` when another wire field has
    /// that name here.
    fn ours<'k>(&'k self, wire: &'k str) -> Option<(&'k str, bool)> {
        match self.pairs().find(|(w, _)| *w == wire) {
            Some((_, ours)) => Some((ours, true)),
            None if self.pairs().any(|(_, ours)| *ours == wire) => None,
            None => Some((wire, self.spec.fields.contains(&wire))),
        }
    }

    pub(super) fn wire<'k>(&'k self, ours: &'k str) -> &'k str {
        self.pairs().find(|(_, o)| *o == ours).map_or(ours, |(wire, _)| wire)
    }
}
