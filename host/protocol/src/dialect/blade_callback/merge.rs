//! Many outputs, one outcome: decisions.md#blade-callback.

use crate::{
    dialect::{Outcome, common::merge_effects},
    event::{Event, EventKind, Input},
    output::{Decision, HookOutput, Note, join},
};

/// Makes the event what the next hook sees. Whether it changed.
///
/// decisions.md#order-and-rewrites: "chained: hook n+1 sees `modifiedInput` / `modifiedOutput` of hook n".
pub(super) fn apply(event: &mut Event, output: &HookOutput) -> bool {
    let Some(updated) = &output.updated else { return false };
    match (&mut event.input, &mut event.call) {
        (Input::PreToolUse(_), Some(call)) => return call.rewrite(updated.clone()),
        (Input::PostToolUse(result), _) => result.output = Some(updated.clone()),
        _ => return false,
    }
    true
}

pub(super) fn merge(event: &Event, outputs: &[HookOutput]) -> Outcome {
    if event.kind() == EventKind::CanUseTool {
        return merge_permission(outputs);
    }
    let mut outcome = Outcome { output: merge_effects(outputs), ..Outcome::default() };
    // decisions.md#blade-callback: "`continue` < `skip` < `abort` are actions, not votes: the first `skip`/`abort` ends
    // the chain and is the result."
    if let Some(last) = outputs.iter().find(|output| output.halt.is_some() || output.decision.is_some()) {
        outcome.output.halt.clone_from(&last.halt);
        outcome.output.decision.clone_from(&last.decision);
        outcome.output.reason.clone_from(&last.reason);
        outcome.clause = "decisions.md#blade-callback: the first `skip`/`abort` ends the chain and is the result.";
    } else {
        // Each hook saw what the one before it made of the event, so the last one's word is the whole of it.
        outcome.output.updated = outputs.iter().rev().find_map(|output| output.updated.clone());
        outcome.clause = match outcome.output.updated {
            Some(_) => {
                "decisions.md#order-and-rewrites: chained: hook n+1 sees `modifiedInput` / `modifiedOutput` of hook n"
            }
            None => "blade-callback.md#output: `continue` | go on as usual",
        };
    }
    outcome
}

/// The specification has one callback. Several are asked in order and the strictest is believed, as everywhere else.
fn merge_permission(outputs: &[HookOutput]) -> Outcome {
    let mut outcome = Outcome { output: merge_effects(outputs), ..Outcome::default() };
    let decision = [Decision::Deny, Decision::Ask, Decision::Allow]
        .into_iter()
        .find(|r| outputs.iter().any(|a| a.decision.as_ref() == Some(r)));
    let winners = || outputs.iter().filter(|output| output.decision == decision && decision.is_some());
    outcome.output.reason = join(winners().map(|output| &output.reason));
    outcome.output.interrupt = winners().any(|output| output.interrupt);
    for (index, output) in outputs.iter().enumerate().filter(|(_, output)| output.updated.is_some()) {
        if decision == Some(Decision::Allow) {
            outcome.output.updated.clone_from(&output.updated);
        } else {
            outcome.notes.push((Some(index), Note::dropped("updatedInput has no effect: the result is not `allow`")));
        }
    }
    outcome.clause = match decision {
        None => "decisions.md#blade-callback: A callback that says nothing asks",
        Some(_) => {
            "decisions.md#blade-callback: `canUseTool` is separate: `allow(updatedInput?)`, `deny(message, interrupt?)`, `ask`."
        }
    };
    outcome.output.decision = decision;
    outcome
}
