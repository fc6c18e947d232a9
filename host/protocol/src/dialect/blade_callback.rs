//! The hook callbacks of the Blade Agent SDK, and its `canUseTool`. Specification: `docs/spec/blade-callback.md`.
//!
//! The SDK calls functions. On a wire, their `HookInput` is one JSON object with the event's name under `event`.
//! `canUseTool(toolName, input, options)` is such an object with `"event": "canUseTool"`.
//!
//! There are two profiles. [`DOCUMENTED`] follows the specification. [`OBSERVED`] follows the real SDK
//! (`docs/spec/blade-observed.md`).

mod events;
mod merge;
mod output;
mod wire;

use serde_json::{Value, json};

use super::common;
use crate::protocol::{ConfigShape, Dialect, EventSpec, Flow, Marks, Outcome};
use crate::{
    event::{Event, EventKind},
    failure::Fallback,
    glimpse::Places,
    json::{DecodeError, Object},
    matcher::MatchStyle,
    output::{Decision, HookOutput, Note},
};

/// `blade-callback`
pub static DOCUMENTED: BladeCallback = BladeCallback { observed: false };
/// `blade-callback@observed`
pub static OBSERVED: BladeCallback = BladeCallback { observed: true };

/// The dialect, in one of its two profiles.
#[derive(Debug)]
pub struct BladeCallback {
    observed: bool,
}

impl Dialect for BladeCallback {
    fn name(&self) -> &'static str {
        if self.observed { "blade-callback@observed" } else { "blade-callback" }
    }

    fn specs(&self) -> &'static [EventSpec] {
        if self.observed { events::OBSERVED } else { events::DOCUMENTED }
    }

    fn other_spec(&self) -> &'static EventSpec {
        if self.observed { &events::OTHER_OBSERVED } else { &events::OTHER }
    }

    /// blade-callback.md#order-and-chain: "They run one after another, in the order of the array."; "When hookA returns
    /// `modifiedInput`, hookB gets the modified input."
    fn flow(&self) -> Flow {
        Flow::Chained
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Flat
    }

    /// The specification has no matchers, because a callback checks `toolName` itself. hookbox accepts them in the
    /// syntax of the other Blade dialect, so that one component can serve several configurations.
    fn match_style(&self) -> Option<MatchStyle> {
        Some(MatchStyle::Whole)
    }

    fn marks(&self) -> Marks {
        events::MARKS
    }

    fn known_keys(&self) -> &'static [&'static str] {
        common::known_keys::BLADE_CALLBACK
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        wire::decode(self, wire, name)
    }

    fn places(&self) -> &'static Places {
        &Places { name: &[&["event"]], tool: &[&["toolName"]] }
    }

    fn encode_event(&self, event: &Event) -> Value {
        wire::encode(self.spec(event.kind()), event).into()
    }

    fn decode_output(&self, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
        output::decode(event, wire)
    }

    /// blade-callback.md#order-and-chain: "When any of them returns `skip` or `abort`, later hooks do not run." A
    /// denial of `canUseTool` is final too.
    fn stops(&self, _event: &Event, output: &HookOutput) -> bool {
        output.halt.is_some() || matches!(output.decision, Some(Decision::Skip | Decision::Deny))
    }

    fn rewrite(&self, event: &mut Event, output: &HookOutput) {
        if merge::apply(event, output) {
            event.raw = Value::Object(wire::seen(self.spec(event.kind()), event)).into();
        }
    }

    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome {
        let mut outcome = merge::merge(event, outputs);
        if self.observed {
            merge::refuse_unsayable(event, &mut outcome);
        }
        outcome
    }

    fn encode_outcome(&self, event: &Event, outcome: &HookOutput) -> Option<Value> {
        Some(output::encode(event, outcome))
    }

    /// decisions.md#blade-callback: "An internal error that blocks is `skip` on `PreToolUse` and `PermissionRequest`,
    /// `deny` on `canUseTool`, and `abort` on every other event".
    fn fail_closed(&self, wire: &[u8], name: Option<&str>, reason: &str) -> Fallback {
        Fallback::block(Some(match self.glimpse_spec(wire, name).map(|spec| spec.kind) {
            Some(EventKind::CanUseTool) => json!({ "behavior": "deny", "message": reason }),
            Some(EventKind::PreToolUse | EventKind::PermissionRequest) => json!({ "action": "skip", "reason": reason }),
            _ => json!({ "action": "abort", "reason": reason }),
        }))
    }

    fn spec_by_name(&self, name: &str) -> Option<&'static EventSpec> {
        let name = if name == "CanUseTool" { events::CAN_USE_TOOL } else { name };
        self.specs().iter().find(|spec| spec.name == name)
    }
}
