//! One typed event. Decoding loses nothing.
//!
//! Every dialect decodes into these types through [`decode_fields`] and a table of names. [`Event::extra`] holds the
//! fields that have no type, so that encoding gives back what was decoded.

pub(crate) mod fields;
mod input;
mod raw;
pub(crate) mod wire;

use std::borrow::Cow;

use serde_json::Value;

pub use fields::{EventContext, ToolCall};
use fields::{FieldType, left_untyped};
pub use input::{
    AfterLlm, AgentEvent, BeforeLlm, CanUseTool, Input, Notification, OtherEvent, PermissionRequest, PostToolUse,
    PostToolUseFailure, PreCompact, PreToolUse, SessionEnd, SessionStart, Stop, SubagentStart, SubagentStop,
    TaskCompleted, UserPromptSubmit,
};
pub use raw::Raw;

pub use crate::json::{Fields, Json};
use crate::{
    glimpse::Glimpse,
    json::{DecodeError, Members, Object, token},
    output::Note,
    protocol::{Dialect, EventSpec},
};

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The event's name as the client wrote it.
    pub name: String,
    /// The fields that every event has.
    pub context: EventContext,
    /// The tool call, on events about a tool.
    pub call: Option<ToolCall>,
    /// The event's own fields. The variant is the event kind.
    pub input: Input,
    /// Wire fields that have no type here, or that the types cannot hold without loss.
    pub extra: Fields,
    /// The whole event as the client sent it, with the rewrites of earlier hooks where the dialect chains.
    pub raw: Raw,
    /// Reports for people on values that were read differently than the client wrote them. Never on the wire.
    pub notes: Vec<Note>,
}

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

    /// Returns a text field by the contract's name, for matchers.
    pub fn field(&self, name: &str) -> Option<Cow<'_, str>> {
        if name == "tool_name" {
            return self.call.as_ref().map(|call| call.name.as_str().into());
        }
        let mut fields = Object::new();
        self.context.encode(&mut fields);
        self.input.encode(&mut fields);
        match fields.shift_remove(name) {
            Some(Value::String(text)) => Some(text.into()),
            _ => None,
        }
    }

    /// The event kind.
    pub fn kind(&self) -> EventKind {
        self.input.kind()
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $wit:literal,)*) => {
        /// Every event kind of the contract, independent of dialects.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind { $($(#[$doc])* $name,)* }

        impl EventKind {
            /// All event kinds.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The event's interface in the WIT package `hookbox:hooks`.
            pub const fn interface(self) -> &'static str {
                match self { $(Self::$name => $wit,)* }
            }

            /// The event's usual name in the field, for example `PreToolUse`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }
        }
    };
}

kinds! {
    /// A session begins or is resumed.
    SessionStart "session-start",
    /// A session ends.
    SessionEnd "session-end",
    /// The user sent a prompt.
    UserPromptSubmit "user-prompt-submit",
    /// A tool is about to run.
    PreToolUse "pre-tool-use",
    /// A tool ran and succeeded.
    PostToolUse "post-tool-use",
    /// A tool ran and failed.
    PostToolUseFailure "post-tool-use-failure",
    /// The user is about to be asked for a permission.
    PermissionRequest "permission-request",
    /// The permission callback beside the hooks.
    CanUseTool "can-use-tool",
    /// The agent tells the user something.
    Notification "notification",
    /// A subagent begins.
    SubagentStart "subagent-start",
    /// A subagent is done.
    SubagentStop "subagent-stop",
    /// The agent is done answering.
    Stop "stop",
    /// The context is about to be compacted.
    PreCompact "pre-compact",
    /// A task is being marked as done.
    TaskCompleted "task-completed",
    /// A request is about to go to the model.
    BeforeLlm "before-llm",
    /// The model answered.
    AfterLlm "after-llm",
    /// Something happened in the agent loop.
    AgentEvent "agent-event",
    /// Any event without an interface of its own.
    OtherEvent "other-event",
}

impl EventKind {
    /// A list with only this kind.
    pub fn alone(self) -> &'static [Self] {
        Self::ALL.iter().position(|kind| *kind == self).and_then(|i| Self::ALL.get(i..=i)).unwrap_or_default()
    }

    /// Returns true if the event is about one tool call.
    pub const fn has_tool(self) -> bool {
        matches!(
            self,
            Self::PreToolUse
                | Self::PostToolUse
                | Self::PostToolUseFailure
                | Self::PermissionRequest
                | Self::CanUseTool
        )
    }
}

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
struct Names<'a> {
    spec: &'a EventSpec,
    context: &'a [(&'a str, &'a str)],
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

    fn wire<'k>(&'k self, ours: &'k str) -> &'k str {
        self.pairs().find(|(_, o)| *o == ours).map_or(ours, |(wire, _)| wire)
    }
}

/// One wire field.
pub(crate) struct Field<'a> {
    /// The field's name in the contract.
    ours: &'a str,
    wire: &'a str,
    member: Json,
}

/// The fields and notes that no type holds.
pub(crate) struct UntypedFields<'a> {
    spec: &'a EventSpec,
    at: &'a str,
    extra: Fields,
    notes: Vec<Note>,
}

impl UntypedFields<'_> {
    /// Reads a field. A value of the wrong type gives `None` and is left untyped.
    ///
    /// # Errors
    /// [`DecodeError::Type`]: the event requires the field and its type is wrong.
    pub(crate) fn read<T: FieldType>(&mut self, field: &mut Field<'_>) -> Result<Option<T>, DecodeError> {
        let value = match T::take(std::mem::take(&mut field.member)) {
            Ok(typed) => return Ok(Some(typed)),
            Err(member) => member,
        };
        let typed = T::read(&value);
        if typed.is_none() {
            let pointer = format!("{}/{}", self.at, token(field.wire));
            if self.spec.required.contains(&field.wire) {
                return Err(DecodeError::wrong_type(pointer, T::EXPECTED, &value));
            }
            self.notes.push(left_untyped(&pointer, T::EXPECTED, &value));
        }
        // `10.0` is read as 10 and kept as the client wrote it.
        self.keep(field, value);
        Ok(typed)
    }

    /// Reads a string that the event cannot do without.
    ///
    /// # Errors
    /// [`DecodeError::Type`]: the value is not a string.
    pub(crate) fn needed(&self, field: &mut Field<'_>) -> Result<String, DecodeError> {
        let read = std::mem::take(&mut field.member).into_string();
        read.map_err(|member| {
            let pointer = format!("{}/{}", self.at, token(field.wire));
            DecodeError::wrong_type(pointer, String::EXPECTED, member.value())
        })
    }

    /// Keeps a value that the types cannot hold without loss.
    pub(crate) fn keep(&mut self, field: &Field<'_>, value: impl Into<Json>) {
        self.extra.insert(field.wire, value);
    }
}
