//! `task-completed`

use crate::bindings::exports::hookbox::hooks::task_completed::{Event, Output};

interface! {
    TaskCompleted(event, input) => task_completed::handle(
        task: Event = Event {
            task_id: input.task_id.clone(),
            task_subject: input.task_subject.clone(),
            task_description: input.task_description.clone(),
            result_summary: input.result_summary.clone(),
            success: input.success,
        }
    ) -> Output,
    (Output { decision, effects }, reader) => reader.gate(decision, effects)
}
