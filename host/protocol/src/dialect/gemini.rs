//! Gemini CLI. Specification: `docs/spec/gemini.md`.

mod command;
mod encode;
mod events;
mod merge;
mod model;
mod output;
mod tools;

use serde_json::Value;

use super::common;
use crate::protocol::{ConfigShape, Dialect, EventSpec, Flow, Marks, Outcome, TimeUnit, ToolNames, Usage};
use crate::{
    command::{CommandOutput, HandlerResult},
    event::{Event, EventKind},
    failure::Fallback,
    json::{DecodeError, Object},
    matcher::MatchStyle,
    output::{HookOutput, Note},
};

/// `gemini`
pub static DIALECT: Gemini = Gemini;

/// The dialect.
#[derive(Debug)]
pub struct Gemini;

const NAME_KEY: &str = "hook_event_name";

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn specs(&self) -> &'static [EventSpec] {
        events::SPECS
    }

    fn other_spec(&self) -> &'static EventSpec {
        &events::OTHER
    }

    /// gemini.md#order: "The hooks of an event start at once."
    fn flow(&self) -> Flow {
        Flow::Concurrent(usize::MAX)
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Groups
    }

    /// gemini.md#configuration: "A timeout is in milliseconds".
    fn timeout_unit(&self) -> TimeUnit {
        TimeUnit::Milliseconds
    }

    fn match_style(&self) -> Option<MatchStyle> {
        Some(MatchStyle::Search)
    }

    /// gemini.md#matchers: "For all other events the matcher is the exact text of the field".
    fn match_style_of(&self, spec: &EventSpec) -> Option<MatchStyle> {
        Some(if spec.kind.has_tool() { MatchStyle::Search } else { MatchStyle::Exact })
    }

    fn marks(&self) -> Marks {
        events::MARKS
    }

    /// decisions.md#gemini: "A matcher may name a tool as Claude Code does".
    fn tool_names(&self) -> &'static [ToolNames] {
        tools::TOOLS
    }

    fn usage(&self) -> Usage {
        events::USAGE
    }

    fn known_keys(&self) -> &'static [&'static str] {
        common::known_keys::GEMINI
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        let mut event = common::decode_flat_event(self, NAME_KEY, &[], wire, name)?;
        model::read(&mut event);
        Ok(event)
    }

    fn encode_event(&self, event: &Event) -> Value {
        let (bare, request) = model::split(event);
        let mut wire = common::encode_flat_event(self.spec_of(event), NAME_KEY, &[], &bare);
        if let (Some(request), Some(wire)) = (request, wire.as_object_mut()) {
            wire.insert(model::REQUEST.into(), request);
        }
        wire
    }

    fn decode_output(&self, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
        output::decode(self.spec_of(event), event, wire)
    }

    fn read_command(&self, event: &Event, ended: &CommandOutput<'_>) -> HandlerResult {
        command::read(self, event, ended)
    }

    /// decisions.md#order-and-rewrites: "one by one, each seeing what the hooks before it rewrote, where a matching group
    /// says `sequential`".
    fn rewrite(&self, event: &mut Event, output: &HookOutput) {
        if merge::apply(event, output) {
            event.raw = self.encode_event(event).into();
        }
    }

    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome {
        merge::merge(event, outputs)
    }

    fn encode_outcome(&self, event: &Event, outcome: &HookOutput) -> Option<Value> {
        encode::encode(event, outcome)
    }

    fn reads_stderr(&self) -> bool {
        true
    }

    /// decisions.md#gemini: "After an internal error that need not block, hookbox exits with code 0 and prints
    /// nothing".
    fn fail_open(&self) -> Fallback {
        Fallback { exit: Some(0), stdout: None, stderr: false }
    }

    /// `BeforeToolSelection` has no interface. Its row is not the row of all other events.
    fn spec(&self, kind: EventKind) -> &'static EventSpec {
        let own = self.specs().iter().find(|spec| spec.kind == kind && kind != EventKind::OtherEvent);
        own.unwrap_or(&events::OTHER)
    }
}
