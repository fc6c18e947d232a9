//! Codex CLI. Specification: `docs/spec/codex.md`.

mod command;
mod encode;
mod events;
mod merge;
mod output;

use core::time::Duration;

use serde_json::{Value, json};

use super::common;
use crate::protocol::{ConfigShape, Dialect, EventSpec, Flow, Marks, Outcome, ToolNames, Usage};
use crate::{
    command::{CommandOutput, HandlerResult},
    event::{Event, EventKind},
    failure::Fallback,
    json::{DecodeError, Object},
    matcher::MatchStyle,
    output::{HookOutput, Note, Scope},
};

/// `codex`
pub static DIALECT: Codex = Codex;

/// The dialect.
#[derive(Debug)]
pub struct Codex;

const NAME_KEY: &str = "hook_event_name";

impl Dialect for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn specs(&self) -> &'static [EventSpec] {
        events::SPECS
    }

    fn other_spec(&self) -> &'static EventSpec {
        &events::OTHER
    }

    /// codex.md#order: "All hooks of an event start at once. They are told the original event."
    fn flow(&self) -> Flow {
        Flow::Concurrent(usize::MAX)
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Groups
    }

    /// decisions.md#codex: "After eight blocks in a row a stop is no longer blocked: Codex has no limit of its own."
    fn stop_limit(&self) -> Option<u32> {
        Some(8)
    }

    /// codex.md#configuration: "A timeout is in seconds; the default is 600, and 1 for `SessionEnd`."
    fn command_timeout(&self) -> Option<f64> {
        Some(600.0)
    }

    fn match_style(&self) -> Option<MatchStyle> {
        Some(MatchStyle::NamesOrSearch)
    }

    fn tool_names(&self) -> &'static [ToolNames] {
        events::TOOLS
    }

    fn marks(&self) -> Marks {
        events::MARKS
    }

    fn usage(&self) -> Usage {
        events::USAGE
    }

    /// codex.md#configuration: "A timeout is in seconds; the default is 600, and 1 for `SessionEnd`."
    fn client_timeout(&self, spec: &EventSpec) -> Duration {
        if spec.kind == EventKind::SessionEnd { Duration::from_secs(1) } else { Duration::from_mins(10) }
    }

    fn known_keys(&self) -> &'static [&'static str] {
        common::known_keys::CODEX
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        common::decode_flat_event(self, NAME_KEY, &[], wire, name)
    }

    fn encode_event(&self, event: &Event) -> Value {
        common::encode_flat_event(self.spec_of(event), NAME_KEY, &[], event)
    }

    fn decode_output(&self, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
        output::decode(self.spec_of(event), event, wire)
    }

    fn read_command(&self, event: &Event, ended: &CommandOutput<'_>) -> HandlerResult {
        command::read(self, event, ended)
    }

    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome {
        merge::merge(event, outputs)
    }

    fn encode_outcome(&self, event: &Event, outcome: &HookOutput) -> Option<Value> {
        Some(encode::encode(event, outcome))
    }

    /// decisions.md#codex: "Under `failClosed` hookbox blocks `SessionStart` and `PreCompact` by `{"continue":false}` and
    /// exit code 0, because exit code 2 blocks nothing there."
    fn fail_closed(&self, wire: &[u8], name: Option<&str>, reason: &str) -> Fallback {
        let closed = Fallback::block(None);
        match self.glimpse_spec(wire, name) {
            Some(spec) if spec.blockable && spec.expressible.decisions.is_empty() => {
                let halt = spec.expressible.halt.contains(&Scope::Turn);
                let reply = json!({ "continue": false, "systemMessage": reason });
                if halt { Fallback { exit: Some(0), stdout: Some(reply), ..closed } } else { closed }
            }
            _ => closed,
        }
    }

    /// Several events have no interface. None of their rows is the row of all other events.
    fn spec(&self, kind: EventKind) -> &'static EventSpec {
        let own = self.specs().iter().find(|spec| spec.kind == kind && kind != EventKind::OtherEvent);
        own.unwrap_or(&events::OTHER)
    }
}
