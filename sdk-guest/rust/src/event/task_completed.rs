//! A task is being marked as done. blade, blade-callback; claude sends it too.

use crate::bindings::task_completed::exports::hookbox::hooks::task_completed as wit;
use crate::wire::{event, input};

input! {
    /// The task.
    Event from wit::Event {
        /// Identifier of the task.
        task_id: Option<String>,
        /// A short name of the task, if the client has one.
        task_subject: Option<String>,
        /// The goal of the task.
        task_description: Option<String>,
        /// blade.
        result_summary: Option<String>,
        /// blade.
        success: Option<bool>,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

event! {
    /// A task is being marked as done: agree, or `block` with what is missing.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Check;
    ///
    /// impl TaskCompleted for Check {
    ///     fn handle(_: &EventContext, event: &task_completed::Event) -> Result<task_completed::Output> {
    ///         Ok(if event.success == Some(false) { block("The task failed.") } else { pass() })
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Check: TaskCompleted);
    /// ```
    TaskCompleted in task_completed(event: Event) -> Output
}

gate!(Event);
