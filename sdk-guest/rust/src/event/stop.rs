//! The agent is done answering. claude, codebuddy, blade.

use crate::bindings::stop::exports::hookbox::hooks::stop as wit;
use crate::wire::{event, input};

input! {
    /// The reason for the stop, and the final response.
    Event from wit::Event {
        /// claude, codebuddy: a stop hook already kept the agent going; do not loop.
        stop_hook_active: Option<bool>,
        /// blade.
        stop_reason: Option<String>,
        /// blade: `final_response`; claude: `last_assistant_message`.
        final_response: Option<String>,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

event! {
    /// The agent is done: let it stop, or `block` to keep it going with the reason.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Tests;
    ///
    /// impl Stop for Tests {
    ///     fn handle(_: &EventContext, event: &stop::Event) -> Result<stop::Output> {
    ///         let asked = event.stop_hook_active == Some(true);
    ///         Ok(if asked { pass() } else { block("Run the tests before you stop.") })
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Tests: Stop);
    /// ```
    Stop in stop(event: Event) -> Output
}

gate!(Event);
