// Written by `just bindings` from the contract. Do not edit.

//! `subagent-start`

use crate::bindings::{exports::hookbox::hooks::subagent_start::Event, hookbox::hooks::types::Effects};

interface! {
    SubagentStart(event, input) => subagent_start::handle(
        fields: Event = Event {
            agent_id: event.context.agent_id.as_deref(),
            agent_type: input.agent_type.as_deref(),
            task_description: input.task_description.as_deref(),
            parent_agent_id: input.parent_agent_id.as_deref(),
        }
    ) -> Effects,
    (effects, reader) => reader.effects(effects)
}
