//! Tests of codex: outputs that only a component can have, and hookbox's own failures.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_protocol::{Decision, Dialect, Event, Halt, HookOutput, Scope, degrade::degrade, dialect::codex::DIALECT};
use serde_json::{Value, json};

fn event(name: &str, tool: &str) -> Event {
    let wire = json!({ "hook_event_name": name, "tool_name": tool, "tool_input": { "command": "ls" }, "prompt": "go" });
    DIALECT.decode_event(wire.to_string().as_bytes(), None).unwrap()
}

/// Returns the wire of these components' outputs, degraded as the pipeline does it.
fn wire(event: &Event, outputs: &[HookOutput]) -> Value {
    let sayable = |output: &HookOutput| {
        let mut output = output.clone();
        degrade(DIALECT.spec_of(event), &mut output);
        output
    };
    let outputs: Vec<HookOutput> = outputs.iter().map(sayable).collect();
    DIALECT.encode_outcome(event, &DIALECT.merge(event, &outputs).output).unwrap()
}

fn rewrite(updated: Value) -> HookOutput {
    HookOutput { updated: Some(updated), ..HookOutput::default() }
}

#[test]
fn a_plain_allow_has_no_effect_and_an_ask_denies() {
    let call = event("PreToolUse", "Bash");
    assert_eq!(wire(&call, &[HookOutput::decided(Decision::Allow, "fine")]), json!({}));
    let denied =
        json!({ "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "sure?" });
    let ask = HookOutput::decided(Decision::Ask, "sure?");
    assert_eq!(wire(&call, &[ask]), json!({ "hookSpecificOutput": denied }));
    let halt = Halt { scope: Scope::Session, reason: Some("sure?".into()) };
    assert_eq!(
        wire(&call, &[HookOutput { halt: Some(halt), ..HookOutput::default() }]),
        json!({ "hookSpecificOutput": denied })
    );
}

#[test]
fn a_denial_without_a_reason_gets_one() {
    for (name, pointer) in [
        ("PreToolUse", "/hookSpecificOutput/permissionDecisionReason"),
        ("PermissionRequest", "/hookSpecificOutput/decision/message"),
        ("PostToolUse", "/reason"),
        ("UserPromptSubmit", "/reason"),
        ("Stop", "/reason"),
    ] {
        for reason in [None, Some(String::new()), Some(" \n".to_owned())] {
            let deny = HookOutput { decision: Some(Decision::Deny), reason, ..HookOutput::default() };
            let wire = wire(&event(name, "Bash"), &[deny]);
            assert_eq!(wire.pointer(pointer), Some(&json!("a hook denied it")), "{name} {wire}");
        }
    }
}

#[test]
fn a_permission_for_another_input_is_a_denial() {
    let ask = event("PermissionRequest", "Bash");
    let allow = HookOutput { decision: Some(Decision::Allow), ..rewrite(json!({ "command": "ls -a" })) };
    let plain = HookOutput { decision: Some(Decision::Allow), ..HookOutput::default() };
    let behavior = |outputs: &[HookOutput]| wire(&ask, outputs)["hookSpecificOutput"]["decision"]["behavior"].clone();
    assert_eq!(behavior(&[plain.clone(), allow]), "deny");
    let permissions = HookOutput { updated_permissions: Some(json!([1])), ..plain };
    assert_eq!(
        wire(&ask, &[permissions]),
        json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": { "behavior": "allow" } } })
    );
    let deny = HookOutput { interrupt: true, ..HookOutput::decided(Decision::Deny, "no") };
    let decision = json!({ "behavior": "deny", "message": "no" });
    assert_eq!(wire(&ask, &[deny])["hookSpecificOutput"]["decision"], decision);
}

#[test]
fn a_new_result_replaces_the_tools() {
    let done = event("PostToolUse", "Bash");
    assert_eq!(wire(&done, &[rewrite(json!("KEY=***"))]), json!({ "decision": "block", "reason": "KEY=***" }));
    assert_eq!(wire(&done, &[rewrite(json!({ "a": 1 }))])["reason"], "{\"a\":1}");
    assert_eq!(wire(&done, &[rewrite(json!(""))])["reason"], "a hook denied it");
    let deny = HookOutput::decided(Decision::Deny, "a secret");
    assert_eq!(wire(&done, &[rewrite(json!("KEY=***")), deny])["reason"], "a secret");
    // Codex cannot replace a prompt.
    assert_eq!(wire(&event("UserPromptSubmit", ""), &[rewrite(json!("safe"))])["decision"], "block");
}

#[test]
fn outputs_that_codex_rejects_are_never_printed() {
    let everything = HookOutput {
        suppress_output: true,
        halt: Some(Halt { scope: Scope::Turn, reason: Some("enough".into()) }),
        env: json!({ "A": "1" }).as_object().unwrap().clone(),
        extra: json!({ "later": 1, "hookSpecificOutput": { "later": 2 } }).as_object().unwrap().clone(),
        context: Some("look".into()),
        ..HookOutput::decided(Decision::Deny, "no")
    };
    for spec in DIALECT.specs().iter().chain([DIALECT.other_spec()]) {
        let event = event(if spec.name.is_empty() { "PreNap" } else { spec.name }, "Bash");
        let wire = wire(&event, std::slice::from_ref(&everything));
        let read = DIALECT.decode_output(&event, wire.as_object().unwrap());
        assert!(read.is_ok_and(|(_, notes)| notes.is_empty()), "{} {wire}", spec.name);
        assert!(!wire.to_string().contains("later") && !wire.to_string().contains("stopReason"), "{wire}");
    }
}

#[test]
fn own_failures_block_in_the_words_of_the_event() {
    let closed = |name: &str| {
        let wire = json!({ "hook_event_name": name, "tool_name": "Bash", "prompt": "go" }).to_string();
        DIALECT.fail_closed(wire.as_bytes(), None, "out of order")
    };
    for name in ["PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"] {
        let failure = closed(name);
        assert_eq!((failure.exit, failure.stdout, failure.stderr), (Some(2), None, true), "{name}");
    }
    for name in ["SessionStart", "PreCompact"] {
        let failure = closed(name);
        assert_eq!((failure.exit, &failure.stdout.unwrap()["continue"]), (Some(0), &json!(false)), "{name}");
    }
    // An invalid event may be one that can be blocked.
    assert_eq!(DIALECT.fail_closed(b"{", None, "out of order").exit, Some(2));
    assert_eq!(DIALECT.fail_open().exit, None);
}
