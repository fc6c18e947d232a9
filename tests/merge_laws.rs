//! Laws of merging and degrading, for every dialect in which they hold.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{cell::RefCell, collections::BTreeMap};

use hookbox_protocol::{
    Decision, DecisionKind, Dialect, Event, EventKind, Halt, HookOutput, Outcome, Scope,
    degrade::degrade,
    dialect::{self, EventSpec, Flow},
    output::join,
};
use hookbox_testing::{event, sent};
use proptest::{collection::vec, option, prelude::*, sample::select, test_runner::TestRunner};
use serde_json::{Value, json};

fn decision() -> impl Strategy<Value = Decision> {
    select(vec![
        Decision::Allow,
        Decision::Ask,
        Decision::Defer,
        Decision::Deny,
        Decision::Skip,
        Decision::Respond(json!({ "for_llm": "instead", "is_error": false })),
    ])
}

fn text() -> impl Strategy<Value = Option<String>> {
    option::of(select(vec!["one", "two", "three\nlines", ""]).prop_map(str::to_owned))
}

prop_compose! {
    fn output()(
        decision in option::of(decision()), reason in text(), context in text(), system_message in text(),
        updated in option::of(select(vec![json!({ "command": "a" }), json!({ "command": "b" })])),
        halt in option::weighted(0.2, (select(vec![Scope::Turn, Scope::Session]), text())),
        suppress_output: bool, interrupt: bool, extra in option::weighted(0.2, 0..3),
    ) -> HookOutput {
        let halt = halt.map(|(scope, reason)| Halt { scope, reason });
        let extra = extra.map(|n| ("later".to_owned(), json!(n))).into_iter().collect();
        HookOutput { decision, reason, context, system_message, updated, halt, suppress_output, interrupt, extra, ..HookOutput::default() }
    }
}

