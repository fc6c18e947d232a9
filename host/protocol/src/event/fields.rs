//! Fields that several events share.

use serde_json::Value;

use super::untyped::{Field, UntypedFields};
use crate::json::{DecodeError, Json, Object};

/// A struct with optional wire fields, each named like its field.
macro_rules! wire_struct {
    ($(#[$doc:meta])* pub struct $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name { $($(#[$fdoc])* pub $field: Option<$ty>,)* }

        impl $name {
            /// The contract's names of its fields.
            #[allow(dead_code)] // the fields of every event are not listed
            pub(crate) const FIELDS: &[&str] = &[$(stringify!($field)),*];

            /// Takes the field if it is one of these. Returns true if it was.
            #[allow(unused_variables, clippy::unnecessary_wraps)]
            pub(crate) fn take(
                &mut self,
                field: &mut $crate::event::untyped::Field<'_>,
                rest: &mut $crate::event::untyped::UntypedFields<'_>,
            ) -> Result<bool, $crate::json::DecodeError> {
                match field.ours {
                    $(stringify!($field) => self.$field = rest.read(field)?,)*
                    _ => return Ok(false),
                }
                #[allow(unreachable_code)] // of an event without fields
                Ok(true)
            }

            #[allow(unused_variables)]
            pub(crate) fn encode(&self, to: &mut $crate::json::Object) {
                $(if let Some(value) = &self.$field {
                    to.insert(stringify!($field).to_owned(), serde_json::json!(value));
                })*
            }
        }
    };
}
pub(crate) use wire_struct;

wire_struct! {
    /// The fields that every event has. `wit/types.wit` documents each of them in the record `origin`.
    pub struct EventContext {
        /// The session's id.
        session_id: String,
        /// The file that holds the conversation so far.
        transcript_path: String,
        /// The client's working directory.
        cwd: String,
        /// The permission mode, for example `default`, `acceptEdits` or `bypassPermissions`.
        permission_mode: String,
        /// blade: the project's directory.
        project_dir: String,
        /// blade: the field `hook_execution_id`.
        execution_id: String,
        /// The time of the event, in ISO 8601.
        timestamp: String,
        /// The agent or subagent in which the event happened.
        agent_id: String,
        /// claude: the tool call that started the subagent in which the event happened.
        parent_tool_use_id: String,
        /// picoclaw: the turn's id.
        turn_id: String,
        /// picoclaw: the id of the turn that started this one.
        parent_turn_id: String,
        /// picoclaw: the number of the model call within the turn, from 0.
        iteration: u32,
        /// picoclaw: the channel of the conversation.
        channel: String,
        /// picoclaw: the id of the conversation within the channel.
        chat_id: String,
    }
}

/// A call of a tool, before or after it ran.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCall {
    /// The tool's name. Empty if the client left it out.
    pub name: String,
    /// The tool's arguments. Null if the client left them out.
    pub input: Json,
    /// The id that the events of one call share.
    pub use_id: Option<String>,
    /// The arguments before an earlier hook of a chain rewrote them. Never on the wire.
    pub original_input: Option<Json>,
}

impl ToolCall {
    /// Makes a call of a tool name and its arguments.
    pub fn new(name: impl Into<String>, input: impl Into<Json>) -> Self {
        Self { name: name.into(), input: input.into(), use_id: None, original_input: None }
    }

    /// Replaces the arguments for the next hook of a chain. Returns true if they changed.
    pub(crate) fn rewrite(&mut self, input: Value) -> bool {
        if self.input == input {
            return false;
        }
        let before = std::mem::replace(&mut self.input, input.into());
        self.original_input.get_or_insert(before);
        true
    }

    /// Takes the field if it is one of these. Returns true if it was.
    pub(crate) fn take(&mut self, field: &mut Field<'_>, rest: &mut UntypedFields<'_>) -> Result<bool, DecodeError> {
        match field.ours {
            "tool_name" => {
                self.name = rest.needed(field)?;
                if self.name.is_empty() {
                    // Encoding leaves out an empty name, because the type uses it for a missing name.
                    rest.keep(field, Value::String(String::new()));
                }
            }
            "tool_input" => self.input = rest.read(field)?.unwrap_or_default(),
            "tool_use_id" => self.use_id = rest.read(field)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(crate) fn encode(&self, to: &mut Object) {
        if !self.name.is_empty() {
            to.insert("tool_name".into(), self.name.clone().into());
        }
        if !self.input.is_null() {
            to.insert("tool_input".into(), self.input.clone().into());
        }
        if let Some(use_id) = &self.use_id {
            to.insert("tool_use_id".into(), use_id.clone().into());
        }
    }
}
