//! OpenCode, which loads plugins and runs no commands. Specification: `docs/spec/opencode.md`.
//!
//! The plugin in `clients/opencode/` sends these events and obeys these verdicts.

mod call;
mod encode;
mod events;
mod merge;
mod output;
mod tools;

use serde_json::Value;

use super::common;
use crate::protocol::{ConfigShape, Dialect, EventSpec, Flow, Marks, Outcome, ToolNames, Usage};
use crate::{
    event::{Event, wire::parse_wire},
    glimpse::Places,
    json::{DecodeError, Object},
    matcher::MatchStyle,
    output::{HookOutput, Note},
};

/// `opencode`
pub static DIALECT: OpenCode = OpenCode;

/// The dialect.
#[derive(Debug)]
pub struct OpenCode;

const NAME_KEY: &str = "hook_event_name";

impl Dialect for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn specs(&self) -> &'static [EventSpec] {
        events::SPECS
    }

    fn other_spec(&self) -> &'static EventSpec {
        &events::OTHER
    }

    /// opencode.md#several-hooks: "As under `claude`: in array order, all of them, each with the original event."
    fn flow(&self) -> Flow {
        Flow::Sequential
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Groups
    }

    /// opencode.md#matchers: "Read as Claude's"
    fn match_style(&self) -> Option<MatchStyle> {
        Some(MatchStyle::NamesOrSearch)
    }

    fn marks(&self) -> Marks {
        events::MARKS
    }

    /// decisions.md#opencode: "A matcher may name a tool as Claude Code does".
    fn tool_names(&self) -> &'static [ToolNames] {
        tools::TOOLS
    }

    fn usage(&self) -> Usage {
        events::USAGE
    }

    fn known_keys(&self) -> &'static [&'static str] {
        common::known_keys::OPENCODE
    }

    /// opencode.md#payloads: "A call as OpenCode made it, `{"input": …, "output": …}`, is understood too."
    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        let wire = parse_wire(wire)?;
        if call::is_call(wire.members.len(), |name| wire.members.get(name)) {
            call::decode(self, wire, name)
        } else {
            common::decode_flat_wire(self, NAME_KEY, &[], wire, name)
        }
    }

    fn places(&self) -> &'static Places {
        &Places { name: &[&[NAME_KEY]], tool: &[&["tool_name"], &["input", "tool"]] }
    }

    fn encode_event(&self, event: &Event) -> Value {
        if event.raw.as_object().is_some_and(|raw| call::is_call(raw.len(), |name| raw.get(name))) {
            // The dialect does not chain, so the event is unchanged.
            return event.raw.value().clone();
        }
        common::encode_flat_event(self.spec_of(event), NAME_KEY, &[], event)
    }

    fn decode_output(&self, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
        output::decode(event, wire)
    }

    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome {
        merge::merge(event, outputs)
    }

    fn encode_outcome(&self, event: &Event, outcome: &HookOutput) -> Option<Value> {
        Some(encode::encode(event, outcome))
    }

    fn spec_by_name(&self, name: &str) -> Option<&'static EventSpec> {
        let name = call::CALLS.iter().find(|(call, _)| *call == name).map_or(name, |(_, event)| event);
        self.specs().iter().find(|spec| spec.name == name)
    }
}
