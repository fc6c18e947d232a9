//! The context is about to be compacted. claude, codebuddy; blade: `Compaction`.

use crate::bindings::pre_compact::exports::hookbox::hooks::pre_compact as wit;
use crate::wire::{event, input};

input! {
    /// The reason for the compaction, and the size of the context.
    Event from wit::Event {
        /// `manual` or `auto`.
        trigger: Option<String>,
        /// claude: what the user asked the summary to keep.
        custom_instructions: Option<String>,
        /// blade: messages before the compaction.
        messages_before: Option<u32>,
        /// blade: tokens before the compaction.
        tokens_before: Option<u64>,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

event! {
    /// The context is about to be compacted: let it, or (blade) `block` it.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Keep;
    ///
    /// impl PreCompact for Keep {
    ///     fn handle(_: &EventContext, event: &pre_compact::Event) -> Result<pre_compact::Output> {
    ///         let early = event.trigger.as_deref() == Some("auto") && event.tokens_before < Some(10_000);
    ///         Ok(if early { block("There is room left.") } else { pass() })
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Keep: PreCompact);
    /// ```
    PreCompact in pre_compact(event: Event) -> Output
}

gate!(Event);
