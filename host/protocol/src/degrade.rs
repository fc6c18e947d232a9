//! What a dialect cannot say becomes the nearest safer thing it can.

use crate::{
    answer::{Answer, Halt, Note, Rule, RuleKind, Scope, join, respond_text},
    dialect::EventRow,
    event::Kind,
};

/// For each decision, what is said instead where the dialect has no word for it: the first that it has a word for.
/// Nothing at all stands at the end, and is reached only when the event cannot be kept from happening, or when the
/// decision was a permission (saying nothing is safer than allowing).
pub const fn ladder(rule: RuleKind) -> &'static [RuleKind] {
    match rule {
        RuleKind::Allow => &[RuleKind::Allow],
        RuleKind::Defer => &[RuleKind::Defer, RuleKind::Ask, RuleKind::Deny, RuleKind::Skip],
        RuleKind::Ask => &[RuleKind::Ask, RuleKind::Deny, RuleKind::Skip],
        RuleKind::Skip => &[RuleKind::Skip, RuleKind::Deny],
        RuleKind::Respond => &[RuleKind::Respond, RuleKind::Deny, RuleKind::Skip],
        RuleKind::Deny => &[RuleKind::Deny, RuleKind::Skip],
    }
}

/// What a decision becomes under this row: another decision, the end of the turn or session, or nothing.
pub fn becomes(row: &EventRow, rule: RuleKind) -> Becomes {
    if let Some(kind) = ladder(rule).iter().find(|kind| row.says.rules.contains(kind)) {
        return Becomes::Rule(*kind);
    }
    match row.says.halt.first() {
        Some(scope) if row.blockable && rule != RuleKind::Allow => Becomes::Halt(*scope),
        _ => Becomes::Nothing,
    }
}

/// See [`becomes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Becomes {
    /// This decision.
    Rule(RuleKind),
    /// Stop working.
    Halt(Scope),
    /// No decision; the reason is kept where the event has a place for text.
    Nothing,
}

/// Makes an answer sayable under this row. Each note tells of one thing that became another.
pub fn degrade(row: &EventRow, answer: &mut Answer) -> Vec<Note> {
    let mut notes = Vec::new();
    degrade_rule(row, answer, &mut notes);
    degrade_halt(row, answer, &mut notes);
    if answer.updated.is_some() && !row.says.rewrite {
        lose_rewrite(row, answer, &mut notes);
    }
    if let (Some(context), false) = (&answer.context, row.says.context) {
        if row.says.system_message {
            answer.system_message = join([&answer.system_message, &Some(context.clone())]);
            notes.push(Note::degraded(format!("{} has no place for context; shown to the user instead", row.name)));
        } else {
            notes.push(Note::dropped(format!("{} has no place for context", row.name)));
        }
        answer.context = None;
    }
    if answer.system_message.is_some() && !row.says.system_message {
        answer.system_message = None;
        notes.push(Note::dropped(format!("{} has no place for a system message", row.name)));
    }
    if !answer.env.is_empty() && !row.says.env {
        answer.env.clear();
        notes.push(Note::dropped(format!("{} has no place for environment variables", row.name)));
    }
    notes
}

fn degrade_rule(row: &EventRow, answer: &mut Answer, notes: &mut Vec<Note>) {
    let Some(rule) = answer.rule.take() else { return };
    let from = rule.kind();
    if row.says.rules.contains(&from) {
        answer.rule = Some(rule);
        return;
    }
    // decisions of design.md: "`respond` under claude = deny with the text".
    if let Rule::Respond(result) = &rule {
        answer.reason = Some(respond_text(result));
    }
    match becomes(row, from) {
        Becomes::Rule(to) => {
            answer.rule = match to {
                RuleKind::Ask => Some(Rule::Ask),
                RuleKind::Skip => Some(Rule::Skip),
                _ => Some(Rule::Deny),
            };
            notes.push(Note::degraded(format!("{} cannot say {}; it says {}", row.name, from.word(), to.word())));
        }
        Becomes::Halt(scope) => {
            answer.halt.get_or_insert(Halt { scope, reason: answer.reason.clone() });
            notes.push(Note::degraded(format!("{} cannot say {}; it stops", row.name, from.word())));
        }
        Becomes::Nothing => {
            // The text is worth keeping: it is why somebody wanted to block what cannot be blocked.
            if from != RuleKind::Allow {
                answer.context = join([&answer.context, &answer.reason]);
            }
            answer.reason = None;
            notes.push(Note::dropped(format!("{} cannot say {}", row.name, from.word())));
        }
    }
}

/// A rewrite the wire has no place for. Where going on without it is what the hook wanted to prevent, it must not go on.
fn lose_rewrite(row: &EventRow, answer: &mut Answer, notes: &mut Vec<Note>) {
    answer.updated = None;
    let lost = format!("{} has no place for a rewrite", row.name);
    match (row.kind, &answer.rule) {
        // decisions.md: "A rewrite of a prompt or of a tool's result that the dialect cannot say is a block". Most
        // likely it comes from a redactor: the model must not read what it took out.
        (Kind::UserPromptSubmit, _) => block_instead(row, answer, notes, &lost, "the prompt"),
        (Kind::PostToolUse, _) => block_instead(row, answer, notes, &lost, "the result"),
        // The permission was for the rewritten call.
        (Kind::PreToolUse | Kind::PermissionRequest | Kind::CanUseTool, Some(Rule::Allow)) => {
            (answer.rule, answer.reason) = (None, None);
            notes.push(Note::degraded(format!("{lost}, so it does not say allow either")));
        }
        _ => notes.push(Note::dropped(lost)),
    }
}

