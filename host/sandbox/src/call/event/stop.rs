// Written by `just bindings` from the contract. Do not edit.

//! `stop`

use crate::bindings::exports::hookbox::hooks::stop::{Event, Output};

interface! {
    Stop(event, input) => stop::handle(
        fields: Event = Event {
            stop_hook_active: input.stop_hook_active,
            stop_reason: input.stop_reason.as_deref(),
            final_response: input.final_response.as_deref(),
        }
    ) -> Output,
    (Output { decision, effects }, reader) => reader.gate(decision, effects)
}
