//! Merges the outputs into one outcome: decisions.md#blade-callback.

use crate::{
    dialect::common::{merge_effects, taken_away},
    event::{Event, EventKind, Input},
    output::{Decision, HookOutput, Note, join},
    protocol::Outcome,
};

/// Applies a rewrite to the event for the next hook. Returns true if the event changed.
///
/// decisions.md#order-and-rewrites: "chained: hook n+1 sees `modifiedInput` / `modifiedOutput` of hook n".
pub(super) fn apply(event: &mut Event, output: &HookOutput) -> bool {
    let Some(updated) = &output.updated else { return false };
    match (&mut event.input, &mut event.call) {
        (Input::PreToolUse(_), Some(call)) => return call.rewrite(updated.clone()),
        (Input::PostToolUse(result), _) => result.output = Some(updated.clone().into()),
        // These fields are untyped. The real SDK has the prompt under another name.
        (Input::PostToolUseFailure(_), _) => {
            event.extra.insert("toolOutput", updated.clone());
        }
        (Input::UserPromptSubmit(prompt), _) => {
            prompt.prompt = updated.as_str().map(str::to_owned);
            if event.extra.contains_key("userPrompt") {
                event.extra.insert("userPrompt", updated.clone());
            }
        }
        _ => return false,
    }
    true
}

/// Replaces a rewrite that the real SDK would not apply with a block.
pub(super) fn refuse_unsayable(event: &Event, outcome: &mut Outcome) {
    let output = &mut outcome.output;
    let Some(updated) = &output.updated else { return };
    let (decision, why) = match event.kind() {
        // blade-observed.md#what-blade-callbackobserved-says: "A rewrite that takes keys away cannot be said: it is a refusal."
        EventKind::PreToolUse => {
            let Some(key) = event.call.as_ref().and_then(|call| taken_away(&call.input, updated)) else { return };
            (Decision::Skip, format!("a hook took {key} out of the call, which this agent cannot do"))
        }
        // "From `canUseTool`, `allow` with `updatedInput` would run the original call: it is a denial."
        EventKind::CanUseTool => {
            (Decision::Deny, "a hook rewrote the call, which this agent would run as it was".to_owned())
        }
        _ => return,
    };
    outcome.notes.push((None, Note::degraded(format!("{why}; it says {}", decision.kind().word()))));
    (output.decision, output.reason, output.updated) = (Some(decision), Some(why), None);
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
        // Each hook saw the rewrites of the hooks before it, so the last rewrite contains all of them.
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

/// Merges the answers of several permission callbacks: the strictest decision wins. The specification has only one callback.
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
        None => "decisions.md#blade-callback: An empty answer is an `ask`",
        Some(_) => {
            "decisions.md#blade-callback: `canUseTool` is separate: `allow(updatedInput?)`, `deny(message, interrupt?)`, `ask`."
        }
    };
    outcome.output.decision = decision;
    outcome
}
