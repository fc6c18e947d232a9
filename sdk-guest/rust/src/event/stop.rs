//! The agent is done answering. claude, codebuddy, blade.

use crate::bindings::stop::exports::hookbox::hooks::stop as wit;
use crate::wire::{event, input};

input! {
    /// With what the agent is done.
    Event from wit::Event {
        /// claude, codebuddy: a stop hook already kept the agent going; do not loop.
        stop_hook_active: Option<bool>,
        /// blade.
        stop_reason: Option<String>,
        /// blade: `final_response`; claude: `last_assistant_message`.
        final_response: Option<String>,
    }
}

/// What a hook answers about an agent that is done.
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
