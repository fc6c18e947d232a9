// Written by `just bindings` from the contract. Do not edit.

//! `task-completed`

use crate::bindings::exports::hookbox::hooks::task_completed::{Event, Output};

interface! {
    TaskCompleted(event, input) => task_completed::handle(
        fields: Event = Event {
            task_id: input.task_id.as_deref(),
            task_subject: input.task_subject.as_deref(),
            task_description: input.task_description.as_deref(),
            result_summary: input.result_summary.as_deref(),
            success: input.success,
        }
    ) -> Output,
    (Output { decision, effects }, reader) => reader.gate(decision, effects)
}
