//! Blocks the completion of failed or undocumented tasks.

use hookbox_guest::prelude::*;

struct TaskCheck;

impl TaskCompleted for TaskCheck {
    fn handle(_: &EventContext, event: &task_completed::Event) -> Result<task_completed::Output> {
        // claude and blade-callback send no result, so there is nothing to check.
        if event.success.is_none() && event.result_summary.is_none() {
            return Ok(pass());
        }
        if event.success == Some(false) {
            return Ok(block("The task failed: finish it, or say why it cannot be done."));
        }
        match event.result_summary.as_deref().map(str::trim) {
            None | Some("") => Ok(block("The task has no result: sum up what was done.")),
            Some(_) => Ok(pass()),
        }
    }
}

hookbox_guest::export!(TaskCheck: TaskCompleted);

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(success: Option<bool>, summary: Option<&str>) -> Result<task_completed::Output> {
        let event = task_completed::Event {
            success,
            result_summary: summary.map(String::from),
            ..task_completed::Event::default()
        };
        TaskCheck::handle(&EventContext::default(), &event)
    }

    #[test]
    fn a_failed_task_is_not_done() {
        let failed = Ok(block("The task failed: finish it, or say why it cannot be done."));
        assert_eq!(decide(Some(false), Some("it broke")), failed);
    }

    #[test]
    fn a_task_without_a_result_is_not_done() {
        let empty = Ok(block("The task has no result: sum up what was done."));
        assert_eq!(decide(Some(true), None), empty);
        assert_eq!(decide(Some(true), Some(" \n")), empty);
        assert_eq!(decide(None, Some("")), empty);
    }

    #[test]
    fn a_task_with_a_result_is() {
        assert_eq!(decide(Some(true), Some("three files changed")), Ok(pass()));
    }

    #[test]
    fn missing_data_blocks_nothing() {
        assert_eq!(decide(None, None), Ok(pass()));
    }
}
