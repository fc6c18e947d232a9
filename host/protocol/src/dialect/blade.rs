//! Blade's configuration hooks and its `canUseTool` callback. Specification: `docs/spec/blade.md`.
//!
//! There are two profiles. [`DOCUMENTED`] follows the specification. [`OBSERVED`] follows the real programs
//! (`docs/spec/blade-observed.md`).

mod encode;
mod events;
mod merge;
mod observed;
mod output;

use serde_json::{Value, json};

use super::common;
use crate::protocol::{ConfigShape, Dialect, EventSpec, Flow, Marks, Outcome, Usage};
use crate::{
    command::{CommandOutput, HandlerResult, by_exit_code},
    event::{Event, EventKind, wire::parse_wire},
    failure::Fallback,
    glimpse::Places,
    json::{DecodeError, Object},
    matcher::MatchStyle,
    output::{DecisionKind, HookOutput, Note},
};

/// `blade`
pub static DOCUMENTED: Blade = Blade { observed: false };
/// `blade@observed`
pub static OBSERVED: Blade = Blade { observed: true };

/// The dialect, in one of its two profiles.
#[derive(Debug)]
pub struct Blade {
    observed: bool,
}

const NAME_KEY: &str = "hook_event_name";

/// blade.md#input-of-every-event: "`hook_execution_id` | string | unique id of this run".
const ORIGIN: &[(&str, &str)] = &[("hook_execution_id", "execution_id")];

impl Blade {
    fn aliases(&self, kind: EventKind) -> &'static [common::Alias] {
        match kind {
            EventKind::CanUseTool => events::CALLBACK_ALIASES,
            _ if self.observed => observed::aliases(kind),
            _ => &[],
        }
    }
}

