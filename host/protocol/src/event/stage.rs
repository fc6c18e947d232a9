//! Events in the form that a dialect's client sends: made in code, or converted for the hooks of another stage.

use serde_json::Value;

use super::{Event, EventContext, Input, Raw, ToolCall, codec::Names, kind::EventKind};
use crate::{
    glimpse::Glimpse,
    json::{Fields, Json},
    protocol::Dialect,
};

/// The parts of an event that [`Event::turn_into`] replaces while the hooks of another stage run.
#[derive(Debug)]
pub struct OriginalEvent {
    name: String,
    input: Input,
    raw: Raw,
}

impl Event {
    /// Makes an event that was never on a wire, in the form that the dialect's client would have sent.
    pub fn new(dialect: &dyn Dialect, context: EventContext, call: Option<ToolCall>, input: Input) -> Self {
        let name = dialect.spec(input.kind()).name.to_owned();
        let mut event =
            Self { name, context, call, input, extra: Fields::default(), raw: Raw::default(), notes: Vec::new() };
        event.raw = dialect.encode_event(&event).into();
        event
    }

    /// Makes an event of the name and tool that could be read of an invalid text. An unknown tool is left out.
    pub fn glimpsed(dialect: &dyn Dialect, seen: Glimpse) -> Self {
        let kind = dialect.spec_by_name(&seen.name).map_or(EventKind::OtherEvent, |spec| spec.kind);
        Self {
            name: seen.name,
            context: EventContext::default(),
            call: seen.tool.map(|tool| ToolCall::new(tool, Json::default())),
            input: Input::empty(kind),
            extra: Fields::default(),
            raw: Raw::default(),
            notes: Vec::new(),
        }
    }

    /// Converts the event to the form that hooks of another stage get (see [`Dialect::stages`]). Large parts are not
    /// copied. `None`: the event is already of that stage.
    pub fn turn_into(&mut self, kind: EventKind, dialect: &dyn Dialect) -> Option<OriginalEvent> {
        if kind == self.kind() {
            return None;
        }
        let spec = dialect.spec(kind);
        let extra = std::mem::take(&mut self.extra);
        let arguments = self.call.as_mut().map(|call| std::mem::take(&mut call.input));
        let sent = OriginalEvent {
            name: std::mem::replace(&mut self.name, spec.name.to_owned()),
            input: std::mem::replace(&mut self.input, Input::empty(kind)),
            raw: std::mem::take(&mut self.raw),
        };
        let names = Names { spec, context: &[] };
        let arguments_name = names.wire("tool_input").to_owned();
        let mut members = Vec::new();
        if let Some(arguments) = arguments.as_ref().filter(|arguments| !arguments.is_null()) {
            members.push((arguments_name, arguments.clone()));
        }
        if let Value::Object(rest) = dialect.encode_event(self) {
            members.extend(rest.into_iter().map(|(name, value)| (name, value.into())));
        }
        members.retain(|(name, _)| !extra.contains_key(name));
        members.extend(extra.iter().map(|(name, value)| (name.to_owned(), value.clone())));
        self.raw = Raw::made_of(members);
        self.extra = extra;
        if let (Some(call), Some(arguments)) = (&mut self.call, arguments) {
            call.input = arguments;
        }
        Some(sent)
    }

    /// Restores the event as the client sent it.
    pub fn turn_back(&mut self, sent: Option<OriginalEvent>) {
        if let Some(OriginalEvent { name, input, raw }) = sent {
            (self.name, self.input, self.raw) = (name, input, raw);
        }
    }
}
