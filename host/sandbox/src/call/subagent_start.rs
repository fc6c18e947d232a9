//! `subagent-start`

use crate::bindings::{exports::hookbox::hooks::subagent_start::Event, hookbox::hooks::types::Effects};

interface! {
    SubagentStart(event, input) => subagent_start::handle(
        start: Event = Event {
            agent_id: event.context.agent_id.clone(),
            agent_type: input.agent_type.clone(),
            task_description: input.task_description.clone(),
            parent_agent_id: input.parent_agent_id.clone(),
        }
    ) -> Effects,
    (effects, reader) => reader.effects(effects)
}
