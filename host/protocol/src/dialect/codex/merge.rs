//! Merges the outputs into one outcome: decisions.md#codex.

use crate::{
    dialect::common::{merge_effects, new_result},
    event::{Event, EventKind},
    output::{Decision, HookOutput, Note, join},
    protocol::Outcome,
};

/// The reason of a denial without a reason.
const DENIED: &str = "a hook denied it";

pub(super) fn merge(event: &Event, outputs: &[HookOutput]) -> Outcome {
    let mut outcome = Outcome { output: merge_effects(outputs), ..Outcome::default() };
    outcome.output.suppress_output = false;
    outcome.output.extra.clear();
    let rewrites = |output: &HookOutput| output.updated.as_ref().is_some_and(|updated| !updated.is_null());
    // decisions.md#codex: "A permission request that is allowed with another input is denied: Codex would use the
    // permission for the old input."
    let other_input = |output: &HookOutput| {
        event.kind() == EventKind::PermissionRequest && output.decision == Some(Decision::Allow) && rewrites(output)
    };
    let refuses = |output: &HookOutput| output.decision == Some(Decision::Deny) || other_input(output);
    let denied = outputs.iter().any(refuses);
    let reasons = join(outputs.iter().filter(|o| o.decision == Some(Decision::Deny)).map(|o| &o.reason));
    let mut rewritten = None;
    for (index, output) in outputs.iter().enumerate() {
        let mut note = |note: Note| outcome.notes.push((Some(index), note));
        if other_input(output) {
            note(Note::degraded("PermissionRequest cannot allow another input; it denies"));
        } else if rewrites(output) {
            match (event.kind(), &output.decision) {
                _ if denied => note(Note::dropped("the rewrite has no effect: it is denied")),
                (EventKind::PostToolUse, _) | (EventKind::PreToolUse, Some(Decision::Allow)) => {
                    rewritten.clone_from(&output.updated);
                }
                // decisions.md#codex: "A rewrite is printed with `allow` if its hook allowed and no hook denied."
                _ => note(Note::dropped("updatedInput has no effect: it came without an allow of its own")),
            }
        }
        let dialog = event.kind() == EventKind::PermissionRequest;
        if dialog && (output.interrupt || output.updated_permissions.is_some()) {
            note(Note::dropped("Codex has no place for interrupt and changed permissions"));
        }
        if !output.extra.is_empty() {
            note(Note::dropped("Codex rejects fields it does not know: they are left out"));
        }
    }
    let allowed = !denied && outputs.iter().any(|output| output.decision == Some(Decision::Allow));
    outcome.output.decision = match event.kind() {
        _ if denied => Some(Decision::Deny),
        // decisions.md#codex: "The output of a tool is replaced by a block whose reason is the new output".
        EventKind::PostToolUse if rewritten.is_some() => Some(Decision::Deny),
        // decisions.md#codex: "An `allow` without a rewrite is not printed on `PreToolUse`, which has no such output."
        EventKind::PreToolUse if rewritten.is_none() => None,
        _ => allowed.then_some(Decision::Allow),
    };
    if outcome.output.decision == Some(Decision::Deny) {
        let reason = if denied { reasons } else { rewritten.take().as_ref().map(new_result) };
        // decisions.md#codex: "A denial always has a reason that is not empty".
        outcome.output.reason = reason.filter(|text| !text.trim().is_empty()).or_else(|| Some(DENIED.to_owned()));
    }
    outcome.output.updated = rewritten;
    outcome.clause = clause(&outcome.output);
    outcome
}

fn clause(output: &HookOutput) -> &'static str {
    match &output.decision {
        Some(Decision::Deny) => "decisions.md#codex: Precedence `deny` > `allow` > nothing.",
        Some(_) if output.updated.is_some() => {
            "decisions.md#codex: A rewrite is printed with `allow` if its hook allowed and no hook denied."
        }
        Some(_) => "codex.md#permissionrequest: A deny wins over an allow, whatever the order.",
        None if output.halt.is_some() => {
            "decisions.md#codex: On `SessionStart`, `Stop`, `SubagentStop` and `PreCompact` it is `continue: false`, and on `SessionStart` and `PreCompact` a deny is too."
        }
        None => "decisions.md#outputs: A run without any hook output prints `{}`",
    }
}
