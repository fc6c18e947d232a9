//! Merges the outputs into one outcome: decisions.md#codebuddy.

use crate::{
    dialect::common::{ask_only_where_shown, merge_effects},
    event::Event,
    output::{Decision, HookOutput, Note, join},
    protocol::Outcome,
};

pub(super) fn merge(event: &Event, outputs: &[HookOutput]) -> Outcome {
    let mut outcome = Outcome { output: merge_effects(outputs), ..Outcome::default() };
    let denies = || outputs.iter().filter(|output| output.decision == Some(Decision::Deny));
    if denies().next().is_some() {
        // decisions.md#codebuddy: "`decision:"block"` from any hook blocks; reasons joined in order."
        outcome.output.decision = Some(Decision::Deny);
        outcome.output.reason = join(denies().map(|output| &output.reason));
        outcome.output.interrupt = denies().any(|output| output.interrupt);
    } else if let Some(last) = outputs.iter().rev().find(|output| output.decision.is_some()) {
        // decisions.md#codebuddy: "the *last* hook in configuration order wins among `allow` and `ask`, with its own
        // reason". This applies only if no hook blocks.
        outcome.output.decision.clone_from(&last.decision);
        outcome.output.reason.clone_from(&last.reason);
        outcome.output.updated_permissions.clone_from(&last.updated_permissions);
    }
    ask_only_where_shown(event, &mut outcome);
    for (index, output) in outputs.iter().enumerate() {
        let Some(updated) = &output.updated else { continue };
        // decisions.md#order-and-rewrites: "last `updatedInput` in order wins, dropped if anything blocks".
        if outcome.output.decision == Some(Decision::Deny) {
            outcome.notes.push((Some(index), Note::dropped("updatedInput has no effect: a hook blocked")));
        } else {
            outcome.output.updated = Some(updated.clone());
        }
    }
    outcome.clause = clause(&outcome.output);
    outcome
}

fn clause(output: &HookOutput) -> &'static str {
    match &output.decision {
        Some(Decision::Deny) => {
            "decisions.md#codebuddy: `decision:\"block\"` from any hook blocks; reasons joined in order."
        }
        Some(_) => {
            "decisions.md#codebuddy: the *last* hook in configuration order wins among `allow` and `ask`, with its own reason."
        }
        None if output.halt.is_some() => {
            "decisions.md#codebuddy: `continue:false` from any hook gives `continue:false`, with the first `stopReason`"
        }
        None if output.updated.is_some() => {
            "decisions.md#order-and-rewrites: last `updatedInput` in order wins, dropped if anything blocks"
        }
        None => "decisions.md#codebuddy: `continue` defaults to true",
    }
}
