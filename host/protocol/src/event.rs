//! One typed event. Decoding loses nothing.
//!
//! Every dialect decodes into these types through [`decode_fields`] and a table of names. [`Event::extra`] holds the
//! fields that have no type, so that encoding gives back what was decoded.

mod codec;
pub(crate) mod field_type;
pub(crate) mod fields;
mod input;
pub(crate) mod kind;
mod raw;
mod stage;
pub(crate) mod untyped;
pub(crate) mod wire;

use std::borrow::Cow;

use serde_json::Value;

pub(crate) use codec::decode_members;
pub use codec::{decode_fields, encode_fields};
pub use fields::{EventContext, ToolCall};
pub use input::*;
pub use kind::EventKind;
pub use raw::Raw;
pub use stage::OriginalEvent;

pub use crate::json::{Fields, Json};
use crate::{json::Object, output::Note};

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

impl Event {
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