/// Calls the law for every dialect and event, with these outputs after degradation.
fn everywhere(outputs: &[HookOutput], mut law: impl FnMut(&'static dyn Dialect, &EventSpec, &Event, Vec<HookOutput>)) {
    for dialect in dialect::ALL {
        for spec in dialect.specs().iter().chain([dialect.other_spec()]) {
            law(*dialect, spec, &sent(*dialect, spec), outputs.iter().map(|a| sayable(spec, a)).collect());
        }
    }
}

fn sayable(spec: &EventSpec, output: &HookOutput) -> HookOutput {
    let mut output = output.clone();
    if spec.kind == EventKind::UserPromptSubmit {
        // A prompt is a string.
        output.updated = output.updated.map(|updated| updated.to_string().into());
    }
    degrade(spec, &mut output);
    output
}

/// Returns true if hooks vote. In chained dialects, the first decision ends the event.
fn votes(dialect: &dyn Dialect) -> bool {
    dialect.flow() != Flow::Chained
}

/// Merges as the pipeline does: the hooks after one that ends the event do not run.
fn merge(dialect: &dyn Dialect, event: &Event, outputs: &[HookOutput]) -> Outcome {
    let ran = outputs.iter().position(|a| dialect.stops(event, a)).map_or(outputs.len(), |last| last + 1);
    dialect.merge(event, &outputs[..ran])
}

/// Returns the strictness of an output: 0 for allow, 1 for no decision, 2 for ask, 3 for any block.
fn restraint(output: &HookOutput) -> u8 {
    match output.decision_kind() {
        _ if output.halt.is_some() => 3,
        Some(DecisionKind::Allow) => 0,
        None => 1,
        Some(DecisionKind::Defer | DecisionKind::Ask) => 2,
        Some(DecisionKind::Skip | DecisionKind::Respond | DecisionKind::Deny) => 3,
    }
}

/// Adjusts an outcome to the forms of the real Blade programs.
fn as_blade_has_it(kind: EventKind, outcome: &mut HookOutput) {
    let denied = outcome.decision == Some(Decision::Deny);
    match kind {
        // The halt is written as no block.
        EventKind::Stop | EventKind::SubagentStop if outcome.halt.take().is_some() => outcome.decision = None,
        EventKind::PreToolUse if outcome.updated.is_some() => {
            outcome.decision.get_or_insert(Decision::Allow);
        }
        // The message to the user contains the reason.
        EventKind::SessionStart | EventKind::OtherEvent if denied => {
            outcome.reason = join([&outcome.reason, &outcome.system_message.take()]);
        }
        EventKind::UserPromptSubmit if denied => outcome.context = None,
        // The result contains the context.
        EventKind::PostToolUse if outcome.updated.is_some() => outcome.context = Some(String::new()),
        _ => {}
    }
}

/// Adjusts an outcome to wires that cannot express all of it.
fn as_the_wire_has_it(dialect: &dyn Dialect, spec: &EventSpec, outcome: &mut HookOutput, read: &HookOutput) {
    if dialect.name() == "blade@observed" {
        as_blade_has_it(spec.kind, outcome);
    }
    // The wire has only one action. A halt is stricter than any decision.
    if !votes(dialect) && outcome.halt.is_some() {
        outcome.decision = None;
    }
    // A halt's reason has no field of its own and is shown to the user.
    if let ("codex", Some(halt)) = (dialect.name(), &mut outcome.halt) {
        outcome.system_message = join([&outcome.system_message, &halt.reason.take()]);
    }
    match (spec.kind, outcome.decision_kind()) {
        // No decision is the same as `ask` if the client asks by default.
        (EventKind::PermissionRequest, Some(DecisionKind::Ask))
            if dialect.name().starts_with("claude") || dialect.name() == "copilot" =>
        {
            outcome.decision = None;
        }
        (EventKind::CanUseTool, None) => outcome.decision = Some(Decision::Ask),
        // decisions.md#picoclaw: "An empty output on `approve_tool` is `approved: true`".
        (EventKind::PermissionRequest, None) if dialect.name() == "picoclaw" => {
            outcome.decision = Some(Decision::Allow);
        }
        // A denial must have a message.
        (EventKind::CanUseTool, Some(DecisionKind::Deny)) if outcome.reason.is_none() => {
            outcome.reason.clone_from(&read.reason);
        }
        _ => {}
    }
    // A `respond` has no reason in picoclaw.
    if dialect.name() == "picoclaw" && outcome.decision_kind() == Some(DecisionKind::Respond) {
        outcome.reason.clone_from(&read.reason);
    }
    // Some permission events have a field for the reason of a denial only.
    let dialog = matches!(spec.kind, EventKind::CanUseTool | EventKind::PermissionRequest);
    if outcome.decision.is_none() || dialog && outcome.decision != Some(Decision::Deny) {
        outcome.reason.clone_from(&read.reason);
    }
}

/// Returns the part of a verdict that a hook would print. Under picoclaw, it is the `result` of the line.
fn said_by(dialect: &dyn Dialect, wire: &Value) -> Value {
    if dialect.name() == "picoclaw" { wire["result"].clone() } else { wire.clone() }
}

fn inserted(outputs: &[HookOutput], at: usize, new: HookOutput) -> Vec<HookOutput> {
    let mut outputs = outputs.to_vec();
    outputs.insert(at.min(outputs.len()), new);
    outputs
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn deny_beats_everything(outputs in vec(output(), 0..5), at in 0..5_usize) {
        let outputs = inserted(&outputs, at, HookOutput::decided(Decision::Deny, "never"));
        everywhere(&outputs, |dialect, spec, event, said| {
            if votes(dialect) && spec.expressible.decisions.contains(&DecisionKind::Deny) {
                let outcome = merge(dialect, event, &said).output;
                assert_eq!(outcome.decision, Some(Decision::Deny), "{} {}", dialect.name(), spec.name);
                assert!(outcome.reason.unwrap_or_default().contains("never"), "{} {}", dialect.name(), spec.name);
            }
        });
    }

    #[test]
    fn order_of_hooks_does_not_change_the_decision(outputs in vec(output(), 0..5).prop_shuffle(), by in 0..5_usize) {
        let mut turned = outputs.clone();
        turned.rotate_left(by.min(outputs.len()));
        turned.reverse();
        everywhere(&outputs, |dialect, spec, event, said| {
            let turned: Vec<HookOutput> = turned.iter().map(|a| sayable(spec, a)).collect();
            let (one, other) = (merge(dialect, event, &said).output, merge(dialect, event, &turned).output);
            // decisions.md#codebuddy: "the *last* hook in configuration order wins among `allow` and `ask`", but never
            // over a block.
            let last_word_counts = dialect.name().starts_with("codebuddy") && spec.expressible.decisions.contains(&DecisionKind::Ask);
            if votes(dialect) && !last_word_counts {
                assert_eq!(one.decision, other.decision, "{} {}", dialect.name(), spec.name);
                assert_eq!(one.halt.map(|h| h.scope), other.halt.map(|h| h.scope), "{} {}", dialect.name(), spec.name);
            }
        });
    }

    #[test]
    fn a_hook_that_does_not_allow_never_loosens_the_verdict(outputs in vec(output(), 0..5), at in 0..5_usize, new in output()) {
        prop_assume!(new.decision_kind() != Some(DecisionKind::Allow) && new.updated.is_none());
        everywhere(&outputs, |dialect, spec, event, said| {
            let with = inserted(&said, at, sayable(spec, &new));
            let (before, after) = (merge(dialect, event, &said).output, merge(dialect, event, &with).output);
            if votes(dialect) {
                assert!(restraint(&after) >= restraint(&before), "{} {}", dialect.name(), spec.name);
            }
        });
    }

    #[test]
    fn a_silent_hook_changes_nothing(outputs in vec(output(), 0..5), at in 0..5_usize) {
        everywhere(&outputs, |dialect, spec, event, said| {
            let with = inserted(&said, at, HookOutput::default());
            let (before, after) = (merge(dialect, event, &said), merge(dialect, event, &with));
            assert_eq!(before.output, after.output, "{} {}", dialect.name(), spec.name);
            assert_eq!(before.clause, after.clause, "{} {}", dialect.name(), spec.name);
        });
    }

    #[test]
    fn first_stop_reason_wins(mut outputs in vec(output(), 0..5)) {
        // A denial that cannot interrupt halts.
        for output in &mut outputs {
            output.interrupt = false;
        }
        everywhere(&outputs, |dialect, spec, event, said| {
            if votes(dialect) {
                let first = said.iter().filter_map(|a| a.halt.as_ref()).find_map(|h| h.reason.clone());
                let halts = said.iter().any(|a| a.halt.is_some());
                let outcome = merge(dialect, event, &said).output;
                assert_eq!(outcome.halt.is_some(), halts, "{} {}", dialect.name(), spec.name);
                assert_eq!(outcome.halt.and_then(|h| h.reason), first, "{} {}", dialect.name(), spec.name);
            }
        });
    }

    #[test]
    fn rewrite_needs_allow_under_claude(outputs in vec(output(), 0..5)) {
        let claude = dialect::by_name("claude").unwrap();
        for spec in claude.specs().iter().filter(|spec| ["PreToolUse", "PermissionRequest"].contains(&spec.name)) {
            let said: Vec<HookOutput> = outputs.iter().map(|a| sayable(spec, a)).collect();
            let outcome = claude.merge(&event(spec), &said);
            let allows = said.iter().filter(|a| a.decision == Some(Decision::Allow));
            let last = allows.filter_map(|a| a.updated.clone()).next_back();
            let expected = if outcome.output.decision == Some(Decision::Allow) { last } else { None };
            prop_assert_eq!(&outcome.output.updated, &expected);
            // Rewrites that were dropped have a note.
            let applied = said.iter().filter(|a| expected.is_some() && a.decision == Some(Decision::Allow));
            let rewrites = said.iter().filter(|a| a.updated.is_some()).count();
            prop_assert_eq!(outcome.notes.len(), rewrites - applied.filter(|a| a.updated.is_some()).count());
        }
    }

    #[test]
    fn denied_calls_are_not_rewritten(outputs in vec(output(), 0..5), at in 0..5_usize) {
        let outputs = inserted(&outputs, at, HookOutput::decided(Decision::Deny, "never"));
        everywhere(&outputs, |dialect, spec, event, said| {
            let outcome = merge(dialect, event, &said).output;
            let before_it_ran = ["PreToolUse", "PermissionRequest", "UserPromptSubmit"].contains(&spec.kind.name());
            if before_it_ran && outcome.decision_kind() == Some(DecisionKind::Deny) && votes(dialect) {
                assert_eq!(outcome.updated, None, "{} {}", dialect.name(), spec.name);
            }
        });
    }

    #[test]
    fn merged_output_has_no_null_and_names_its_event(outputs in vec(output(), 0..5)) {
        everywhere(&outputs, |dialect, spec, event, said| {
            let Some(wire) = dialect.encode_outcome(event, &merge(dialect, event, &said).output) else { return };
            let wire = said_by(dialect, &wire);
            // Plain text.
            if wire.is_string() {
                return;
            }
            let place = || format!("{} {} {wire}", dialect.name(), spec.name);
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
    fn a_deny_that_the_client_reads_holds(outputs in vec(output(), 0..5), at in 0..5_usize) {
        let outputs = inserted(&outputs, at, HookOutput::decided(Decision::Deny, "never"));
        everywhere(&outputs, |dialect, spec, event, said| {
            let ran = said.iter().position(|a| dialect.stops(event, a)).map_or(said.len(), |last| last + 1);
            let heard = said[..ran].iter().any(|a| a.decision == Some(Decision::Deny));
            let outcome = merge(dialect, event, &said).output;
            assert!(!heard || restraint(&outcome) == 3, "{} {}: {said:?}", dialect.name(), spec.name);
        });
    }

    #[test]
    fn chain_ends_at_first_stop(outputs in vec(output(), 1..5)) {
        everywhere(&outputs, |dialect, spec, event, said| {
            let Some(last) = said.iter().position(|a| dialect.stops(event, a)) else { return };
            assert!(!votes(dialect), "{} {}: a hook stops others where all vote", dialect.name(), spec.name);
            let outcome = merge(dialect, event, &said).output;
            assert_eq!(outcome.decision, said[last].decision, "{} {}", dialect.name(), spec.name);
            assert_eq!(outcome.halt, said[last].halt, "{} {}", dialect.name(), spec.name);
        });
    }

    #[test]
    fn degrade_never_makes_an_answer_more_permissive(output in output()) {
        everywhere(std::slice::from_ref(&output), |dialect, spec, _, said| {
            let can_refuse = spec.expressible.decisions.contains(&DecisionKind::Deny) || spec.expressible.decisions.contains(&DecisionKind::Skip);
            let place = || format!("{} {} {output:?} → {said:?}", dialect.name(), spec.name);
            assert!(said[0].decision_kind() != Some(DecisionKind::Allow) || output.decision == Some(Decision::Allow), "{}", place());
            assert!(said[0].updated.is_none() || output.updated.is_some(), "{}", place());
            if can_refuse {
                assert!(restraint(&said[0]) >= restraint(&output), "{}", place());
            }
        });
    }

    #[test]
    fn degrade_stays_within_the_row_and_reports_changes(output in output()) {
        everywhere(std::slice::from_ref(&output), |dialect, spec, _, said| {
            let (expressible, place) = (&spec.expressible, || format!("{} {} {said:?}", dialect.name(), spec.name));
            assert!(said[0].decision_kind().is_none_or(|kind| expressible.decisions.contains(&kind)), "{}", place());
            assert!(said[0].halt.as_ref().is_none_or(|halt| expressible.halt.contains(&halt.scope)), "{}", place());
            assert!(said[0].updated.is_none() || expressible.rewrite, "{}", place());
            assert!(said[0].context.is_none() || expressible.context, "{}", place());
            assert!(said[0].system_message.is_none() || expressible.system_message, "{}", place());
            let (mut once, mut again) = (output.clone(), said[0].clone());
            assert_eq!(degrade(spec, &mut once).is_empty(), once == output, "{}", place());
            assert!(degrade(spec, &mut again).is_empty() && again == said[0], "{}", place());
        });
    }
}

const CASES: u32 = 64;

fn cases() -> ProptestConfig {
    ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn encode_then_decode_of_a_verdict_is_the_verdict() {
    let reached = RefCell::new(BTreeMap::new());
    let law = |outputs: Vec<HookOutput>| {
        everywhere(&outputs, |dialect, spec, event, said| {
            let mut outcome = merge(dialect, event, &said).output;
            let Some(wire) = dialect.encode_outcome(event, &outcome) else { return };
            *reached.borrow_mut().entry(dialect.name()).or_insert(0_u32) += 1;
            if wire.is_string() {
                return;
            }
            let said = said_by(dialect, &wire);
            let place = format!("{} {} {wire}", dialect.name(), spec.name);
            let (read, notes) = dialect.decode_output(event, said.as_object().expect(&place)).expect(&place);
            // A halt without a reason is ambiguous: decisions.md#blade-config.
            let ambiguous =
                (dialect.name(), spec.name) == ("blade", "SubagentStop") && said.get("stopReason").is_none();
            assert!(notes.is_empty() || ambiguous && outcome.halt.is_some(), "{place} {notes:?}");
            as_the_wire_has_it(dialect, spec, &mut outcome, &read);
            assert_eq!(dialect.encode_outcome(event, &read).as_ref(), Some(&wire), "{place}");
            assert_eq!(read.decision, outcome.decision, "{place}");
            assert_eq!(read.halt, outcome.halt, "{place}");
            assert_eq!(read.reason, outcome.reason, "{place}");
            assert_eq!((read.context, read.system_message), (outcome.context, outcome.system_message), "{place}");
        });
        Ok(())
    };
    TestRunner::new(cases()).run(&vec(output(), 0..5), law).unwrap();
    let reached = reached.into_inner();
    for dialect in dialect::ALL {
        let deny = HookOutput::decided(Decision::Deny, "never");
        let answered = dialect.specs().iter().chain([dialect.other_spec()]).filter(|spec| {
            let event = sent(*dialect, spec);
            dialect.encode_outcome(&event, &merge(*dialect, &event, &[sayable(spec, &deny)]).output).is_some()
        });
        // Some dialects write nothing for an empty outcome.
        let least = u32::try_from(answered.count()).unwrap() * CASES / 2;
        let reached = reached.get(dialect.name()).copied().unwrap_or_default();
        assert!(
            least > 0 && reached >= least,
            "{}: {reached} of at least {least} verdicts were written",
            dialect.name()
        );
    }
}