/// Blocks, with whatever word the row has for it.
fn block_instead(row: &EventRow, answer: &mut Answer, notes: &mut Vec<Note>, lost: &str, what: &str) {
    let why = || format!("a hook replaced {what}, which this agent cannot do");
    match becomes(row, RuleKind::Deny) {
        Becomes::Rule(kind) => {
            answer.rule = Some(if kind == RuleKind::Skip { Rule::Skip } else { Rule::Deny });
            answer.reason.get_or_insert_with(why);
            notes.push(Note::degraded(format!("{lost}; it says {}", kind.word())));
        }
        Becomes::Halt(scope) => {
            answer.halt.get_or_insert_with(|| Halt { scope, reason: Some(why()) });
            notes.push(Note::degraded(format!("{lost}; it stops")));
        }
        Becomes::Nothing => notes.push(Note::dropped(lost)),
    }
}

fn degrade_halt(row: &EventRow, answer: &mut Answer, notes: &mut Vec<Note>) {
    let Some(halt) = answer.halt.take() else { return };
    if row.says.halt.contains(&halt.scope) {
        answer.halt = Some(halt);
    } else if let Some(scope) = row.says.halt.first() {
        notes.push(Note::degraded(format!("{} halts as far as it can: the {scope:?}", row.name)));
        answer.halt = Some(Halt { scope: *scope, ..halt });
    } else if row.says.rules.contains(&RuleKind::Deny) {
        answer.reason = halt.reason.or(answer.reason.take());
        answer.rule = Some(Rule::Deny);
        // Where a denied permission can also end the turn, that is what a halt comes nearest to.
        answer.interrupt = true;
        notes.push(Note::degraded(format!("{} cannot halt; it denies", row.name)));
    } else {
        notes.push(Note::dropped(format!("{} cannot halt", row.name)));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::{Dialect, Says, blade, blade_callback, claude, codebuddy};

    fn rewritten(dialect: &dyn Dialect, kind: Kind, rule: Option<Rule>) -> (Option<RuleKind>, bool) {
        let mut answer = Answer { rule, updated: Some(json!("safe")), ..Answer::default() };
        let notes = degrade(dialect.row(kind), &mut answer);
        assert!(answer.updated.is_none() && !notes.is_empty());
        (answer.rule_kind(), answer.reason.is_some())
    }

    #[test]
    fn what_must_not_go_on_without_its_rewrite_does_not() {
        assert_eq!(rewritten(&codebuddy::DOCUMENTED, Kind::PostToolUse, None), (Some(RuleKind::Deny), true));
        assert_eq!(rewritten(&blade::DIALECT, Kind::PermissionRequest, Some(Rule::Allow)), (None, false));
        assert_eq!(rewritten(&blade::DIALECT, Kind::SessionEnd, None), (None, false));
    }

    #[test]
    fn a_lost_prompt_rewrite_blocks_the_prompt() {
        let lost = |dialect: &dyn Dialect| rewritten(dialect, Kind::UserPromptSubmit, None);
        assert_eq!(lost(&claude::DOCUMENTED), (Some(RuleKind::Deny), true));
        assert_eq!(lost(&claude::OBSERVED), (Some(RuleKind::Deny), true));
        assert_eq!(lost(&codebuddy::DOCUMENTED), (Some(RuleKind::Deny), true));
        assert_eq!(lost(&codebuddy::OBSERVED), (Some(RuleKind::Deny), true));
        assert_eq!(lost(&blade_callback::DIALECT), (Some(RuleKind::Skip), true));
        // blade has a place for it.
        assert!(blade::DIALECT.row(Kind::UserPromptSubmit).says.rewrite);
    }

    #[test]
    fn where_no_word_blocks_a_lost_rewrite_stops_the_turn() {
        let says = Says {
            rules: &[],
            rewrite: false,
            context: false,
            system_message: false,
            halt: &[Scope::Turn],
            env: false,
        };
        let (name, kind, matched) = ("Prompt", Kind::UserPromptSubmit, None);
        let row = EventRow { name, kind, matched, blockable: true, required: &[], names: &[], says };
        let mut answer = Answer { updated: Some(json!("safe")), ..Answer::default() };
        degrade(&row, &mut answer);
        assert!(answer.halt.is_some_and(|halt| halt.scope == Scope::Turn && halt.reason.is_some()));
    }

    #[test]
    fn a_hooks_own_reason_stands_when_its_prompt_rewrite_is_lost() {
        let mut answer = Answer { updated: Some(json!("safe")), ..Answer::rule(Rule::Deny, "a secret") };
        degrade(claude::DOCUMENTED.row(Kind::UserPromptSubmit), &mut answer);
        assert_eq!(answer, Answer::rule(Rule::Deny, "a secret"));
    }
}
