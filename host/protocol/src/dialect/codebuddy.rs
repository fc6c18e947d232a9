//! `CodeBuddy` Code and its Agent SDK. Specification: `docs/spec/codebuddy.md`.
//!
//! There are two profiles. [`DOCUMENTED`] follows the specification, which has only `decision: "block"`. [`OBSERVED`]
//! follows the current client, which also has `allow` and `ask`. In both, all events outside of the specification's six
//! reach hooks through the generic event.

mod encode;
mod events;
mod merge;
mod output;

use serde_json::Value;

use super::common;
use crate::protocol::{ConfigShape, Dialect, EventSpec, Flow, Marks, Outcome, Usage};
use crate::{
    event::{Event, Raw, wire::parse_wire},
    json::{DecodeError, Object},
    matcher::MatchStyle,
    output::{HookOutput, Note},
};

/// `codebuddy`
pub static DOCUMENTED: CodeBuddy = CodeBuddy { observed: false };
/// `codebuddy@observed`
pub static OBSERVED: CodeBuddy = CodeBuddy { observed: true };

/// The dialect, in one of its two profiles.
#[derive(Debug)]
pub struct CodeBuddy {
    observed: bool,
}

const NAME_KEY: &str = "hook_event_name";

impl Dialect for CodeBuddy {
    fn name(&self) -> &'static str {
        if self.observed { "codebuddy@observed" } else { "codebuddy" }
    }

    fn specs(&self) -> &'static [EventSpec] {
        if self.observed { events::OBSERVED } else { events::DOCUMENTED }
    }

    fn other_spec(&self) -> &'static EventSpec {
        &events::OTHER
    }

    /// decisions.md#order-and-rewrites: "array order (matcher groups in order, hooks in order within)"; "each hook sees
    /// the original input".
    fn flow(&self) -> Flow {
        Flow::Sequential
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Groups
    }

    /// codebuddy.md#matchers: "exact | `Bash` | the tool Bash only"; "prefix | `mcp__.*` | every MCP tool".
    /// decisions.md#matchers: "a regex that must match the *whole* field".
    fn match_style(&self) -> Option<MatchStyle> {
        Some(MatchStyle::Whole)
    }

    fn marks(&self) -> Marks {
        events::MARKS
    }

    /// codebuddy.md#configuration: "TypeScript: milliseconds. Python: seconds".
    fn usage(&self) -> Usage {
        Usage {
            milliseconds_from: Some(600.0),
            project_variable: Some("CODEBUDDY_PROJECT_DIR"),
            later_events: &["FinalStop"],
            ..Usage::default()
        }
    }

    fn known_keys(&self) -> &'static [&'static str] {
        common::known_keys::CODEBUDDY
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        let mut wire = parse_wire(wire)?;
        let name = common::event_name(&wire.members, NAME_KEY, name)?;
        if self.spec_by_name(&name).is_some_and(|spec| spec.kind.has_tool()) {
            events::take_tool_input(&mut wire);
        }
        common::decode_flat_wire(self, NAME_KEY, &[], wire, Some(&name))
    }

    fn encode_event(&self, event: &Event) -> Value {
        common::encode_flat_event(self.spec(event.kind()), NAME_KEY, &[], event)
    }

    /// decisions.md#codebuddy: "`command` and `file_path` of `tool_input`, and only these, are also top-level fields of
    /// the input of command handlers".
    fn for_commands(&self, event: &Event) -> Raw {
        let Some(input) = event.call.as_ref().and_then(|call| call.input.members()) else { return event.raw.clone() };
        let missing = ["command", "file_path"].into_iter().filter(|name| event.raw.member(name).is_none());
        let named = missing.filter_map(|name| Some((name.to_owned(), input.find(name)?.clone())));
        event.raw.with(named.collect())
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
}
