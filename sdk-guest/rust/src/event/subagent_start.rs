//! A subagent begins. claude, blade.

use crate::bindings::subagent_start::exports::hookbox::hooks::subagent_start as wit;
use crate::wire::{event, input};

input! {
    /// The subagent.
    Event from wit::Event {
        /// claude.
        agent_id: Option<String>,
        /// For example `Explore`, `Plan`.
        agent_type: Option<String>,
        /// blade.
        task_description: Option<String>,
        /// blade.
        parent_agent_id: Option<String>,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

event! {
    /// A subagent begins: give it context.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Briefing;
    ///
    /// impl SubagentStart for Briefing {
    ///     fn handle(_: &EventContext, event: &subagent_start::Event) -> Result<subagent_start::Output> {
    ///         let role = event.agent_type.as_deref().unwrap_or("subagent");
    ///         Ok(pass().context(format!("You are a {role}: report, do not change anything.")))
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Briefing: SubagentStart);
    /// ```
    SubagentStart in subagent_start(event: Event) -> Output
}

notice!(Event);
