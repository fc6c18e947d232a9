//! Merges the outputs into one outcome: decisions.md#copilot.

use serde_json::Value;

use crate::{
    dialect::common::merge_effects,
    event::{Event, EventKind, Input},
    output::{Decision, DecisionKind, HookOutput, Note, join},
    protocol::Outcome,
};

/// Applies a rewrite to the event for the next hook. Returns true if the event changed.
pub(super) fn apply(event: &mut Event, output: &HookOutput) -> bool {
    let Some(updated) = &output.updated else { return false };
    let text = || updated.as_str().map_or_else(|| updated.to_string(), str::to_owned);
    match (&mut event.input, &mut event.call) {
        (Input::PreToolUse(_), Some(call)) => return call.rewrite(updated.clone()),
        (Input::PostToolUse(result), _) => result.output = Some(as_output(updated, result.output.as_deref()).into()),
        (Input::UserPromptSubmit(submitted), _) => submitted.prompt = Some(text()),
        (Input::SubagentStop(stopped), _) => stopped.final_response = Some(text()),
        (Input::OtherEvent(other), _) => {
            other.payload.insert("transformedPrompt", Value::from(text()));
        }
        _ => return false,
    }
    true
}

/// Converts a new result to the form of the old one. copilot.md#payloads: "A result is `{resultType,
/// textResultForLlm}`, or `{result_type, text_result_for_llm}`."
fn as_output(updated: &Value, before: Option<&Value>) -> Value {
    let full = super::output::result(updated);
    match before {
        Some(Value::Object(before)) if before.contains_key("text_result_for_llm") => {
            super::output::renamed(&full, |camel, pascal| (camel, pascal))
        }
        _ => full,
    }
}

/// The value that a rewrite becomes. A result always has its full form, so that it does not depend on later hooks.
fn written(event: &Event, updated: &Value) -> Value {
    match &event.input {
        Input::PostToolUse(result) => as_output(updated, result.output.as_deref()),
        _ => updated.clone(),
    }
}

pub(super) fn merge(event: &Event, outputs: &[HookOutput]) -> Outcome {
    let mut outcome = Outcome { output: merge_effects(outputs), ..Outcome::default() };
    let allows_hold_from = outputs.iter().rposition(|output| output.updated.is_some()).unwrap_or(0);
    let counts = |index: usize, output: &HookOutput| match output.decision_kind() {
        // "An `allow` is for the arguments that its hook saw: a later rewrite without its own `allow` removes it."
        Some(DecisionKind::Allow) => event.kind() != EventKind::PreToolUse || index >= allows_hold_from,
        decision => decision.is_some(),
    };
    let counting = || outputs.iter().enumerate().filter(|(index, output)| counts(*index, output)).map(|(_, o)| o);
    outcome.output.decision = [Decision::Deny, Decision::Ask, Decision::Allow]
        .into_iter()
        .find(|decision| counting().any(|output| output.decision.as_ref() == Some(decision)));
    let winners = || counting().filter(|output| output.decision == outcome.output.decision);
    outcome.output.reason = join(winners().map(|output| &output.reason));
    outcome.output.interrupt = winners().any(|output| output.interrupt);

    let denied = outcome.output.decision == Some(Decision::Deny);
    for (index, output) in outputs.iter().enumerate() {
        if output.decision == Some(Decision::Allow) && !counts(index, output) && outcome.output.decision.is_none() {
            let note = Note::degraded("its allow was for other arguments: a later hook rewrote them without an allow");
            outcome.notes.push((Some(index), note));
        }
        match &output.updated {
            Some(_) if denied => {
                outcome.notes.push((Some(index), Note::dropped("its rewrite has no effect: a hook denied")));
            }
            Some(updated) => outcome.output.updated = Some(written(event, updated)),
            None => {}
        }
    }
    outcome.clause = clause(event.kind(), &outcome.output);
    outcome
}

fn clause(kind: EventKind, output: &HookOutput) -> &'static str {
    match (kind, output.decision_kind()) {
        (EventKind::PreToolUse, Some(DecisionKind::Allow)) => {
            "decisions.md#copilot: An `allow` is for the arguments that its hook saw"
        }
        (EventKind::PreToolUse, Some(_)) => {
            "decisions.md#copilot: Before a tool runs the first `deny` or `ask` ends the chain and is the verdict."
        }
        (EventKind::PermissionRequest, Some(DecisionKind::Deny)) => {
            "decisions.md#copilot: On `permissionRequest` a `deny` from any hook denies"
        }
        (EventKind::PermissionRequest, Some(DecisionKind::Ask)) => {
            "decisions.md#copilot: An ask prints nothing there: the client asks."
        }
        (EventKind::PermissionRequest, Some(_)) => {
            "copilot.md#answers: `permissionRequest` | `behavior`: `allow` or `deny`; `message`, `interrupt`"
        }
        (_, Some(_)) => "decisions.md#copilot: Everywhere else a `block` from any hook blocks, and reasons are joined",
        (_, None) if output.updated.is_some() => {
            "decisions.md#copilot: Hooks are chained: each hook sees the rewrites of the hooks before it"
        }
        (_, None) => "decisions.md#outputs: If no hook decides, the client continues as it would without hooks.",
    }
}
