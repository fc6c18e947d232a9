//! The GitHub Copilot CLI. Specification: `docs/spec/copilot.md`.
//!
//! Each event has two names. The name in the client's configuration determines the form of the payload (`payload`). The
//! answer has the same form for both names (`output`).

mod command;
mod events;
mod merge;
mod output;
mod payload;
mod tools;

use core::time::Duration;

use serde_json::Value;

use super::common;
use crate::protocol::{ConfigShape, Dialect, EventSpec, Flow, Marks, Outcome, ToolNames, Usage};
use crate::{
    command::{CommandOutput, HandlerResult},
    event::{Event, EventKind},
    failure::{Cause, FailurePolicy, Fallback},
    glimpse::Places,
    json::{DecodeError, Object},
    matcher::MatchStyle,
    output::{DecisionKind, HookOutput, Note},
};

/// `copilot`
pub static DIALECT: Copilot = Copilot;

/// The dialect.
#[derive(Debug)]
pub struct Copilot;

/// Returns true if the event asks hooks for permission, so that a failed hook counts as a denial.
const fn is_gate(kind: EventKind) -> bool {
    matches!(kind, EventKind::PreToolUse | EventKind::PermissionRequest)
}

impl Dialect for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn specs(&self) -> &'static [EventSpec] {
        events::SPECS
    }

    fn other_spec(&self) -> &'static EventSpec {
        &events::OTHER
    }

    /// decisions.md#copilot: "Hooks are chained: each hook sees the rewrites of the hooks before it, on every event
    /// that can be rewritten."
    fn flow(&self) -> Flow {
        Flow::Chained
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Groups
    }

    /// copilot.md#configuration: "An event has an array of entries, each of which is one handler, or one of Claude's groups
    /// (`matcher` and `hooks`)".
    fn takes_flat_entries(&self) -> bool {
        true
    }

    /// copilot.md#configuration: "seconds; default: 30".
    fn command_timeout(&self) -> Option<f64> {
        Some(30.0)
    }

    /// copilot.md#matchers: "A matcher is a regular expression that must match the whole name."
    fn match_style(&self) -> Option<MatchStyle> {
        Some(MatchStyle::Whole)
    }

    fn tool_names(&self) -> &'static [ToolNames] {
        tools::TOOLS
    }

    fn marks(&self) -> Marks {
        events::MARKS
    }

    fn usage(&self) -> Usage {
        tools::USAGE
    }

    /// copilot.md#configuration: "seconds; default: 30".
    fn client_timeout(&self, _: &EventSpec) -> Duration {
        Duration::from_secs(30)
    }

    fn known_keys(&self) -> &'static [&'static str] {
        common::known_keys::COPILOT
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        payload::decode(wire, name)
    }

    fn places(&self) -> &'static Places {
        &Places { name: &[&["hook_event_name"], &["hookName"]], tool: &[&["tool_name"], &["toolName"]] }
    }

    fn encode_event(&self, event: &Event) -> Value {
        payload::encode(event)
    }

    fn decode_output(&self, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
        output::decode(event, wire)
    }

    fn read_command(&self, event: &Event, ended: &CommandOutput<'_>) -> HandlerResult {
        command::read(self, event, ended)
    }

    /// copilot.md#several-hooks: "Before a tool runs each hook sees the arguments as the hooks before it left them, and the
    /// first that denies or asks is the last that runs."
    fn stops(&self, event: &Event, output: &HookOutput) -> bool {
        let decided = matches!(output.decision_kind(), Some(DecisionKind::Deny | DecisionKind::Ask));
        event.kind() == EventKind::PreToolUse && decided
    }

    fn rewrite(&self, event: &mut Event, output: &HookOutput) {
        if merge::apply(event, output) {
            event.raw = payload::encode(event).into();
        }
    }

    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome {
        merge::merge(event, outputs)
    }

    fn encode_outcome(&self, event: &Event, outcome: &HookOutput) -> Option<Value> {
        Some(output::encode(event, outcome))
    }

    /// decisions.md#copilot: "Before a tool runs and on `permissionRequest` a failed hook denies, as for the client. A
    /// timeout or an output that the client does not read counts as no output, and so does every failed hook on other
    /// events."
    fn default_policy(&self, kind: EventKind, cause: Cause) -> FailurePolicy {
        match cause {
            Cause::Timeout | Cause::BadOutput => FailurePolicy::Ignore,
            _ if is_gate(kind) => FailurePolicy::Deny,
            _ => FailurePolicy::Ignore,
        }
    }

    /// decisions.md#copilot: "An internal error without `failClosed` ends with 0 and an empty stdout, because every
    /// other code blocks there."
    fn fail_open(&self) -> Fallback {
        Fallback { exit: Some(0), stdout: None, stderr: true }
    }

    fn fail_closed(&self, wire: &[u8], name: Option<&str>, reason: &str) -> Fallback {
        output::refusal(self.glimpse_spec(wire, name).map(|spec| spec.kind), reason)
    }

    fn spec(&self, kind: EventKind) -> &'static EventSpec {
        let own = self.specs().iter().find(|spec| spec.kind == kind && kind != EventKind::OtherEvent);
        own.unwrap_or(&events::OTHER)
    }

    fn spec_by_name(&self, name: &str) -> Option<&'static EventSpec> {
        events::by_name(name)
    }
}
