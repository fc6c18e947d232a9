// Written by `just bindings` from the contract. Do not edit.

//! `subagent-stop`

use crate::bindings::exports::hookbox::hooks::subagent_stop::{Event, Output};

interface! {
    SubagentStop(event, input) => subagent_stop::handle(
        fields: Event = Event {
            stop_hook_active: input.stop_hook_active,
            agent_id: event.context.agent_id.as_deref(),
            agent_type: input.agent_type.as_deref(),
            agent_transcript_path: input.agent_transcript_path.as_deref(),
            task_description: input.task_description.as_deref(),
            success: input.success,
            result_summary: input.result_summary.as_deref(),
            error: input.error.as_deref(),
            final_response: input.final_response.as_deref(),
        }
    ) -> Output,
    (Output { decision, effects }, reader) => reader.gate(decision, effects)
}
