//! Every merge agrees with a naive reading of its specification on 100,000 random hook outcomes.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod claude;
mod outcomes;

use std::collections::BTreeMap;

use hookbox_protocol::{Answer, Behavior, Cause, Dialect, Event, Failure, Rule, degrade, dialect, failure};
use outcomes::{Dice, Fields, Outcome, outcome};
use serde_json::Value;

const OUTCOMES: usize = 100_000;

/// What one hook answers, as the pipeline would have it.
fn answer(dialect: &dyn Dialect, event: &Event, outcome: &Outcome) -> Answer {
    let row = dialect.row_by_name(&event.name).unwrap_or(dialect.other_row());
    let settle = |behavior| failure::settle(row, "h", &Failure::new(Cause::Trap, "out of luck"), behavior).0;
    let mut answer = match outcome {
        Outcome::Blocked(reason) => Answer::rule(Rule::Deny, *reason),
        Outcome::Failed("deny") => settle(Behavior::Deny),
        Outcome::Failed("ask") => settle(Behavior::Ask),
        Outcome::Failed(_) => settle(dialect.default_behavior(event.kind())),
        Outcome::Printed(wire) => match dialect.decode_answer(event, wire.as_object().unwrap()) {
            Ok((answer, _)) => answer,
            Err(_) => settle(dialect.default_behavior(event.kind())),
        },
    };
    degrade::degrade(row, &mut answer);
    answer
}

fn merged(dialect: &dyn Dialect, event: &Event, outcomes: &[Outcome]) -> Value {
    let answers: Vec<Answer> = outcomes.iter().map(|o| answer(dialect, event, o)).collect();
    let merged = dialect.merge(event, &answers);
    dialect.encode_verdict(event, &merged.answer).unwrap_or_default()
}

/// One dialect's outcomes.
struct Suite {
    dialect: &'static str,
    events: &'static [&'static str],
    fields: &'static Fields,
    failures: &'static [&'static str],
    /// Texts that must each stand in some verdict, so that no branch goes untried.
    landmarks: &'static [&'static str],
}

impl Suite {
    fn agrees_with(&self, oracle: impl Fn(&str, &[Outcome]) -> Value) {
        let dialect = dialect::by_name(self.dialect).expect("a dialect");
        let decode = |wire: &&str| dialect.decode_event(wire.as_bytes(), None).expect("an event");
        let events: Vec<Event> = self.events.iter().map(decode).collect();
        let mut seen: BTreeMap<&str, usize> = self.landmarks.iter().map(|landmark| (*landmark, 0)).collect();
        let (mut dice, mut left) = (Dice(1), OUTCOMES);
        while left > 0 {
            let event = dice.one(&events);
            let hooks = dice.below(5);
            let outcomes: Vec<Outcome> =
                (0..hooks).map(|_| outcome(&mut dice, &event.name, self.fields, self.failures)).collect();
            left = left.saturating_sub(hooks);
            let (expected, found) = (oracle(&event.name, &outcomes), merged(dialect, event, &outcomes));
            let case = || format!("{} {}\n{outcomes:#?}", self.dialect, event.name);
            assert_eq!(found, expected, "\n{}\nmerge  {found}\noracle {expected}", case());
            let text = found.to_string();
            seen.iter_mut().filter(|(landmark, _)| text.contains(**landmark)).for_each(|(_, count)| *count += 1);
        }
        assert!(seen.values().all(|count| *count > 0), "{}: a branch was not tried: {seen:#?}", self.dialect);
    }
}

