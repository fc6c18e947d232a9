//! A subagent is done. claude, codebuddy, blade.

use crate::bindings::subagent_stop::exports::hookbox::hooks::subagent_stop as wit;
use crate::wire::{event, input};

input! {
    /// The subagent and its result.
    Event from wit::Event {
        /// claude, codebuddy: a stop hook already kept this subagent going; do not loop.
        stop_hook_active: Option<bool>,
        /// claude.
        agent_id: Option<String>,
        /// For example `Explore`, `Plan`.
        agent_type: Option<String>,
        /// claude: the subagent's own transcript.
        agent_transcript_path: Option<String>,
        /// blade.
        task_description: Option<String>,
        /// blade.
        success: Option<bool>,
        /// blade.
        result_summary: Option<String>,
        /// blade.
        error: Option<String>,
        /// claude: `last_assistant_message`.
        final_response: Option<String>,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

event! {
    /// A subagent is done: let it stop, or `block` to keep it going with the reason.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Retry;
    ///
    /// impl SubagentStop for Retry {
    ///     fn handle(_: &EventContext, event: &subagent_stop::Event) -> Result<subagent_stop::Output> {
    ///         let failed = event.success == Some(false) && event.stop_hook_active != Some(true);
    ///         Ok(if failed { block("The task failed; try once more.") } else { pass() })
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Retry: SubagentStop);
    /// ```
    SubagentStop in subagent_stop(event: Event) -> Output
}

gate!(Event);
