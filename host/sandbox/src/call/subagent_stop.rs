//! `subagent-stop`

use crate::bindings::exports::hookbox::hooks::subagent_stop::{Event, Output};

interface! {
    SubagentStop(event, input) => subagent_stop::handle(
        stop: Event = Event {
            stop_hook_active: input.stop_hook_active,
            agent_id: event.context.agent_id.clone(),
            agent_type: input.agent_type.clone(),
            agent_transcript_path: input.agent_transcript_path.clone(),
            task_description: input.task_description.clone(),
            success: input.success,
            result_summary: input.result_summary.clone(),
            error: input.error.clone(),
            final_response: input.final_response.clone(),
        }
    ) -> Output,
    (Output { decision, effects }, reader) => reader.gate(decision, effects)
}