const CLAUDE: Suite = Suite {
    dialect: "claude",
    events: &[
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
        r#"{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{}}"#,
        r#"{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{}}"#,
        r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{}}"#,
        r#"{"hook_event_name":"UserPromptSubmit","prompt":"hi"}"#,
        r#"{"hook_event_name":"Stop"}"#,
        r#"{"hook_event_name":"SubagentStop"}"#,
        r#"{"hook_event_name":"SubagentStart"}"#,
        r#"{"hook_event_name":"PreCompact"}"#,
        r#"{"hook_event_name":"SessionStart"}"#,
        r#"{"hook_event_name":"SessionEnd"}"#,
        r#"{"hook_event_name":"Notification"}"#,
        r#"{"hook_event_name":"PreModelSwitch"}"#,
    ],
    fields: &[
        ("/continue", &["true", "false"], &["\"no\""]),
        ("/stopReason", &["\"s1\"", "\"s2\""], &["1"]),
        ("/suppressOutput", &["true", "false"], &["0"]),
        ("/systemMessage", &["\"m1\"", "\"m2\""], &["{}"]),
        ("/decision", &["\"block\""], &["\"approve\"", "\"maybe\""]),
        ("/reason", &["\"r1\"", "\"r2\""], &["[]"]),
        ("/later", &["1", "{\"deep\":null}"], &[]),
        ("/updatedInput", &["{}"], &[]),
        ("/hookSpecificOutput", &["{}"], &["5"]),
        ("/hookSpecificOutput/hookEventName", &["\"$event\""], &["\"Else\"", "1"]),
        ("/hookSpecificOutput/permissionDecision", &["\"allow\"", "\"ask\"", "\"deny\""], &["\"defer\"", "\"maybe\""]),
        ("/hookSpecificOutput/permissionDecisionReason", &["\"p1\"", "\"p2\""], &["2"]),
        ("/hookSpecificOutput/updatedInput", &["{\"command\":\"a\"}", "{\"command\":null}"], &["\"b\""]),
        ("/hookSpecificOutput/updatedToolOutput", &["\"o1\"", "{\"o\":2}"], &[]),
        ("/hookSpecificOutput/updatedMCPToolOutput", &["\"o3\""], &[]),
        ("/hookSpecificOutput/additionalContext", &["\"c1\"", "\"c2\""], &["3"]),
        ("/hookSpecificOutput/decision", &["{}"], &["\"block\""]),
        ("/hookSpecificOutput/decision/behavior", &["\"allow\"", "\"deny\""], &["\"ask\""]),
        ("/hookSpecificOutput/decision/message", &["\"d1\"", "\"d2\""], &[]),
        ("/hookSpecificOutput/decision/interrupt", &["true", "false"], &[]),
        ("/hookSpecificOutput/decision/updatedInput", &["{\"command\":\"d\"}"], &["\"d\""]),
        ("/hookSpecificOutput/decision/updatedPermissions", &["[1]", "[2,3]", "[]"], &[]),
        ("/hookSpecificOutput/mood", &["\"good\"", "[null]"], &[]),
    ],
    failures: &["ignore", "deny", "ask"],
    landmarks: &[
        "{}",
        r#""permissionDecision":"allow","permissionDecisionReason""#,
        r#""permissionDecision":"ask""#,
        r#""permissionDecision":"deny""#,
        r#""hookEventName":"PreModelSwitch","permissionDecision""#,
        r#""decision":"block","reason""#,
        r#""behavior":"allow","updatedInput""#,
        r#""updatedPermissions":[2,3"#,
        r#""interrupt":true"#,
        r#""updatedInput":{"command":null}"#,
        r#""updatedToolOutput":"o3""#,
        r#""continue":false,"stopReason":"s2""#,
        r#""systemMessage":"m2\nm1""#,
        r#"additionalContext":"c1\nc2"#,
        r#"stderr one"#,
        r#"out of luck"#,
        r#""mood":[null]"#,
    ],
};

#[test]
fn claude_does_what_its_specification_says() {
    CLAUDE.agrees_with(|event, outcomes| claude::verdict(false, event, outcomes));
}

#[test]
fn claude_observed_does_what_the_client_does() {
    let suite = Suite { dialect: "claude@observed", landmarks: &[r#""permissionDecision":"defer""#], ..CLAUDE };
    suite.agrees_with(|event, outcomes| claude::verdict(true, event, outcomes));
}
