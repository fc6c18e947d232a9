//! A session ends. claude, blade, blade-callback.

use crate::bindings::session_end::exports::hookbox::hooks::session_end as wit;
use crate::wire::{event, input};

input! {
    /// The reason for the end, and the session's totals.
    Event from wit::Event {
        /// claude: `clear`, `logout`, `prompt_input_exit`, `bypass_permissions_disabled`, `other`; blade also `user_exit`,
        /// `error`, `max_turns`, `idle_timeout`, `ctrl_c`.
        reason: Option<String>,
        /// blade.
        total_turns: Option<u32>,
        /// blade.
        total_tokens: Option<u64>,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

event! {
    /// A session ends. The hook must be quick: clients do not wait long.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Farewell;
    ///
    /// impl SessionEnd for Farewell {
    ///     fn handle(_: &EventContext, event: &session_end::Event) -> Result<session_end::Output> {
    ///         log::info(event.reason.as_deref().unwrap_or("no reason given"));
    ///         Ok(pass())
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Farewell: SessionEnd);
    /// ```
    SessionEnd in session_end(event: Event) -> Output
}

notice!(Event);
