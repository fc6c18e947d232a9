//! A notification from the agent loop; no answer is expected. picoclaw: `hook.event`, `hook.runtime_event`.

use crate::Json;
use crate::bindings::agent_event::exports::hookbox::hooks::agent_event as wit;
use crate::wire::{event, input};

input! {
    /// The notification.
    Event from wit::Event {
        /// For example `turn_start`, `tool_exec_end`; newer clients: `agent.tool.exec_start`.
        kind: String,
        /// Details whose form depends on the kind.
        payload: Json,
    }
}

event! {
    /// A notification from the agent loop: record it.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Observer;
    ///
    /// impl AgentEvent for Observer {
    ///     fn handle(_: &EventContext, event: &agent_event::Event) -> Result<()> {
    ///         log::info(&event.kind);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Observer: AgentEvent);
    /// ```
    AgentEvent in agent_event(event: Event) -> ()
}
