//! Many answers, one verdict: decisions.md, "Merging, per dialect", blade.

use crate::{
    answer::{Answer, Halt, Note, Rule, Scope, join},
    degrade::degrade,
    dialect::{
        EventRow, Merged,
        common::{ask_only_where_shown, merge_effects},
    },
    event::{Event, Kind},
};

/// decisions.md: "`PreToolUse` `deny` > `ask` > `allow`; `PermissionRequest` `deny` > `ask` > `approve`."
const PRECEDENCE: [Rule; 3] = [Rule::Deny, Rule::Ask, Rule::Allow];

/// What these answers decide.
pub(super) fn decision(answers: &[Answer]) -> Option<Rule> {
    PRECEDENCE.into_iter().find(|rule| answers.iter().any(|answer| answer.rule.as_ref() == Some(rule)))
}

pub(super) fn merge(row: &EventRow, event: &Event, answers: &[Answer]) -> Merged {
    let mut merged = Merged { answer: merge_effects(answers), ..Merged::default() };
    merged.answer.rule = decision(answers);
    let winners = || answers.iter().filter(|answer| answer.rule.is_some() && answer.rule == merged.answer.rule);
    let reason = join(winners().map(|answer| &answer.reason));
    // decisions.md: "`deny(message, interrupt?)`": nothing else interrupts.
    merged.answer.interrupt = merged.answer.rule == Some(Rule::Deny) && winners().any(|answer| answer.interrupt);
    merged.answer.reason = reason;

    ask_only_where_shown(event, &mut merged);

    for (index, answer) in answers.iter().enumerate() {
        let Some(updated) = &answer.updated else { continue };
        // decisions.md: "as claude, but `updatedInput` needs no `allow`; a `deny` or `ask` from any hook keeps its force".
        // The callback's goes with its `allow`.
        let applies = match row.kind {
            Kind::CanUseTool => merged.answer.rule == Some(Rule::Allow),
            _ => merged.answer.rule != Some(Rule::Deny),
        };
        if applies {
            // decisions.md: "`updatedPrompt`, `updatedOutput`: last in registration order wins".
            merged.answer.updated = Some(updated.clone());
        } else {
            merged.notes.push((Some(index), Note::dropped("the rewrite has no effect: the call was not let through")));
        }
    }
    merged.clause = clause(&merged.answer);
    let notes = fit(row, &mut merged.answer);
    merged.notes.extend(notes.into_iter().map(|note| (None, note)));
    merged
}

/// The callback and the permission hooks answer for each other, and neither can say all that the other can.
fn fit(row: &EventRow, answer: &mut Answer) -> Vec<Note> {
    let mut notes = Vec::new();
    if answer.interrupt && row.kind != Kind::CanUseTool {
        answer.interrupt = false;
        answer.halt.get_or_insert(Halt { scope: Scope::Turn, reason: answer.reason.clone() });
        notes.push(Note::degraded(format!("{} cannot interrupt; it stops", row.name)));
    }
    notes.extend(degrade(row, answer));
    notes
}

fn clause(answer: &Answer) -> &'static str {
    match &answer.rule {
        Some(Rule::Deny) => "`deny` > `ask` > `allow`: a `deny` from any hook keeps its force.",
        Some(Rule::Ask) => "`deny` > `ask` > `allow`: an `ask` from any hook keeps its force.",
        Some(_) => "`deny` > `ask` > `allow`: nobody denied or asked.",
        None if answer.halt.is_some() => "The generic `continue:false` is the *top-level* one and stops everything.",
        None if answer.updated.is_some() => "`updatedInput` needs no `allow`; last in registration order wins.",
        None => "No hook decided.",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use serde_json::json;

    use crate::{
        answer::{Answer, Rule, RuleKind},
        dialect::{Dialect, blade::DIALECT},
        event::Kind,
    };

    #[test]
    fn allow_and_deny_of_the_callback_are_final_and_ask_is_not() {
        let says = |rules: &[Rule]| {
            let answers: Vec<Answer> = rules.iter().map(|rule| Answer::rule(rule.clone(), "r")).collect();
            DIALECT.decides(Kind::CanUseTool, &answers)
        };
        assert!(says(&[Rule::Allow]) && says(&[Rule::Deny]) && says(&[Rule::Ask, Rule::Deny]));
        assert!(!says(&[]) && !says(&[Rule::Ask]) && !says(&[Rule::Allow, Rule::Ask]));
        let mut ask = Answer::rule(Rule::Ask, "r");
        assert!(ask.fall_back().is_some() && ask.is_silent());
    }

    #[test]
    fn the_callbacks_rewrite_never_becomes_a_plain_approval() {
        let wire = br#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{}}"#;
        let event = DIALECT.decode_event(wire, None).unwrap();
        let allow = Answer { updated: Some(json!({ "command": "ls" })), ..Answer::rule(Rule::Allow, "safe") };
        let merged = DIALECT.merge(&event, &[allow]).answer;
        assert_eq!((merged.rule, merged.updated), (None, None));
        let deny = Answer { interrupt: true, ..Answer::rule(Rule::Deny, "no") };
        let merged = DIALECT.merge(&event, &[deny]).answer;
        assert_eq!(merged.rule_kind(), Some(RuleKind::Deny));
        assert_eq!(merged.halt.and_then(|halt| halt.reason).as_deref(), Some("no"));
    }
}
