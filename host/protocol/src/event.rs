//! One event, typed, and nothing of it lost.
//!
//! Every dialect decodes into these types through [`decode_fields`] and a table of names; what the types do not know
//! stays in [`Event::extra`], so that encoding gives back what was decoded.

pub(crate) mod fields;
mod input;
pub(crate) mod raw;

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

use crate::{
    dialect::{Dialect, EventSpec},
    glimpse::Glimpse,
    json::{DecodeError, Members, Object, token},
    output::Note,
};

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The event's name as the client wrote it.
    pub name: String,
    /// What every event shares.
    pub context: EventContext,
    /// The tool, on events about a tool.
    pub call: Option<ToolCall>,
    /// The event's own fields. Its variant says which event this is.
    pub input: Input,
    /// Fields of the wire these types do not know, or cannot hold without loss.
    pub extra: Object,
    /// The whole event as the client sent it, with rewrites of earlier hooks where the dialect chains.
    pub raw: Raw,
    /// What was read otherwise than the client wrote it, for people. Never on the wire.
    pub notes: Vec<Note>,
}

/// What of an event is otherwise than the client sent it, while hooks of another stage are asked.
#[derive(Debug)]
pub struct AsSent {
    name: String,
    input: Input,
    raw: Raw,
}

impl Event {
    /// An event that never was on a wire, as the dialect's client would have sent it.
    pub fn new(dialect: &dyn Dialect, context: EventContext, call: Option<ToolCall>, input: Input) -> Self {
        let name = dialect.spec(input.kind()).name.to_owned();
        let mut event =
            Self { name, context, call, input, extra: Object::new(), raw: Raw::default(), notes: Vec::new() };
        event.raw = dialect.encode_event(&event).into();
        event
    }

    /// What is known of an event that cannot be read. A tool that is not known is left out.
    pub fn glimpsed(dialect: &dyn Dialect, seen: Glimpse) -> Self {
        let kind = dialect.spec_by_name(&seen.name).map_or(EventKind::OtherEvent, |spec| spec.kind);
        Self {
            name: seen.name,
            context: EventContext::default(),
            call: seen.tool.map(|tool| ToolCall::new(tool, Value::Null)),
            input: Input::empty(kind),
            extra: Object::new(),
            raw: Raw::default(),
            notes: Vec::new(),
        }
    }

    /// Makes it what hooks of another stage see of it (see [`Dialect::stages`]). What is large is not copied.
    /// `None`: it is one of that stage.
    pub fn turn_into(&mut self, kind: EventKind, dialect: &dyn Dialect) -> Option<AsSent> {
        if kind == self.kind() {
            return None;
        }
        let spec = dialect.spec(kind);
        let extra = std::mem::take(&mut self.extra);
        let arguments = self.call.as_mut().map(|call| std::mem::take(&mut call.input));
        let sent = AsSent {
            name: std::mem::replace(&mut self.name, spec.name.to_owned()),
            input: std::mem::replace(&mut self.input, Input::empty(kind)),
            raw: std::mem::take(&mut self.raw),
        };
        let rest = dialect.encode_event(self);
        let rest = rest.as_object().into_iter().flatten().filter(|(key, _)| !extra.contains_key(*key));
        let names = Names { spec, context: &[] };
        let input = arguments.iter().filter(|value| !value.is_null()).map(|value| (names.wire("tool_input"), value));
        let input = input.filter(|(key, _)| !extra.contains_key(*key));
        let other = rest.chain(&extra).map(|(key, value)| (key.as_str(), value));
        self.raw = sent.raw.made_of(input.chain(other));
        self.extra = extra;
        if let (Some(call), Some(arguments)) = (&mut self.call, arguments) {
            call.input = arguments;
        }
        Some(sent)
    }

