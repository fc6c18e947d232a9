//! The differences of the real programs. Specification: `docs/spec/blade-observed.md`.

mod encode;

use serde_json::Value;

pub(super) use encode::encode;

use super::{
    events::{self, spec, tool_spec},
    merge::vote,
};
use crate::{
    dialect::common::{Alias, taken_away},
    event::{Event, EventKind},
    output::{Decision, DecisionKind, HookOutput, Note, Scope},
    protocol::{EventSpec, Expressible, Outcome},
};

/// blade-observed.md#what-bladeobserved-says: "No event can halt".
const PLAIN: Expressible =
    Expressible { decisions: &[], rewrite: false, context: false, system_message: true, halt: &[], env: false };

const GATE: Expressible = Expressible { decisions: &[DecisionKind::Deny], ..PLAIN };

/// decisions.md#blade-observed: "A halt on `Stop` or `SubagentStop` lets the agent stop". The halt is written as no block.
const STOP: Expressible = Expressible { halt: &[Scope::Turn], ..GATE };

const PERMISSION: Expressible = Expressible { decisions: events::DECISIONS, rewrite: true, ..PLAIN };

pub(super) static SPECS: &[EventSpec] = &[
    // "`SessionStart` has no `source`, so it takes no matcher."
    spec("SessionStart", EventKind::SessionStart, None, Expressible { env: true, ..GATE }),
    EventSpec {
        names: events::PROMPT,
        ..spec(
            "UserPromptSubmit",
            EventKind::UserPromptSubmit,
            None,
            Expressible { rewrite: true, context: true, system_message: false, ..GATE },
        )
    },
    tool_spec("PreToolUse", EventKind::PreToolUse, PERMISSION),
    tool_spec("PermissionRequest", EventKind::PermissionRequest, PERMISSION),
    EventSpec {
        names: events::RESULT,
        ..tool_spec("PostToolUse", EventKind::PostToolUse, Expressible { rewrite: true, context: true, ..PLAIN })
    },
    tool_spec(
        "PostToolUseFailure",
        EventKind::PostToolUseFailure,
        Expressible { context: true, system_message: false, ..PLAIN },
    ),
    spec("Notification", EventKind::Notification, Some("notification_type"), PLAIN),
    spec("SubagentStart", EventKind::SubagentStart, Some("agent_type"), Expressible { context: true, ..PLAIN }),
    spec("SubagentStop", EventKind::SubagentStop, Some("agent_type"), STOP),
    spec("Stop", EventKind::Stop, None, STOP),
    spec("TaskCompleted", EventKind::TaskCompleted, None, GATE),
    spec("Compaction", EventKind::PreCompact, Some("trigger"), GATE),
    spec("SessionEnd", EventKind::SessionEnd, Some("reason"), PLAIN),
    spec(
        events::CALLBACK,
        EventKind::CanUseTool,
        Some("tool_name"),
        Expressible { system_message: false, ..PERMISSION },
    ),
];

/// The row of all other events.
pub(super) static OTHER: EventSpec =
    spec("", EventKind::OtherEvent, None, Expressible { decisions: events::DECISIONS, ..PLAIN });

/// "Hooks find the tool's result as `tool_output`, beside `tool_response`"; "the `reason` of `Stop` as `final_response`".
pub(super) fn aliases(kind: EventKind) -> &'static [Alias] {
    match kind {
        EventKind::PostToolUse => &[
            ("/tool_response/llmContent", "tool_output"),
            ("/tool_response/model", "tool_output"),
            ("/tool_response", "tool_output"),
        ],
        EventKind::Stop => &[("/reason", "final_response")],
        _ => &[],
    }
}

/// Returns the result that the model gets, in programs that wrap it.
fn wrapped_result(event: &Event) -> Option<&Value> {
    event.extra.get("tool_response")?.get("llmContent")
}

/// Removes the wrapping that hooks for these programs add to a rewritten result.
pub(super) fn unwrap_result(event: &Event, updated: Value) -> Value {
    match updated {
        Value::Object(mut fields) if fields.len() == 1 && wrapped_result(event).is_some() => {
            fields.shift_remove("llmContent").unwrap_or(Value::Object(fields))
        }
        other => other,
    }
}

/// decisions.md#blade-observed: "Plain text from a hook on `UserPromptSubmit` and `PostToolUseFailure` is its context".
pub(super) fn decode_text(kind: EventKind, text: &str) -> Option<HookOutput> {
    let takes_text = matches!(kind, EventKind::UserPromptSubmit | EventKind::PostToolUseFailure);
    takes_text.then(|| HookOutput { context: Some(text.trim_end().to_owned()), ..HookOutput::default() })
}

pub(super) fn merge(spec: &EventSpec, event: &Event, outputs: &[HookOutput]) -> Outcome {
    let mut notes = Vec::new();
    let mut sayable = outputs.to_vec();
    // decisions.md#blade-observed: "Each output is checked by itself and then after the merge"
    for (index, output) in sayable.iter_mut().enumerate() {
        notes.extend(deny_unsayable(event, output).map(|note| (Some(index), note)));
    }
    let mut outcome = vote(spec, event, &sayable);
    notes.extend(deny_unsayable(event, &mut outcome.output).map(|note| (None, note)));
    outcome.output.interrupt &= spec.kind == EventKind::CanUseTool;
    outcome.notes.extend(notes);
    outcome
}

/// Replaces an output that the programs would not obey with a denial.
fn deny_unsayable(event: &Event, output: &mut HookOutput) -> Option<Note> {
    let why = unsayable(event, output)?;
    // decisions.md#blade-observed: "A deny in place of an `ask` keeps its reason."
    output.reason = output.reason.take().filter(|_| output.decision == Some(Decision::Ask)).or(Some(why.clone()));
    (output.decision, output.updated) = (Some(Decision::Deny), None);
    Some(Note::degraded(format!("{why}; it denies")))
}

fn unsayable(event: &Event, output: &HookOutput) -> Option<String> {
    let asks = output.decision == Some(Decision::Ask);
    let yolo = event.context.permission_mode.as_deref() == Some("yolo");
    match (event.kind(), &output.updated) {
        _ if output.decision == Some(Decision::Deny) => None,
        // "`ask` where `permission_mode` is `yolo` would be an `allow`".
        (EventKind::PreToolUse | EventKind::PermissionRequest, _) if asks && yolo => {
            Some("a hook wants to ask the user, and mode yolo never asks".into())
        }
        // "`ask` beside a rewrite cannot be said".
        (EventKind::PreToolUse, Some(_)) if asks => {
            Some("a hook wants the user to be asked about a rewritten call, which this agent cannot do".into())
        }
        // "A rewrite that takes keys away cannot be said".
        (EventKind::PreToolUse, Some(updated)) => {
            let key = taken_away(&event.call.as_ref()?.input, updated)?;
            Some(format!("a hook took {key} out of the call, which this agent cannot do"))
        }
        // "`allow` with `updatedInput` would run the original call".
        (EventKind::PermissionRequest | EventKind::CanUseTool, Some(_)) => {
            Some("a hook rewrote the call, which this agent would run as it was".into())
        }
        _ => None,
    }
}
