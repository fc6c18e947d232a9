//! Degradation: the nearest safer thing replaces a part of an output that a dialect cannot express.

use crate::{
    event::EventKind,
    output::{Decision, DecisionKind, Halt, HookOutput, Note, Scope, join, respond_text},
    protocol::EventSpec,
};

/// The replacements for each decision. The first one that the dialect can express is used. Otherwise there is no
/// decision: the event cannot be blocked, or the decision was an `allow`, which is less safe than no decision.
pub const fn ladder(decision: DecisionKind) -> &'static [DecisionKind] {
    match decision {
        DecisionKind::Allow => &[DecisionKind::Allow],
        DecisionKind::Defer => &[DecisionKind::Defer, DecisionKind::Ask, DecisionKind::Deny, DecisionKind::Skip],
        DecisionKind::Ask => &[DecisionKind::Ask, DecisionKind::Deny, DecisionKind::Skip],
        DecisionKind::Skip => &[DecisionKind::Skip, DecisionKind::Deny],
        DecisionKind::Respond => &[DecisionKind::Respond, DecisionKind::Deny, DecisionKind::Skip],
        DecisionKind::Deny => &[DecisionKind::Deny, DecisionKind::Skip],
    }
}

/// Returns the replacement for a decision under this row: a decision, the end of the turn or session, or nothing.
pub fn becomes(spec: &EventSpec, decision: DecisionKind) -> Degraded {
    if let Some(kind) = ladder(decision).iter().find(|kind| spec.expressible.decisions.contains(kind)) {
        return Degraded::Decision(*kind);
    }
    match spec.expressible.halt.first() {
        Some(scope) if spec.blockable && decision != DecisionKind::Allow => Degraded::Halt(*scope),
        _ => Degraded::Nothing,
    }
}

/// Result of [`becomes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Degraded {
    /// A decision.
    Decision(DecisionKind),
    /// A halt.
    Halt(Scope),
    /// No decision. The reason is kept if the event has a field for text.
    Nothing,
}

/// Replaces the parts of an output that this row cannot express. There is a note on each replacement.
pub fn degrade(spec: &EventSpec, output: &mut HookOutput) -> Vec<Note> {
    let mut notes = Vec::new();
    degrade_decision(spec, output, &mut notes);
    degrade_halt(spec, output, &mut notes);
    if output.updated == Some(serde_json::Value::Null) {
        withhold(spec, output, &mut notes);
    }
    if output.updated.is_some() && !spec.expressible.rewrite {
        lose_rewrite(spec, output, &mut notes);
    }
    if let (Some(context), false) = (&output.context, spec.expressible.context) {
        if spec.expressible.system_message {
            output.system_message = join([&output.system_message, &Some(context.clone())]);
            notes.push(Note::degraded(format!("{} has no place for context; shown to the user instead", spec.name)));
        } else {
            notes.push(Note::dropped(format!("{} has no place for context", spec.name)));
        }
        output.context = None;
    }
    if output.system_message.is_some() && !spec.expressible.system_message {
        output.system_message = None;
        notes.push(Note::dropped(format!("{} has no place for a system message", spec.name)));
    }
    if !output.env.is_empty() && !spec.expressible.env {
        output.env.clear();
        notes.push(Note::dropped(format!("{} has no place for environment variables", spec.name)));
    }
    notes
}

fn degrade_decision(spec: &EventSpec, output: &mut HookOutput, notes: &mut Vec<Note>) {
    let Some(decision) = output.decision.take() else { return };
    let from = decision.kind();
    if spec.expressible.decisions.contains(&from) {
        output.decision = Some(decision);
        return;
    }
    // decisions.md#degradation: "A `respond` on an event without `respond` is a block, with its text as the reason."
    if let Decision::Respond(result) = &decision {
        output.reason = Some(respond_text(result));
    }
    match becomes(spec, from) {
        Degraded::Decision(to) => {
            output.decision = match to {
                DecisionKind::Ask => Some(Decision::Ask),
                DecisionKind::Skip => Some(Decision::Skip),
                _ => Some(Decision::Deny),
            };
            notes.push(Note::degraded(format!("{} cannot say {}; it says {}", spec.name, from.word(), to.word())));
        }
        Degraded::Halt(scope) => {
            output.halt.get_or_insert(Halt { scope, reason: output.reason.clone() });
            notes.push(Note::degraded(format!("{} cannot say {}; it stops", spec.name, from.word())));
        }
        Degraded::Nothing => {
            // Keeps the reason of the block, because the event itself cannot be blocked.
            if from != DecisionKind::Allow {
                output.context = join([&output.context, &output.reason]);
            }
            output.reason = None;
            notes.push(Note::dropped(format!("{} cannot say {}", spec.name, from.word())));
        }
    }
}