    /// Makes it again what the client sent.
    pub fn turn_back(&mut self, sent: Option<AsSent>) {
        if let Some(AsSent { name, input, raw }) = sent {
            (self.name, self.input, self.raw) = (name, input, raw);
        }
    }

    /// A text field by our name, for matchers.
    pub fn field(&self, name: &str) -> Option<String> {
        if name == "tool_name" {
            return self.call.as_ref().map(|call| call.name.clone());
        }
        let mut fields = Object::new();
        self.context.encode(&mut fields);
        self.input.encode(&mut fields);
        fields.get(name).and_then(Value::as_str).map(str::to_owned)
    }

    /// Which event this is.
    pub fn kind(&self) -> EventKind {
        self.input.kind()
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $wit:literal,)*) => {
        /// Every event the contract knows, in no dialect's words.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind { $($(#[$doc])* $name,)* }

        impl EventKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The event's interface in the WIT package `hookbox:hooks`.
            pub const fn interface(self) -> &'static str {
                match self { $(Self::$name => $wit,)* }
            }

            /// The event's name in the field's words, for example `PreToolUse`.
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
    /// A list of this kind only.
    pub fn alone(self) -> &'static [Self] {
        Self::ALL.iter().position(|kind| *kind == self).and_then(|i| Self::ALL.get(i..=i)).unwrap_or_default()
    }

    /// Whether the event is about one tool call.
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

/// Decodes the fields of one wire object by its specification. `context_names` are the dialect's names for what every
/// event shares, as (wire, ours) pairs. `at` is the JSON pointer of `wire` within the text.
///
/// Typed are what every event shares, what the specification lists ([`EventSpec::fields`] and [`EventSpec::names`]) and,
/// where the event is about a tool, the tool call. A field of another type than it should have is left untyped, with a
/// note, unless the event means nothing without it.
///
/// The event is named as its specification has it and has no [`Event::raw`] yet: both are the caller's.
///
/// # Errors
/// [`DecodeError::Missing`] for the specification's required fields, [`DecodeError::Type`] for those and the tool's name.
pub fn decode_fields(
    spec: &EventSpec,
    context_names: &[(&str, &str)],
    at: &str,
    wire: Object,
) -> Result<Event, DecodeError> {
    decode_members(spec, spec.name.to_owned(), context_names, at, wire.into())
}

/// [`decode_fields`] of an object that is no map yet, and of an event of this name.
pub(crate) fn decode_members(
    spec: &EventSpec,
    name: String,
    context_names: &[(&str, &str)],
    at: &str,
    wire: Members<'_>,
) -> Result<Event, DecodeError> {
    for required in spec.required {
        if wire.get(required).is_none() {
            let why = format!("{} means nothing without it", spec.name);
            return Err(DecodeError::Missing { pointer: format!("{at}/{}", token(required)), why });
        }
    }
    let names = Names { spec, context: context_names };
    let left = Vec::with_capacity(wire.len().min(EventContext::FIELDS.len()));
    let mut fields = Fields { at, names: &names, left, extra: Object::new(), notes: Vec::new() };
    for (key, value) in wire {
        let ours = names.ours(&key).filter(|_| !value.is_null());
        match ours.map(|ours| (ours != key).then(|| Cow::Owned(ours.to_owned()))) {
            Some(renamed) => fields.left.push((renamed.unwrap_or(key), value)),
            None => drop(fields.extra.insert(key.into_owned(), value)),
        }
    }
    let call = if spec.kind.has_tool() { Some(ToolCall::decode(&mut fields)?) } else { None };
    let context = EventContext::decode(&mut fields)?;
    let input = Input::decode(spec.kind, &mut fields)?;
    let extra = fields.take_rest();
    Ok(Event { name, context, call, input, extra, raw: Raw::default(), notes: fields.notes })
}

