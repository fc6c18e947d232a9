//! The agent tells the user something. claude, blade.

use crate::bindings::notification::exports::hookbox::hooks::notification as wit;
use crate::wire::{event, input};

input! {
    /// The notification.
    Event from wit::Event {
        /// The text.
        message: Option<String>,
        /// Its title.
        title: Option<String>,
        /// For example `permission_prompt`, `idle_prompt`, `auth_success`, `elicitation_dialog`, blade also `info`,
        /// `warning`, `error`.
        notification_type: Option<String>,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

event! {
    /// The agent tells the user something: pass it on.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Relay;
    ///
    /// impl Notification for Relay {
    ///     fn handle(_: &EventContext, event: &notification::Event) -> Result<notification::Output> {
    ///         log::info(event.message.as_deref().unwrap_or_default());
    ///         Ok(pass())
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Relay: Notification);
    /// ```
    Notification in notification(event: Event) -> Output
}

notice!(Event);
