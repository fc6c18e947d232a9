// Written by `just bindings` from the contract. Do not edit.

//! `pre-compact`

use crate::bindings::exports::hookbox::hooks::pre_compact::{Event, Output};

interface! {
    PreCompact(event, input) => pre_compact::handle(
        fields: Event = Event {
            trigger: input.trigger.as_deref(),
            custom_instructions: input.custom_instructions.as_deref(),
            messages_before: input.messages_before,
            tokens_before: input.tokens_before,
        }
    ) -> Output,
    (Output { decision, effects }, reader) => reader.gate(decision, effects)
}