/// The inverse of [`decode_fields`]: the wire object of an event.
pub fn encode_fields(spec: &EventSpec, context_names: &[(&str, &str)], event: &Event) -> Object {
    let names = Names { spec, context: context_names };
    let mut ours = Object::new();
    event.context.encode(&mut ours);
    if let Some(call) = &event.call {
        call.encode(&mut ours);
    }
    event.input.encode(&mut ours);
    let mut wire: Object = ours.into_iter().map(|(key, value)| (names.wire(&key).to_owned(), value)).collect();
    // These stand under the wire's own names.
    if let Input::OtherEvent(other) = &event.input {
        wire.extend(other.payload.clone());
    }
    wire.extend(event.extra.clone());
    wire
}

/// The tables of names that hold for one event, the event's own first.
struct Names<'a> {
    spec: &'a EventSpec,
    context: &'a [(&'a str, &'a str)],
}

impl Names<'_> {
    fn pairs(&self) -> impl Iterator<Item = &(&str, &str)> {
        self.spec.names.iter().chain(self.context)
    }

    /// Our name of a wire field that is typed here; `None` also when another wire field has that name here.
    fn ours<'k>(&'k self, wire: &'k str) -> Option<&'k str> {
        match self.pairs().find(|(w, _)| *w == wire) {
            Some((_, ours)) => Some(ours),
            None if self.pairs().any(|(_, ours)| *ours == wire) => None,
            None => Some(wire).filter(|wire| self.typed(wire)),
        }
    }

    fn typed(&self, name: &str) -> bool {
        EventContext::FIELDS.contains(&name)
            || self.spec.fields.contains(&name)
            || (self.spec.kind.has_tool() && ToolCall::FIELDS.contains(&name))
    }

    fn wire<'k>(&'k self, ours: &'k str) -> &'k str {
        self.pairs().find(|(_, o)| *o == ours).map_or(ours, |(wire, _)| wire)
    }
}

/// Fields still to be taken, by our names.
pub(crate) struct Fields<'a> {
    at: &'a str,
    names: &'a Names<'a>,
    /// A list, since most names that are looked for are not there. No two are the same.
    left: Vec<(Cow<'a, str>, Value)>,
    extra: Object,
    notes: Vec<Note>,
}

impl Fields<'_> {
    /// Takes one field; absent, `null` and of another type alike being `None`.
    ///
    /// # Errors
    /// [`DecodeError::Type`] where the event means nothing without the field.
    pub(crate) fn take<T: FieldType>(&mut self, name: &str) -> Result<Option<T>, DecodeError> {
        let Some(place) = self.left.iter().position(|(left, _)| left == name) else { return Ok(None) };
        let (_, value) = self.left.remove(place);
        let value = match T::take(value) {
            Ok(typed) => return Ok(Some(typed)),
            Err(value) => value,
        };
        let wire = self.names.wire(name);
        let pointer = || format!("{}/{}", self.at, token(wire));
        let Some(typed) = T::read(&value) else {
            // Whose call it is decides who is asked.
            if name == "tool_name" || self.names.spec.required.contains(&wire) {
                return Err(DecodeError::wrong_type(pointer(), T::EXPECTED, &value));
            }
            self.notes.push(left_untyped(&pointer(), T::EXPECTED, &value));
            self.extra.insert(wire.to_owned(), value);
            return Ok(None);
        };
        // `10.0` is 10, and is written as it came.
        self.extra.insert(wire.to_owned(), value);
        Ok(Some(typed))
    }

    /// Puts a field to those that are left; back, when the types cannot hold it without loss.
    pub(crate) fn keep(&mut self, name: &str, value: Value) {
        self.left.push((name.to_owned().into(), value));
    }

    /// Takes everything that is left, by the wire's names.
    pub(crate) fn take_rest(&mut self) -> Object {
        let left = std::mem::take(&mut self.left);
        let mut rest = std::mem::take(&mut self.extra);
        rest.extend(left.into_iter().map(|(ours, value)| (self.names.wire(&ours).to_owned(), value)));
        rest
    }
}
