//! `stop`

use crate::bindings::exports::hookbox::hooks::stop::{Decision, Event};

interface! {
    Stop(event, input) => stop::handle(
        stop: Event = Event {
            stop_hook_active: input.stop_hook_active,
            stop_reason: input.stop_reason.clone(),
            final_response: input.final_response.clone(),
        }
    ) -> Decision,
    (Decision { rule, effects }, reader) => reader.gate(rule, effects)
}
