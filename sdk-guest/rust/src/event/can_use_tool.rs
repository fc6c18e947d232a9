//! The client's permission callback, which it calls in addition to the hooks. blade, blade-callback.

use crate::bindings::can_use_tool::exports::hookbox::hooks::can_use_tool as wit;
use crate::output::PermissionDecision;
use crate::wire::{Lower, event, input};
use crate::{Json, ToolCall};

input! {
    /// The client's information about the call.
    Event from wit::Event {
        /// blade, blade-callback: `readonly`, `write` or `execute`; blade also `mcp`.
        tool_kind: Option<String>,
        /// blade-callback.
        affected_paths: Vec<String>,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

/// The decision about the permission.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The permission decision. `pass` and `ask` leave it to the client's own flow.
    pub decision: PermissionDecision,
    /// blade-callback: a replacement for the whole input of the tool.
    pub input: Option<Json>,
}

event! {
    /// The client asks whether a tool may be used: answer, or leave it to the client's own flow.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct ReadOnly;
    ///
    /// impl CanUseTool for ReadOnly {
    ///     fn handle(_: &EventContext, _: &ToolCall, event: &can_use_tool::Event) -> Result<can_use_tool::Output> {
    ///         Ok(if event.tool_kind.as_deref() == Some("readonly") { allow() } else { ask("it changes something") })
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(ReadOnly: CanUseTool);
    /// ```
    CanUseTool in can_use_tool(call: ToolCall, event: Event) -> Output
}

permission!(Event);

impl Lower for Output {
    type Wire = wit::Output;

    fn lower(self) -> wit::Output {
        wit::Output {
            decision: self.body.decision,
            updated_input: self.body.input.map(Json::into_text),
            effects: self.effects.into(),
        }
    }
}
