//! Named laws of merging and degrading, for every dialect they hold in.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../fuzz/src/event.rs"]
mod event;

use event::event;
use hookbox_protocol::{
    Answer, Dialect, Event, Halt, Kind, Merged, Rule, RuleKind, Scope,
    degrade::degrade,
    dialect::{self, EventRow, Flow},
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json;

fn rule() -> impl Strategy<Value = Rule> {
    select(vec![
        Rule::Allow,
        Rule::Ask,
        Rule::Defer,
        Rule::Deny,
        Rule::Skip,
        Rule::Respond(json!({ "for_llm": "instead", "is_error": false })),
    ])
}

fn text() -> impl Strategy<Value = Option<String>> {
    option::of(select(vec!["one", "two", "three\nlines", ""]).prop_map(str::to_owned))
}

prop_compose! {
    fn answer()(
        rule in option::of(rule()), reason in text(), context in text(), system_message in text(),
        updated in option::of(select(vec![json!({ "command": "a" }), json!({ "command": "b" })])),
        halt in option::weighted(0.2, (select(vec![Scope::Turn, Scope::Session]), text())),
        suppress_output: bool, interrupt: bool, extra in option::weighted(0.2, 0..3),
    ) -> Answer {
        let halt = halt.map(|(scope, reason)| Halt { scope, reason });
        let extra = extra.map(|n| ("later".to_owned(), json!(n))).into_iter().collect();
        Answer { rule, reason, context, system_message, updated, halt, suppress_output, interrupt, extra, ..Answer::default() }
    }
}

/// Every dialect with each of its events, and what these hooks say there once it is made sayable.
fn everywhere(answers: &[Answer], mut law: impl FnMut(&'static dyn Dialect, &EventRow, &Event, Vec<Answer>)) {
    for dialect in dialect::ALL {
        for row in dialect.rows().iter().chain([dialect.other_row()]) {
            law(*dialect, row, &event(row), answers.iter().map(|a| sayable(row, a)).collect());
        }
    }
}

fn sayable(row: &EventRow, answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    if row.kind == Kind::UserPromptSubmit {
        // A prompt is a text.
        answer.updated = answer.updated.map(|updated| updated.to_string().into());
    }
    degrade(row, &mut answer);
    answer
}

/// In chained dialects the first decision ends the event; in all others hooks vote.
fn votes(dialect: &dyn Dialect) -> bool {
    dialect.flow() != Flow::Chained
}

/// As the pipeline does it: no hook after the one that ends the event.
fn merge(dialect: &dyn Dialect, event: &Event, answers: &[Answer]) -> Merged {
    let ran = answers.iter().position(|a| dialect.stops(event, a)).map_or(answers.len(), |last| last + 1);
    dialect.merge(event, &answers[..ran])
}

/// How much an answer holds back: allowing 0, saying nothing 1, asking 2, refusing in any form 3.
fn restraint(answer: &Answer) -> u8 {
    match answer.rule_kind() {
        _ if answer.halt.is_some() => 3,
        Some(RuleKind::Allow) => 0,
        None => 1,
        Some(RuleKind::Defer | RuleKind::Ask) => 2,
        Some(RuleKind::Skip | RuleKind::Respond | RuleKind::Deny) => 3,
    }
}

/// What some wires have no words of their own for.
fn as_the_wire_has_it(dialect: &dyn Dialect, row: &EventRow, merged: &mut Answer, read: &Answer) {
    // An action is one word: stopping says more than any decision.
    if !votes(dialect) && merged.halt.is_some() {
        merged.rule = None;
    }
    match (row.kind, merged.rule_kind()) {
        // No decision and "ask" are one thing where the client asks anyway.
        (Kind::PermissionRequest, Some(RuleKind::Ask)) if dialect.name().starts_with("claude") => merged.rule = None,
        (Kind::CanUseTool, None) => merged.rule = Some(Rule::Ask),
        // A refusal must have a message.
        (Kind::CanUseTool, Some(RuleKind::Deny)) if merged.reason.is_none() => merged.reason.clone_from(&read.reason),
        _ => {}
    }
    // Not every dialog has a place for why something is allowed or asked about.
    let dialog = matches!(row.kind, Kind::CanUseTool | Kind::PermissionRequest);
    if merged.rule.is_none() || dialog && merged.rule != Some(Rule::Deny) {
        merged.reason.clone_from(&read.reason);
    }
}

fn inserted(answers: &[Answer], at: usize, new: Answer) -> Vec<Answer> {
    let mut answers = answers.to_vec();
    answers.insert(at.min(answers.len()), new);
    answers
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn deny_beats_everything(answers in vec(answer(), 0..5), at in 0..5_usize) {
        let answers = inserted(&answers, at, Answer::rule(Rule::Deny, "never"));
        everywhere(&answers, |dialect, row, event, said| {
            if votes(dialect) && row.says.rules.contains(&RuleKind::Deny) {
                let merged = merge(dialect, event, &said).answer;
                assert_eq!(merged.rule, Some(Rule::Deny), "{} {}", dialect.name(), row.name);
                assert!(merged.reason.unwrap_or_default().contains("never"), "{} {}", dialect.name(), row.name);
            }
        });
    }

    #[test]
    fn order_of_hooks_does_not_change_the_decision(answers in vec(answer(), 0..5).prop_shuffle(), by in 0..5_usize) {
        let mut turned = answers.clone();
        turned.rotate_left(by.min(answers.len()));
        turned.reverse();
        everywhere(&answers, |dialect, row, event, said| {
            let turned: Vec<Answer> = turned.iter().map(|a| sayable(row, a)).collect();
            let (one, other) = (merge(dialect, event, &said).answer, merge(dialect, event, &turned).answer);
            // decisions.md: "the *last* hook in configuration order wins there", but never over a block.
            let last_word_counts = dialect.name().starts_with("codebuddy") && row.says.rules.contains(&RuleKind::Ask);
            if votes(dialect) && !last_word_counts {
                assert_eq!(one.rule, other.rule, "{} {}", dialect.name(), row.name);
                assert_eq!(one.halt.map(|h| h.scope), other.halt.map(|h| h.scope), "{} {}", dialect.name(), row.name);
            }
        });
    }

    #[test]
    fn a_hook_that_does_not_allow_never_loosens_the_verdict(answers in vec(answer(), 0..5), at in 0..5_usize, new in answer()) {
        prop_assume!(new.rule_kind() != Some(RuleKind::Allow) && new.updated.is_none());
        everywhere(&answers, |dialect, row, event, said| {
            let with = inserted(&said, at, sayable(row, &new));
            let (before, after) = (merge(dialect, event, &said).answer, merge(dialect, event, &with).answer);
            if votes(dialect) {
                assert!(restraint(&after) >= restraint(&before), "{} {}", dialect.name(), row.name);
            }
        });
    }

    #[test]
    fn a_silent_hook_changes_nothing(answers in vec(answer(), 0..5), at in 0..5_usize) {
        everywhere(&answers, |dialect, row, event, said| {
            let with = inserted(&said, at, Answer::default());
            let (before, after) = (merge(dialect, event, &said), merge(dialect, event, &with));
            assert_eq!(before.answer, after.answer, "{} {}", dialect.name(), row.name);
            assert_eq!(before.clause, after.clause, "{} {}", dialect.name(), row.name);
        });
    }

    #[test]
    fn first_stop_reason_wins(mut answers in vec(answer(), 0..5)) {
        // Where a denial cannot interrupt, it halts.
        for answer in &mut answers {
            answer.interrupt = false;
        }
        everywhere(&answers, |dialect, row, event, said| {
            if votes(dialect) {
                let first = said.iter().filter_map(|a| a.halt.as_ref()).find_map(|h| h.reason.clone());
                let halts = said.iter().any(|a| a.halt.is_some());
                let merged = merge(dialect, event, &said).answer;
                assert_eq!(merged.halt.is_some(), halts, "{} {}", dialect.name(), row.name);
                assert_eq!(merged.halt.and_then(|h| h.reason), first, "{} {}", dialect.name(), row.name);
            }
        });
    }

    #[test]
    fn rewrite_needs_allow_under_claude(answers in vec(answer(), 0..5)) {
        let claude = dialect::by_name("claude").unwrap();
        for row in claude.rows().iter().filter(|row| ["PreToolUse", "PermissionRequest"].contains(&row.name)) {
            let said: Vec<Answer> = answers.iter().map(|a| sayable(row, a)).collect();
            let merged = claude.merge(&event(row), &said);
            let allows = said.iter().filter(|a| a.rule == Some(Rule::Allow));
            let last = allows.filter_map(|a| a.updated.clone()).next_back();
            let expected = if merged.answer.rule == Some(Rule::Allow) { last } else { None };
            prop_assert_eq!(&merged.answer.updated, &expected);
            // What was dropped is told of.
            let applied = said.iter().filter(|a| expected.is_some() && a.rule == Some(Rule::Allow));
            let rewrites = said.iter().filter(|a| a.updated.is_some()).count();
            prop_assert_eq!(merged.notes.len(), rewrites - applied.filter(|a| a.updated.is_some()).count());
        }
    }

    #[test]
    fn what_is_refused_is_not_rewritten(answers in vec(answer(), 0..5), at in 0..5_usize) {
        let answers = inserted(&answers, at, Answer::rule(Rule::Deny, "never"));
        everywhere(&answers, |dialect, row, event, said| {
            let merged = merge(dialect, event, &said).answer;
            let before_it_ran = ["PreToolUse", "PermissionRequest", "UserPromptSubmit"].contains(&row.kind.name());
            if before_it_ran && merged.rule_kind() == Some(RuleKind::Deny) && votes(dialect) {
                assert_eq!(merged.updated, None, "{} {}", dialect.name(), row.name);
            }
        });
    }

    #[test]
    fn merged_output_has_no_null_and_names_its_event(answers in vec(answer(), 0..5)) {
        everywhere(&answers, |dialect, row, event, said| {
            let Some(wire) = dialect.encode_verdict(event, &merge(dialect, event, &said).answer) else { return };
            let place = || format!("{} {} {wire}", dialect.name(), row.name);
            let fields = wire.as_object().unwrap_or_else(|| panic!("{}", place()));
            assert!(fields.values().all(|v| !v.is_null()), "{}", place());
            if let Some(inside) = fields.get("hookSpecificOutput") {
                assert_eq!(inside["hookEventName"], event.name.as_str(), "{}", place());
                assert!(inside.as_object().unwrap().values().all(|v| !v.is_null()), "{}", place());
                assert!(inside.as_object().unwrap().len() > 1, "{}", place());
            }
        });
    }

    #[test]
    fn chain_ends_at_first_stop(answers in vec(answer(), 1..5)) {
        everywhere(&answers, |dialect, row, event, said| {
            let Some(last) = said.iter().position(|a| dialect.stops(event, a)) else { return };
            assert!(!votes(dialect), "{} {}: a hook stops others where all vote", dialect.name(), row.name);
            let merged = merge(dialect, event, &said).answer;
            assert_eq!(merged.rule, said[last].rule, "{} {}", dialect.name(), row.name);
            assert_eq!(merged.halt, said[last].halt, "{} {}", dialect.name(), row.name);
        });
    }

    #[test]
    fn degrade_never_makes_an_answer_more_permissive(answer in answer()) {
        everywhere(std::slice::from_ref(&answer), |dialect, row, _, said| {
            let can_refuse = row.says.rules.contains(&RuleKind::Deny) || row.says.rules.contains(&RuleKind::Skip);
            let place = || format!("{} {} {answer:?} → {said:?}", dialect.name(), row.name);
            assert!(said[0].rule_kind() != Some(RuleKind::Allow) || answer.rule == Some(Rule::Allow), "{}", place());
            assert!(said[0].updated.is_none() || answer.updated.is_some(), "{}", place());
            if can_refuse {
                assert!(restraint(&said[0]) >= restraint(&answer), "{}", place());
            }
        });
    }

    #[test]
    fn degrade_says_only_what_the_row_can_and_tells_what_it_changed(answer in answer()) {
        everywhere(std::slice::from_ref(&answer), |dialect, row, _, said| {
            let (says, place) = (&row.says, || format!("{} {} {said:?}", dialect.name(), row.name));
            assert!(said[0].rule_kind().is_none_or(|kind| says.rules.contains(&kind)), "{}", place());
            assert!(said[0].halt.as_ref().is_none_or(|halt| says.halt.contains(&halt.scope)), "{}", place());
            assert!(said[0].updated.is_none() || says.rewrite, "{}", place());
            assert!(said[0].context.is_none() || says.context, "{}", place());
            assert!(said[0].system_message.is_none() || says.system_message, "{}", place());
            let (mut once, mut again) = (answer.clone(), said[0].clone());
            assert_eq!(degrade(row, &mut once).is_empty(), once == answer, "{}", place());
            assert!(degrade(row, &mut again).is_empty() && again == said[0], "{}", place());
        });
    }

    #[test]
    fn encode_then_decode_of_a_verdict_is_the_verdict(answers in vec(answer(), 0..5)) {
        everywhere(&answers, |dialect, row, event, said| {
            let mut merged = merge(dialect, event, &said).answer;
            let Some(wire) = dialect.encode_verdict(event, &merged) else { return };
            let place = format!("{} {} {wire}", dialect.name(), row.name);
            let (read, notes) = dialect.decode_answer(event, wire.as_object().expect(&place)).expect(&place);
            assert!(notes.is_empty(), "{place} {notes:?}");
            as_the_wire_has_it(dialect, row, &mut merged, &read);
            assert_eq!(dialect.encode_verdict(event, &read).as_ref(), Some(&wire), "{place}");
            assert_eq!(read.rule, merged.rule, "{place}");
            assert_eq!(read.halt, merged.halt, "{place}");
            assert_eq!(read.reason, merged.reason, "{place}");
            assert_eq!((read.context, read.system_message), (merged.context, merged.system_message), "{place}");
        });
    }
}