/// The text that replaces a result that was rewritten to null.
pub(crate) const WITHHELD: &str = "the result is withheld";

/// Returns true if this rewrite withholds the result of a tool.
pub(crate) fn is_withheld(spec: &EventSpec, updated: Option<&serde_json::Value>) -> bool {
    spec.kind == EventKind::PostToolUse && updated.and_then(serde_json::Value::as_str) == Some(WITHHELD)
}

/// Replaces a rewrite to null, which is never written.
///
/// decisions.md#degradation: "A result that is rewritten to `null` is withheld, with a note".
fn withhold(spec: &EventSpec, output: &mut HookOutput, notes: &mut Vec<Note>) {
    if spec.kind == EventKind::PostToolUse && spec.expressible.rewrite {
        output.updated = Some(WITHHELD.into());
        notes.push(Note::degraded(format!("a rewrite cannot be null; {WITHHELD}")));
    } else {
        output.updated = None;
        block_instead(spec, output, notes, "a rewrite cannot be null", "the event");
    }
}

/// Removes a rewrite that the wire has no field for. If the hook's purpose was to hide the original, the event is blocked.
fn lose_rewrite(spec: &EventSpec, output: &mut HookOutput, notes: &mut Vec<Note>) {
    output.updated = None;
    let lost = format!("{} has no place for a rewrite", spec.name);
    match (spec.kind, &output.decision) {
        // decisions.md#degradation: "A rewrite of a prompt or of a tool's result that the dialect cannot express is a
        // block". Such a rewrite is usually a redaction, and the model must not read the original.
        (EventKind::UserPromptSubmit, _) => block_instead(spec, output, notes, &lost, "the prompt"),
        (EventKind::PostToolUse | EventKind::PostToolUseFailure, _) => {
            block_instead(spec, output, notes, &lost, "the result");
        }
        (_, Some(Decision::Allow)) => {
            lose_allow(spec, output);
            notes.push(Note::degraded(format!("{lost}, so it does not say allow either")));
        }
        _ => notes.push(Note::dropped(lost)),
    }
}

/// Removes the `allow` of a rewrite that is lost, because it permitted the rewritten call only.
pub(crate) fn lose_allow(spec: &EventSpec, output: &mut HookOutput) {
    if output.decision != Some(Decision::Allow) {
        return;
    }
    (output.decision, output.reason, output.updated_permissions) = (None, None, None);
    let can_say = |kind| spec.expressible.decisions.contains(&kind);
    // If a permission request gets no answer and the user cannot be asked, the client approves it.
    if spec.kind == EventKind::PermissionRequest && can_say(DecisionKind::Deny) && !can_say(DecisionKind::Ask) {
        output.decision = Some(Decision::Deny);
        output.reason = Some("a hook approved a rewritten call, which this agent does not support".to_owned());
    }
}

/// Blocks, with the word that the row has for it.
fn block_instead(spec: &EventSpec, output: &mut HookOutput, notes: &mut Vec<Note>, lost: &str, what: &str) {
    let why = || format!("a hook replaced {what}, which this agent cannot do");
    match becomes(spec, DecisionKind::Deny) {
        Degraded::Decision(kind) => {
            output.decision = Some(if kind == DecisionKind::Skip { Decision::Skip } else { Decision::Deny });
            output.reason.get_or_insert_with(why);
            notes.push(Note::degraded(format!("{lost}; it says {}", kind.word())));
        }
        Degraded::Halt(scope) => {
            output.halt.get_or_insert_with(|| Halt { scope, reason: Some(why()) });
            notes.push(Note::degraded(format!("{lost}; it stops")));
        }
        Degraded::Nothing => notes.push(Note::dropped(lost)),
    }
}

