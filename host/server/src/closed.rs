//! A block in a dialect's own words, where hookbox failed and the configuration wants that: as JSON, because whoever asks
//! over HTTP sees no exit code.

use hookbox::{Cause, Dialect, Event, Failure, FailurePolicy};
use hookbox_protocol::{authority::express, failure::failed_output};
use serde_json::Value;

/// The event, as far as it can be told. `None` where not even its name can.
pub fn event(dialect: &dyn Dialect, wire: &[u8], name: Option<&str>) -> Option<Event> {
    let decoded = dialect.decode_event(wire, name).ok();
    decoded.or_else(|| dialect.glimpse(wire, name).map(|seen| Event::glimpsed(dialect, seen)))
}

/// A block of this event, in a word and in the dialect's.
pub fn block(dialect: &dyn Dialect, event: &Event, reason: &str) -> (&'static str, Option<Value>) {
    let failure = Failure::new(Cause::Event, reason);
    let (mut output, _) = failed_output(dialect.spec_of(event), "hookbox", &failure, FailurePolicy::Deny);
    if output.reason.is_some() {
        output.reason = Some(reason.to_owned());
    }
    express(dialect, event, None, &mut output);
    (output.word(), dialect.encode_outcome(event, &output))
}
