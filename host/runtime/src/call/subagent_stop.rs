//! `subagent-stop`

use crate::bindings::exports::hookbox::hooks::subagent_stop::{Decision, Event};

interface! {
    SubagentStop(event, input) => subagent_stop::handle(
        stop: Event = Event {
            stop_hook_active: input.stop_hook_active,
            agent_id: event.origin.agent_id.clone(),
            agent_type: input.agent_type.clone(),
            agent_transcript_path: input.agent_transcript_path.clone(),
            task_description: input.task_description.clone(),
            success: input.success,
            result_summary: input.result_summary.clone(),
            error: input.error.clone(),
            final_response: input.final_response.clone(),
        }
    ) -> Decision,
    (Decision { rule, effects }, reader) => reader.gate(rule, effects)
}
