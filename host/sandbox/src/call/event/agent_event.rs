//! `agent-event`

use crate::bindings::exports::hookbox::hooks::agent_event::Event;
use crate::call::input::json;

interface! {
    AgentEvent(event, input) => agent_event::handle(
        happened: Event = Event {
            kind: input.kind.as_deref().unwrap_or_default(),
            payload: json(event, input.payload.as_ref()),
        }
    ) -> (),
    ((), reader) => Ok(Box::default())
}
