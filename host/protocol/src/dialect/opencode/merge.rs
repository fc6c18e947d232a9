//! Merges the outputs into one outcome: decisions.md#opencode.

use crate::{
    dialect::common::merge_effects,
    event::Event,
    output::{Decision, HookOutput, Note, join},
    protocol::Outcome,
};

pub(super) fn merge(_event: &Event, outputs: &[HookOutput]) -> Outcome {
    let mut outcome = Outcome { output: merge_effects(outputs), ..Outcome::default() };
    // The plugin has no transcript to hide outputs from.
    outcome.output.suppress_output = false;
    let denials = || outputs.iter().filter(|output| output.decision == Some(Decision::Deny));
    let denied = denials().next().is_some();
    if denied {
        outcome.output.decision = Some(Decision::Deny);
        outcome.output.reason = join(denials().map(|output| &output.reason));
    }
    for (index, output) in outputs.iter().enumerate() {
        match &output.updated {
            // "`updatedInput` needs no `allow`; the last one in order counts, and none does when a hook denies."
            Some(_) if denied => {
                let note = Note::dropped("its rewrite has no effect: a hook denied");
                outcome.notes.push((Some(index), note));
            }
            Some(updated) => outcome.output.updated = Some(updated.clone()),
            None => {}
        }
    }
    outcome.clause = match (denied, &outcome.output.updated) {
        (true, _) => {
            "decisions.md#opencode: A denial wins over everything, and the reasons of all denials are joined in array order."
        }
        (_, Some(_)) => "opencode.md#answers: the last one in order counts, and none does when a hook denies.",
        _ => "decisions.md#outputs: If no hook decides, the client continues as it would without hooks.",
    };
    outcome
}
