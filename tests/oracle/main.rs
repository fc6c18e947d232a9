//! Every merge agrees with a naive reading of its specification on 100,000 random hook outcomes.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod blade_callback;
mod claude;
mod outcomes;
mod picoclaw;

use std::collections::BTreeMap;

use hookbox_protocol::{
    Answer, Behavior, Cause, Dialect, Event, Failure, Rule, degrade,
    dialect::{self, Flow},
    failure,
};
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
    let (mut seen, mut answers) = (event.clone(), Vec::new());
    for outcome in outcomes {
        let answer = answer(dialect, &seen, outcome);
        if dialect.flow() == Flow::Chained {
            dialect.rewrite(&mut seen, &answer);
        }
        let last = dialect.stops(&seen, &answer);
        answers.push(answer);
        if last {
            break;
        }
    }
    dialect.encode_verdict(event, &dialect.merge(event, &answers).answer).unwrap_or_default()
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
    fn agrees_with(&self, oracle: impl Fn(&Event, &[Outcome]) -> Value) {
        let dialect = dialect::by_name(self.dialect).expect("a dialect");
        let decode = |wire: &&str| dialect.decode_event(wire.as_bytes(), None).expect("an event");
        let events: Vec<Event> = self.events.iter().map(decode).collect();
        let mut seen: BTreeMap<&str, usize> = self.landmarks.iter().map(|landmark| (*landmark, 0)).collect();
        let (mut dice, mut left) = (Dice(1), OUTCOMES);
        while left > 0 {
            let event = dice.one(&events);
            // design.md: "`canUseTool` is one handler beside `hooks`".
            let hooks = dice.below(if event.name == "canUseTool" { 2 } else { 5 });
            let outcomes: Vec<Outcome> =
                (0..hooks).map(|_| outcome(&mut dice, &event.name, self.fields, self.failures)).collect();
            left = left.saturating_sub(hooks);
            let (expected, found) = (oracle(event, &outcomes), merged(dialect, event, &outcomes));
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
    CLAUDE.agrees_with(|event, outcomes| claude::verdict(false, &event.name, outcomes));
}

#[test]
fn claude_observed_does_what_the_client_does() {
    let suite = Suite { dialect: "claude@observed", landmarks: &[r#""permissionDecision":"defer""#], ..CLAUDE };
    suite.agrees_with(|event, outcomes| claude::verdict(true, &event.name, outcomes));
}

const BLADE_CALLBACK: Suite = Suite {
    dialect: "blade-callback",
    events: &[
        r#"{"event":"SessionStart","sessionId":"s"}"#,
        r#"{"event":"UserPromptSubmit","sessionId":"s","message":"hi"}"#,
        r#"{"event":"PreToolUse","sessionId":"s","toolName":"Bash","toolInput":{"command":"ls"}}"#,
        r#"{"event":"PostToolUse","sessionId":"s","toolName":"Bash","toolInput":{},"toolOutput":"out"}"#,
        r#"{"event":"PostToolUseFailure","sessionId":"s","toolName":"Bash","error":{"message":"e"}}"#,
        r#"{"event":"PermissionRequest","sessionId":"s","toolName":"Bash","toolInput":{}}"#,
        r#"{"event":"TaskCompleted","sessionId":"s"}"#,
        r#"{"event":"SessionEnd","sessionId":"s"}"#,
        r#"{"event":"canUseTool","toolName":"Bash","toolInput":{"command":"ls"}}"#,
    ],
    fields: &[
        ("/action", &["\"continue\"", "\"skip\"", "\"abort\""], &["\"allow\"", "1"]),
        ("/reason", &["\"r1\"", "\"r2\""], &["1"]),
        ("/modifiedInput", &["{\"command\":\"a\"}", "{\"command\":\"b\"}"], &[]),
        ("/modifiedOutput", &["\"o1\"", "{\"o\":2}"], &[]),
        ("/behavior", &["\"allow\"", "\"deny\"", "\"ask\""], &["\"skip\""]),
        ("/message", &["\"m1\""], &["{}"]),
        ("/interrupt", &["true", "false"], &["0"]),
        ("/updatedInput", &["{\"command\":\"c\"}"], &["\"c\""]),
    ],
    failures: &["ignore", "deny", "ask"],
    landmarks: &[
        r#"{"action":"continue"}"#,
        r#""action":"skip","reason":"r1""#,
        r#""action":"abort","reason":"r2""#,
        r#""modifiedInput":{"command":"b"}"#,
        r#""modifiedOutput":"o1""#,
        r#"{"behavior":"allow","updatedInput""#,
        r#""message":"m1","interrupt":true"#,
        r#"{"behavior":"ask"}"#,
        "stderr two",
        "out of luck",
    ],
};

#[test]
fn blade_callback_does_what_its_specification_says() {
    BLADE_CALLBACK.agrees_with(|event, outcomes| blade_callback::verdict(&event.name, outcomes));
}

const PICOCLAW: Suite = Suite {
    dialect: "picoclaw",
    events: &[
        r#"{"jsonrpc":"2.0","id":7,"method":"hook.before_tool","params":{"tool":"exec","arguments":{"command":"ls"}}}"#,
        r#"{"jsonrpc":"2.0","id":8,"method":"hook.approve_tool","params":{"tool":"exec","arguments":{}}}"#,
        r#"{"jsonrpc":"2.0","id":9,"method":"hook.before_llm","params":{"model":"m","messages":[],"tools":[],"options":{}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"hook.after_llm","params":{"model":"m","response":{"content":"hi"}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"hook.after_tool","params":{"tool":"exec","arguments":{},"result":{"for_llm":"o"}}}"#,
    ],
    fields: &[
        (
            "/action",
            &[
                "\"continue\"",
                "\"modify\"",
                "\"modify\"",
                "\"respond\"",
                "\"deny_tool\"",
                "\"abort_turn\"",
                "\"hard_abort\"",
            ],
            &["\"allow\""],
        ),
        ("/approved", &["true", "true", "true", "false"], &["\"yes\""]),
        ("/reason", &["\"r1\"", "\"r2\""], &[]),
        ("/call/tool", &["\"exec\"", "\"read\""], &[]),
        ("/call/arguments", &["{\"command\":\"ls\"}", "{\"command\":\"a\"}"], &[]),
        ("/request/model", &["\"m2\""], &[]),
        ("/request/messages", &["[{\"role\":\"user\",\"content\":\"x\"}]", "[]"], &[]),
        ("/response/model", &["\"m\""], &[]),
        ("/response/response", &["{\"content\":\"hi\"}", "{\"content\":\"ho\"}"], &[]),
        ("/result/result", &["{\"for_llm\":\"o\"}", "{\"for_llm\":\"p\"}"], &[]),
    ],
    failures: &["ignore", "deny", "ask"],
    landmarks: &[
        r#"{"action":"continue"}"#,
        r#"{"approved":true}"#,
        r#"{"approved":false,"reason":"r1"}"#,
        r#""action":"deny_tool","reason":"r2""#,
        r#""action":"respond""#,
        r#""action":"abort_turn""#,
        r#""action":"hard_abort""#,
        r#""action":"modify","call":{"tool":"read""#,
        r#""action":"modify","request":{"model":"m2""#,
        r#""action":"modify","response":{"model":"m","response":{"content":"ho"}}"#,
        r#""action":"modify","result":{"#,
        "stderr two",
        "out of luck",
    ],
};

#[test]
fn picoclaw_does_what_its_specification_says() {
    PICOCLAW.agrees_with(|event, outcomes| picoclaw::verdict(&event.raw, outcomes));
}
