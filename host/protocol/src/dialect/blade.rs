//! Blade's configuration hooks and its `canUseTool` callback. Specification: `docs/spec/blade.md`.

mod answer;
mod encode;
mod events;
mod merge;

use serde_json::{Value, json};

use super::{ConfigShape, Dialect, EventRow, Flow, Merged, common};
use crate::{
    answer::{Answer, Note},
    event::{Event, Kind},
    json::{DecodeError, Object, parse_object},
    matcher::MatchStyle,
};

/// `blade`
pub static DIALECT: Blade = Blade;

/// The dialect.
#[derive(Debug)]
pub struct Blade;

const NAME_KEY: &str = "hook_event_name";

/// blade-config.md: "`hook_execution_id` | string | 本次执行的唯一 ID" (one per execution).
const ORIGIN: &[(&str, &str)] = &[("hook_execution_id", "execution_id")];

impl Dialect for Blade {
    fn name(&self) -> &'static str {
        "blade"
    }

    fn rows(&self) -> &'static [EventRow] {
        events::ROWS
    }

    fn other_row(&self) -> &'static EventRow {
        &events::OTHER
    }

    /// Also finds the callback when its name is written as events are.
    fn row_by_name(&self, name: &str) -> Option<&'static EventRow> {
        let name = if name == "CanUseTool" { events::CALLBACK } else { name };
        self.rows().iter().find(|row| row.name == name)
    }

    /// blade-config.md: "`maxConcurrentHooks` | number | `5`". decisions.md: "concurrently, at most
    /// `maxConcurrentHooks` (5); merged in registration order, never in finishing order".
    fn flow(&self) -> Flow {
        Flow::Concurrent(5)
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Groups
    }

    fn match_style(&self) -> Option<MatchStyle> {
        Some(MatchStyle::Whole)
    }

    fn known_keys(&self) -> &'static [&'static str] {
        answer::KNOWN_KEYS
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        let mut object = parse_object(wire)?;
        let name = common::event_name(&object, NAME_KEY, name)?;
        if self.row_by_name(&name).is_some_and(|row| row.kind == Kind::CanUseTool) {
            common::add_aliases(&mut object, events::CALLBACK_ALIASES);
        }
        common::decode_flat_object(self, NAME_KEY, ORIGIN, object, Some(&name))
    }

    fn encode_event(&self, event: &Event) -> Value {
        common::encode_flat_event(self.row(event.kind()), NAME_KEY, ORIGIN, event)
    }

    fn decode_answer(&self, event: &Event, wire: &Object) -> Result<(Answer, Vec<Note>), DecodeError> {
        answer::decode(event, wire)
    }

    /// decisions.md: "`canUseTool` runs first. … `ask` falls back to the `PermissionRequest` hooks."
    fn stages(&self, kind: Kind) -> &'static [Kind] {
        match kind {
            Kind::CanUseTool | Kind::PermissionRequest => &[Kind::CanUseTool, Kind::PermissionRequest],
            _ => kind.alone(),
        }
    }

    /// decisions.md: "`allow`/`deny` is final". A callback that says nothing asks.
    fn decides(&self, stage: Kind, answers: &[Answer]) -> bool {
        stage == Kind::CanUseTool && merge::decision(answers).is_some_and(|rule| rule.kind() != crate::RuleKind::Ask)
    }

    fn merge(&self, event: &Event, answers: &[Answer]) -> Merged {
        merge::merge(self.row(event.kind()), event, answers)
    }

    fn encode_verdict(&self, event: &Event, merged: &Answer) -> Option<Value> {
        Some(encode::encode(event, merged))
    }

    /// The callback has no exit code.
    fn last_resort(&self, wire: &[u8], reason: &str) -> Option<Value> {
        let name = common::event_name(&parse_object(wire).ok()?, NAME_KEY, None).ok()?;
        let row = self.row_by_name(&name)?;
        (row.kind == Kind::CanUseTool).then(|| json!({ "behavior": "deny", "message": reason }))
    }
}