fn degrade_halt(spec: &EventSpec, output: &mut HookOutput, notes: &mut Vec<Note>) {
    let Some(halt) = output.halt.take() else { return };
    if spec.expressible.halt.contains(&halt.scope) {
        output.halt = Some(halt);
    } else if let Some(scope) = spec.expressible.halt.first() {
        notes.push(Note::degraded(format!("{} halts as far as it can: the {scope:?}", spec.name)));
        output.halt = Some(Halt { scope: *scope, ..halt });
    } else if spec.expressible.decisions.contains(&DecisionKind::Deny) {
        output.reason = halt.reason.or(output.reason.take());
        output.decision = Some(Decision::Deny);
        // A denied permission that also ends the turn is the nearest thing to a halt.
        output.interrupt = true;
        notes.push(Note::degraded(format!("{} cannot halt; it denies", spec.name)));
    } else {
        notes.push(Note::dropped(format!("{} cannot halt", spec.name)));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::{blade, blade_callback, claude, codebuddy};
    use crate::protocol::{Dialect, Expressible};

    fn rewritten(dialect: &dyn Dialect, kind: EventKind, decision: Option<Decision>) -> (Option<DecisionKind>, bool) {
        let mut output = HookOutput { decision, updated: Some(json!("safe")), ..HookOutput::default() };
        let notes = degrade(dialect.spec(kind), &mut output);
        assert!(output.updated.is_none() && !notes.is_empty());
        (output.decision_kind(), output.reason.is_some())
    }

    #[test]
    fn a_lost_redaction_blocks() {
        assert_eq!(rewritten(&codebuddy::DOCUMENTED, EventKind::PostToolUse, None), (Some(DecisionKind::Deny), true));
        assert_eq!(rewritten(&blade::DOCUMENTED, EventKind::PermissionRequest, Some(Decision::Allow)), (None, false));
        assert_eq!(rewritten(&blade::DOCUMENTED, EventKind::SessionEnd, None), (None, false));
    }

    #[test]
    fn a_lost_prompt_rewrite_blocks_the_prompt() {
        let lost = |dialect: &dyn Dialect| rewritten(dialect, EventKind::UserPromptSubmit, None);
        assert_eq!(lost(&claude::DOCUMENTED), (Some(DecisionKind::Deny), true));
        assert_eq!(lost(&claude::OBSERVED), (Some(DecisionKind::Deny), true));
        assert_eq!(lost(&codebuddy::DOCUMENTED), (Some(DecisionKind::Deny), true));
        assert_eq!(lost(&codebuddy::OBSERVED), (Some(DecisionKind::Deny), true));
        assert_eq!(lost(&blade_callback::DOCUMENTED), (Some(DecisionKind::Skip), true));
        // blade has a field for it.
        assert!(blade::DOCUMENTED.spec(EventKind::UserPromptSubmit).expressible.rewrite);
    }

    #[test]
    fn a_lost_rewrite_stops_the_turn_if_no_block_exists() {
        let expressible = Expressible {
            decisions: &[],
            rewrite: false,
            context: false,
            system_message: false,
            halt: &[Scope::Turn],
            env: false,
        };
        let (name, kind, matched) = ("Prompt", EventKind::UserPromptSubmit, None);
        let spec =
            EventSpec { name, kind, matched, blockable: true, required: &[], fields: &[], names: &[], expressible };
        let mut output = HookOutput { updated: Some(json!("safe")), ..HookOutput::default() };
        degrade(&spec, &mut output);
        assert!(output.halt.is_some_and(|halt| halt.scope == Scope::Turn && halt.reason.is_some()));
    }

    #[test]
    fn a_reason_survives_a_lost_prompt_rewrite() {
        let mut output = HookOutput { updated: Some(json!("safe")), ..HookOutput::decided(Decision::Deny, "a secret") };
        degrade(claude::DOCUMENTED.spec(EventKind::UserPromptSubmit), &mut output);
        assert_eq!(output, HookOutput::decided(Decision::Deny, "a secret"));
    }
}
