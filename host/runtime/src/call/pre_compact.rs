//! `pre-compact`

use crate::bindings::exports::hookbox::hooks::pre_compact::{Decision, Event};

interface! {
    PreCompact(event, input) => pre_compact::handle(
        compaction: Event = Event {
            trigger: input.trigger.clone(),
            custom_instructions: input.custom_instructions.clone(),
            messages_before: input.messages_before,
            tokens_before: input.tokens_before,
        }
    ) -> Decision,
    (Decision { rule, effects }, reader) => reader.gate(rule, effects)
}
