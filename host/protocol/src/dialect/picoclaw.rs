//! `PicoClaw`'s process hooks. Specification: `docs/spec/picoclaw.md`.
//!
//! An event on the wire is one line with a JSON-RPC 2.0 request or notification. A verdict is the line of its response.
//! A handler that speaks this dialect prints only the `result` object.

mod decode;
mod encode;
mod events;
mod merge;
mod output;
mod part;
mod protected;
mod reply;
mod request;
mod rewrite;

use core::time::Duration;

pub use events::HELLO;
pub use reply::block;
pub use request::{MODES, from_result, has_request, mode, to_request};
use serde_json::Value;

use super::common;
use crate::protocol::{ConfigShape, Dialect, EventSpec, Flow, Marks, Outcome, ToolNames};
use crate::{
    event::{Event, EventKind},
    failure::{Cause, FailurePolicy, Fallback},
    glimpse::Places,
    json::{DecodeError, Object},
    matcher::MatchStyle,
    output::{HookOutput, Note},
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

    fn specs(&self) -> &'static [EventSpec] {
        events::SPECS
    }

    fn other_spec(&self) -> &'static EventSpec {
        &events::OTHER
    }

    /// decisions.md#order-and-rewrites: "ascending `priority`, then name, one after another"; "chained: `modify`
    /// replaces the whole request/call/response/result object and is the next hook's input".
    fn flow(&self) -> Flow {
        Flow::Chained
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Named
    }

    /// The specification selects hooks by method only.
    fn match_style(&self) -> Option<MatchStyle> {
        None
    }

    fn tool_names(&self) -> &'static [ToolNames] {
        events::TOOLS
    }

    fn marks(&self) -> Marks {
        events::MARKS
    }

    fn kinds(&self) -> &'static [&'static str] {
        &events::KINDS
    }

    /// The defaults of the client's own configuration: for observers, approvals and interceptors.
    fn client_timeout(&self, spec: &EventSpec) -> Duration {
        match spec.kind {
            EventKind::AgentEvent => Duration::from_millis(500),
            EventKind::PermissionRequest => Duration::from_mins(1),
            _ => Duration::from_secs(5),
        }
    }

    fn known_keys(&self) -> &'static [&'static str] {
        common::known_keys::PICOCLAW
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        decode::decode(self, wire, name)
    }

    fn places(&self) -> &'static Places {
        &Places { name: &[&["method"]], tool: &[&["params", "tool"]] }
    }

    fn encode_event(&self, event: &Event) -> Value {
        encode::encode(self, event)
    }

    fn decode_output(&self, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
        output::decode(event, wire)
    }

    fn stops(&self, _event: &Event, output: &HookOutput) -> bool {
        merge::stops(output)
    }

    fn rewrite(&self, event: &mut Event, output: &HookOutput) {
        if rewrite::apply(event, output).is_ok_and(|changed| changed) {
            event.raw = self.encode_event(event).into();
        }
    }

    fn rewrites_tool(&self, kind: EventKind) -> bool {
        kind == EventKind::PreToolUse
    }

    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome {
        merge::merge(event, outputs)
    }

    fn encode_outcome(&self, event: &Event, outcome: &HookOutput) -> Option<Value> {
        reply::encode(event, outcome)
    }

    /// decisions.md#picoclaw: "An interceptor that errors or times out is skipped (fail-open); an approver that errors,
    /// times out or crashes has denied (fail-closed)."
    fn default_policy(&self, kind: EventKind, _cause: Cause) -> FailurePolicy {
        if kind == EventKind::PermissionRequest { FailurePolicy::Deny } else { FailurePolicy::Ignore }
    }

    /// The client waits for a line and ignores exit codes.
    fn fail_closed(&self, wire: &[u8], name: Option<&str>, reason: &str) -> Fallback {
        Fallback::block(reply::refusal(self, wire, name, reason))
    }

    /// The handshake has no interface of its own. Its row is not the row of all other events.
    fn spec(&self, kind: EventKind) -> &'static EventSpec {
        let spec = events::SPECS.iter().find(|spec| spec.kind == kind && kind != EventKind::OtherEvent);
        spec.unwrap_or(&events::OTHER)
    }
}
