//! Claude Code and the Claude Agent SDK. Specification: `docs/spec/claude.md`.
//!
//! There are two profiles. [`DOCUMENTED`] follows the specification. [`OBSERVED`] follows the real client where it is
//! known to differ.

mod encode;
mod events;
mod merge;
mod output;

use core::time::Duration;

use serde_json::Value;

use super::common;
use crate::protocol::{ConfigShape, Dialect, EventSpec, Flow, Marks, Outcome, Usage};
use crate::{
    event::{Event, EventKind},
    json::{DecodeError, Object},
    matcher::MatchStyle,
    output::{HookOutput, Note},
};

/// `claude`
pub static DOCUMENTED: Claude = Claude { observed: false };
/// `claude@observed`
pub static OBSERVED: Claude = Claude { observed: true };

/// The dialect, in one of its two profiles.
#[derive(Debug)]
pub struct Claude {
    observed: bool,
}

const NAME_KEY: &str = "hook_event_name";

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        if self.observed { "claude@observed" } else { "claude" }
    }

    fn specs(&self) -> &'static [EventSpec] {
        if self.observed { events::OBSERVED } else { events::DOCUMENTED }
    }

    fn other_spec(&self) -> &'static EventSpec {
        &events::OTHER
    }

    /// claude.md#order-and-merge: "Hooks run in the order in which they stand in the array."
    fn flow(&self) -> Flow {
        Flow::Sequential
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Groups
    }

    fn match_style(&self) -> Option<MatchStyle> {
        Some(MatchStyle::NamesOrSearch)
    }

    fn marks(&self) -> Marks {
        events::MARKS
    }

    fn usage(&self) -> Usage {
        events::USAGE
    }

    /// claude.md#timeouts-and-failure: "the default is 60". decisions.md#the-real-claude-code: "`SessionEnd` hooks are killed
    /// after about 1.5 s."
    fn client_timeout(&self, spec: &EventSpec) -> Duration {
        let short = self.observed && spec.kind == EventKind::SessionEnd;
        if short { Duration::from_millis(1500) } else { Duration::from_mins(1) }
    }

    fn known_keys(&self) -> &'static [&'static str] {
        common::known_keys::CLAUDE
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        common::decode_flat_event(self, NAME_KEY, &[], wire, name)
    }

    fn encode_event(&self, event: &Event) -> Value {
        common::encode_flat_event(self.spec(event.kind()), NAME_KEY, &[], event)
    }

    fn decode_output(&self, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
        output::decode(self.observed, event, wire)
    }

    /// decisions.md#claude: "`systemMessage` becomes part of the conversation, and the model reads it".
    fn message_is_context(&self) -> bool {
        true
    }

    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome {
        merge::merge(self.observed, event, outputs)
    }

    fn encode_outcome(&self, event: &Event, outcome: &HookOutput) -> Option<Value> {
        Some(encode::encode(event, outcome))
    }
}
