// Written by `just bindings` from the contract. Do not edit.

//! `session-end`

use crate::bindings::{exports::hookbox::hooks::session_end::Event, hookbox::hooks::types::Effects};

interface! {
    SessionEnd(event, input) => session_end::handle(
        fields: Event = Event {
            reason: input.reason.as_deref(),
            total_turns: input.total_turns,
            total_tokens: input.total_tokens,
        }
    ) -> Effects,
    (effects, reader) => reader.effects(effects)
}
