//! Merges the outputs into one outcome: decisions.md#blade-config.

use crate::{
    degrade::{degrade, is_withheld},
    dialect::common::{ask_only_where_shown, merge_effects},
    event::{Event, EventKind},
    output::{Decision, Halt, HookOutput, Note, Scope, join},
    protocol::{EventSpec, Outcome},
};

/// decisions.md#blade-config: "`PreToolUse` `deny` > `ask` > `allow`; `PermissionRequest` `deny` > `ask` > `approve`."
const PRECEDENCE: [Decision; 3] = [Decision::Deny, Decision::Ask, Decision::Allow];

/// Returns the strictest decision of these outputs.
pub(super) fn decision(outputs: &[HookOutput]) -> Option<Decision> {
    PRECEDENCE.into_iter().find(|decision| outputs.iter().any(|output| output.decision.as_ref() == Some(decision)))
}

pub(super) fn merge(spec: &EventSpec, event: &Event, outputs: &[HookOutput]) -> Outcome {
    let mut outcome = vote(spec, event, outputs);
    let notes = fit(spec, &mut outcome.output);
    outcome.notes.extend(notes.into_iter().map(|note| (None, note)));
    outcome
}

/// The part of the merge that both profiles share.
pub(super) fn vote(spec: &EventSpec, event: &Event, outputs: &[HookOutput]) -> Outcome {
    let mut outcome = Outcome { output: merge_effects(outputs), ..Outcome::default() };
    outcome.output.decision = decision(outputs);
    let winners =
        || outputs.iter().filter(|output| output.decision.is_some() && output.decision == outcome.output.decision);
    let reason = join(winners().map(|output| &output.reason));
    // decisions.md#blades-canusetool: "`updatedInput` goes with its `allow`, `interrupt` with its `deny`."
    outcome.output.interrupt =
        outcome.output.decision == Some(Decision::Deny) && winners().any(|output| output.interrupt);
    outcome.output.reason = reason;

    ask_only_where_shown(event, &mut outcome);

    for (index, output) in outputs.iter().enumerate() {
        let Some(updated) = &output.updated else { continue };
        // decisions.md#order-and-rewrites: "as claude, but `updatedInput` needs no `allow`; a `deny` or `ask` from any
        // hook keeps its force". The callback's rewrite does need its `allow`.
        let applies = match spec.kind {
            EventKind::CanUseTool => outcome.output.decision == Some(Decision::Allow),
            _ => outcome.output.decision != Some(Decision::Deny),
        };
        if applies && is_withheld(spec, outcome.output.updated.as_ref()) {
            // decisions.md#degradation: "A withheld result stays withheld".
            outcome.notes.push((Some(index), Note::dropped("the rewrite has no effect: the result is withheld")));
        } else if applies {
            // decisions.md#blade-config: "`updatedPrompt`, `updatedOutput`: last in registration order wins".
            outcome.output.updated = Some(updated.clone());
        } else {
            outcome.notes.push((Some(index), Note::dropped("the rewrite has no effect: the call was not let through")));
        }
    }
    outcome.clause = clause(&outcome.output);
    outcome
}

/// Degrades the outcome. The callback and the permission hooks answer the same event, but their fields differ.
fn fit(spec: &EventSpec, output: &mut HookOutput) -> Vec<Note> {
    let mut notes = Vec::new();
    if output.interrupt && spec.kind != EventKind::CanUseTool {
        output.interrupt = false;
        output.halt.get_or_insert(Halt { scope: Scope::Turn, reason: output.reason.clone() });
        notes.push(Note::degraded(format!("{} cannot interrupt; it stops", spec.name)));
    }
    notes.extend(degrade(spec, output));
    notes
}

fn clause(output: &HookOutput) -> &'static str {
    match &output.decision {
        Some(Decision::Deny | Decision::Ask) => {
            "decisions.md#order-and-rewrites: a `deny` or `ask` from any hook keeps its force"
        }
        Some(_) => {
            "decisions.md#blade-config: `PreToolUse` `deny` > `ask` > `allow`; `PermissionRequest` `deny` > `ask` > `approve`."
        }
        None if output.halt.is_some() => {
            "decisions.md#blade-config: The generic `continue:false` is the *top-level* one and stops everything"
        }
        None if output.updated.is_some() => {
            "decisions.md#blade-config: A rewrite needs no decision: the last one in registration order counts."
        }
        None => "decisions.md#outputs: If no hook decides, the client continues as it would without hooks.",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use serde_json::json;

    use crate::{
        dialect::{Dialect, blade::DOCUMENTED},
        event::EventKind,
        output::{Decision, DecisionKind, HookOutput},
    };

    #[test]
    fn allow_and_deny_of_the_callback_are_final_and_ask_is_not() {
        let decided = |decisions: &[Decision]| {
            let outputs: Vec<HookOutput> =
                decisions.iter().map(|decision| HookOutput::decided(decision.clone(), "r")).collect();
            DOCUMENTED.decides(EventKind::CanUseTool, &outputs)
        };
        assert!(decided(&[Decision::Allow]) && decided(&[Decision::Deny]) && decided(&[Decision::Ask, Decision::Deny]));
        assert!(!decided(&[]) && !decided(&[Decision::Ask]) && !decided(&[Decision::Allow, Decision::Ask]));
        let mut ask = HookOutput::decided(Decision::Ask, "r");
        assert!(ask.fall_back().is_some() && ask.is_silent());
    }

    #[test]
    fn the_callbacks_rewrite_needs_its_allow() {
        let wire = br#"{"hook_event_name":"canUseTool","tool_name":"Bash","tool_input":{}}"#;
        let event = DOCUMENTED.decode_event(wire, None).unwrap();
        for (decision, is_kept) in [(Decision::Allow, true), (Decision::Ask, false), (Decision::Deny, false)] {
            let output = HookOutput { updated: Some(json!({ "command": "ls" })), ..HookOutput::decided(decision, "r") };
            assert_eq!(DOCUMENTED.merge(&event, &[output]).output.updated.is_some(), is_kept);
        }
    }

    #[test]
    fn the_callbacks_rewrite_never_becomes_a_plain_approval() {
        let wire = br#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{}}"#;
        let event = DOCUMENTED.decode_event(wire, None).unwrap();
        let allow =
            HookOutput { updated: Some(json!({ "command": "ls" })), ..HookOutput::decided(Decision::Allow, "safe") };
        let outcome = DOCUMENTED.merge(&event, &[allow]).output;
        assert_eq!((outcome.decision, outcome.updated), (None, None));
        let deny = HookOutput { interrupt: true, ..HookOutput::decided(Decision::Deny, "no") };
        let outcome = DOCUMENTED.merge(&event, &[deny]).output;
        assert_eq!(outcome.decision_kind(), Some(DecisionKind::Deny));
        assert_eq!(outcome.halt.and_then(|halt| halt.reason).as_deref(), Some("no"));
    }
}
