//! A failure of ours, where failures are to block: said in the dialect's own words.

use hookbox::{Cause, Dialect, Event, Failure, FailurePolicy};
use hookbox_protocol::{authority::express, failure::failed_output};
use serde_json::Value;

/// The event, when it is one that can be blocked. `None` also where nobody can tell which event it is.
pub fn blockable(dialect: &dyn Dialect, wire: &[u8], name: Option<&str>) -> Option<Event> {
    let event = dialect.decode_event(wire, name).ok()?;
    dialect.spec_of(&event).blockable.then_some(event)
}

/// A block of this event, as its dialect has it.
pub fn block(dialect: &dyn Dialect, event: &Event, reason: &str) -> Option<Value> {
    let failure = Failure::new(Cause::Busy, reason);
    let (mut output, _) = failed_output(dialect.spec_of(event), "hookbox", &failure, FailurePolicy::Deny);
    express(dialect, event, None, &mut output);
    dialect.encode_outcome(event, &output)
}
