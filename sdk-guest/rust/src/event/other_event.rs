//! Any event that has no module of its own: what clients add later.

use crate::Json;
use crate::wire::event;

event! {
    /// Any event that has no trait of its own; `context.event_name` says which. The answer is an output object in the
    /// dialect's own wire format, or nothing.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Watcher;
    ///
    /// impl OtherEvent for Watcher {
    ///     fn handle(context: &EventContext, event: &Json) -> Result<Option<Json>> {
    ///         log::info(format!("{}: {event}", context.event_name));
    ///         Ok(None)
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Watcher: OtherEvent);
    /// ```
    OtherEvent in other_event(event: Json) -> Option<Json>
}
