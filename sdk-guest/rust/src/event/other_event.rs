//! Any event without a module of its own, such as one that a client adds later.

use crate::Json;
use crate::wire::event;

event! {
    /// Any event without a trait of its own; `context.event_name` has its name. The output is an object in the
    /// dialect's own wire format, or `None`.
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