impl Dialect for Blade {
    fn name(&self) -> &'static str {
        if self.observed { "blade@observed" } else { "blade" }
    }

    fn specs(&self) -> &'static [EventSpec] {
        if self.observed { observed::SPECS } else { events::SPECS }
    }

    fn other_spec(&self) -> &'static EventSpec {
        if self.observed { &observed::OTHER } else { &events::OTHER }
    }

    /// The row of an event. It accepts the callback's name in the spelling of events too.
    fn spec_by_name(&self, name: &str) -> Option<&'static EventSpec> {
        let name = if name == "CanUseTool" { events::CALLBACK } else { name };
        self.specs().iter().find(|spec| spec.name == name)
    }

    /// blade.md#configuration: "`maxConcurrentHooks` | number | `5` | how many hooks run at once at most".
    /// decisions.md#order-and-rewrites: "concurrently, at most `maxConcurrentHooks` (5); merged in registration order,
    /// never in finishing order".
    fn flow(&self) -> Flow {
        Flow::Concurrent(5)
    }

    fn shape(&self) -> ConfigShape {
        ConfigShape::Groups
    }

    fn match_style(&self) -> Option<MatchStyle> {
        Some(MatchStyle::Whole)
    }

    fn marks(&self) -> Marks {
        events::MARKS
    }

    /// blade.md#handlers: "`command` | `command`, `timeout`, `statusMessage`".
    fn usage(&self) -> Usage {
        Usage { own_keys: &["statusMessage"], project_variable: Some("BLADE_PROJECT_DIR"), ..Usage::default() }
    }

    fn known_keys(&self) -> &'static [&'static str] {
        common::known_keys::BLADE
    }

    fn decode_event(&self, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
        let mut wire = parse_wire(wire)?;
        let name = common::event_name(&wire.members, NAME_KEY, name)?;
        if let Some(spec) = self.spec_by_name(&name) {
            common::take_aliases(&mut wire, self.aliases(spec.kind));
        }
        common::decode_flat_wire(self, NAME_KEY, ORIGIN, wire, Some(&name))
    }

    /// The callback's tool name can also be under the name of the callback's argument.
    fn places(&self) -> &'static Places {
        &Places { name: &[&[NAME_KEY]], tool: &[&["tool_name"], &["toolName"]] }
    }

    fn encode_event(&self, event: &Event) -> Value {
        let mut wire = common::encode_flat_object(self.spec(event.kind()), NAME_KEY, ORIGIN, event);
        common::drop_added(&mut wire, self.aliases(event.kind()), &event.raw);
        wire.into()
    }

    fn decode_output(&self, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
        output::decode(self.observed, event, wire)
    }

    fn decode_text(&self, event: &Event, text: &str) -> Option<HookOutput> {
        if self.observed { observed::decode_text(event.kind(), text) } else { None }
    }

    /// decisions.md#exit-codes: "Under `blade@observed` an object on stdout counts beside every exit code but 2".
    /// decisions.md#blade-config: "On an event that cannot be blocked and has no field for context, only exit code 2
    /// sends stderr to Claude".
    fn read_command(&self, event: &Event, ended: &CommandOutput<'_>) -> HandlerResult {
        let object = ended.stdout.trim_ascii_start().starts_with(b"{");
        let beside = ended.code.is_some_and(|code| !matches!(code, 0 | 2));
        if self.observed && object && beside {
            return self.read_stdout(event, ended.stdout);
        }
        let (mut output, notes) = by_exit_code(ended, |stdout| self.read_stdout(event, stdout))?;
        let spec = self.spec_of(event);
        if !self.observed && ended.code == Some(2) && !spec.blockable && !spec.expressible.context {
            output.feedback.clone_from(&output.reason);
        }
        Ok((output, notes))
    }

    /// decisions.md#blades-canusetool: "`canUseTool` runs first." decisions.md#blade-observed: "In the real programs
    /// `canUseTool` runs after the `PermissionRequest` hooks".
    fn stages(&self, kind: EventKind) -> &'static [EventKind] {
        match kind {
            EventKind::CanUseTool | EventKind::PermissionRequest if self.observed => {
                &[EventKind::PermissionRequest, EventKind::CanUseTool]
            }
            EventKind::CanUseTool | EventKind::PermissionRequest => {
                &[EventKind::CanUseTool, EventKind::PermissionRequest]
            }
            _ => kind.alone(),
        }
    }

    /// decisions.md#blades-canusetool: "`allow`/`deny` is final"; "An empty answer is an `ask`."
    /// decisions.md#blade-observed: "a denial of the hooks is final".
    fn decides(&self, stage: EventKind, outputs: &[HookOutput]) -> bool {
        let decision = merge::decision(outputs).map(|decision| decision.kind());
        match stage {
            EventKind::PermissionRequest => self.observed && decision == Some(DecisionKind::Deny),
            EventKind::CanUseTool => !self.observed && decision.is_some_and(|kind| kind != DecisionKind::Ask),
            _ => false,
        }
    }

    /// decisions.md#blades-canusetool: "`ask` falls back to the `PermissionRequest` hooks."
    /// decisions.md#blade-observed: "their other output is merged with its output".
    fn falls_back(&self) -> bool {
        !self.observed
    }

    fn merge(&self, event: &Event, outputs: &[HookOutput]) -> Outcome {
        let merge = if self.observed { observed::merge } else { merge::merge };
        merge(self.spec(event.kind()), event, outputs)
    }

    fn encode_outcome(&self, event: &Event, outcome: &HookOutput) -> Option<Value> {
        if self.observed { observed::encode(event, outcome) } else { Some(encode::encode(event, outcome)) }
    }

    /// blade-observed.md#what-the-programs-make-of-a-commands-output: "Both SDKs block on every code from 3 on".
    fn fail_open(&self) -> Fallback {
        Fallback { exit: self.observed.then_some(1), stdout: None, stderr: true }
    }

    /// The callback has no exit code.
    fn fail_closed(&self, wire: &[u8], name: Option<&str>, reason: &str) -> Fallback {
        let callback = self.glimpse_spec(wire, name).is_some_and(|spec| spec.kind == EventKind::CanUseTool);
        Fallback::block(callback.then(|| json!({ "behavior": "deny", "message": reason })))
    }
}
