//! `PicoClaw`'s process hooks, message by message. Specification: `docs/spec/picoclaw.md`.
//!
//! A wire event is one JSON-RPC 2.0 line, request or notification; a verdict is the response line to it. A handler that
//! speaks this dialect answers with the `result` object alone.

mod answer;
mod events;
mod line;
mod merge;
mod reply;
mod rewrite;

use serde_json::Value;

use super::{ConfigShape, Dialect, EventRow, Flow, Merged};
use crate::{
    answer::{Answer, Note},
    event::{Event, Kind},
    failure::Behavior,
    json::{DecodeError, Object},
    matcher::MatchStyle,
};

/// `picoclaw`
pub static DIALECT: Picoclaw = Picoclaw;

/// The dialect.
#[derive(Debug)]
pub struct Picoclaw;

impl Dialect for Picoclaw {
    fn name(&self) -> &'static str {
        "picoclaw"
    }

    fn rows(&self) -> &'static [EventRow] {
        events::ROWS
    }

    fn other_row(&self) -> &'static EventRow {
        &events::OTHER
    }

    /// decisions.md: "ascending `priority`, then name, one after another"; "chained: `modify` replaces the whole
    /// request/call/response/result object and is the next hook's input".
    fn flow(&self) -> Flow {
        Flow::Chained
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Named
    }

    /// The specification chooses hooks by method only.
    fn match_style(&self) -> Option<MatchStyle> {
        None
    }

    fn known_keys(&self) -> &'static [&'static str] {
        answer::KNOWN_KEYS
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        line::decode(self, wire, name)
    }

    fn encode_event(&self, event: &Event) -> Value {
        line::encode(self, event)
    }

    fn decode_answer(&self, event: &Event, wire: &Object) -> Result<(Answer, Vec<Note>), DecodeError> {
        answer::decode(event, wire)
    }

    fn stops(&self, _event: &Event, answer: &Answer) -> bool {
        merge::stops(answer)
    }

    fn rewrite(&self, event: &mut Event, answer: &Answer) {
        if rewrite::apply(event, answer).is_ok_and(|changed| changed) {
            event.raw = self.encode_event(event);
        }
    }

    fn merge(&self, event: &Event, answers: &[Answer]) -> Merged {
        merge::merge(event, answers)
    }

    fn encode_verdict(&self, event: &Event, merged: &Answer) -> Option<Value> {
        reply::encode(event, merged)
    }

    /// decisions.md: "An interceptor that errors or times out is skipped (fail-open); an approver that errors, times out
    /// or crashes has denied (fail-closed)."
    fn default_behavior(&self, kind: Kind) -> Behavior {
        if kind == Kind::PermissionRequest { Behavior::Deny } else { Behavior::Ignore }
    }

    fn last_resort(&self, wire: &[u8], reason: &str) -> Option<Value> {
        reply::last_resort(self, wire, reason)
    }

    /// The handshake is an event without an interface of its own, but not the row of all such events.
    fn row(&self, kind: Kind) -> &'static EventRow {
        let row = events::ROWS.iter().find(|row| row.kind == kind && kind != Kind::OtherEvent);
        row.unwrap_or(&events::OTHER)
    }
}
