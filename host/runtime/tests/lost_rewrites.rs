//! Rewrites beyond a hook's authority are failures of that hook. Its failure policy applies.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use hookbox::{Callback, Config, FailurePolicy, HookSet, Request, Runtime, Tenant};
use hookbox_protocol::authority::Authority;
use serde_json::{Value, json};

const SECRET: &str = "AKIA1234";

/// The JSON for the client and the failure of the only hook, which prints `output` on an event of `dialect`.
fn decide(dialect: &str, closed: bool, policy: Option<FailurePolicy>, event: &Value, output: Value) -> (Value, String) {
    let name = event.get("hook_event_name").unwrap_or(&event["event"]).as_str().unwrap();
    let config = json!({ "dialect": dialect, "failClosed": closed }).to_string();
    let config = Config::parse(&config, Path::new("hooks.json"), None).unwrap().config;
    let mut callback = Callback::new(name, move |_: Value| {
        let output = output.clone();
        async move { Ok(output) }
    })
    .authority(Authority::gate());
    if let Some(policy) = policy {
        callback = callback.on_failure(policy);
    }
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(async {
        let runtime = Runtime::builder().build().unwrap();
        let hooks = HookSet::builder(&runtime, Tenant::new("t"), config).callback(callback).load().await.unwrap();
        let wire = event.to_string();
        let response = hooks.decide(Request::new(wire.as_bytes())).await;
        let verdict = response.verdict().unwrap();
        let failure = verdict.hooks[0].run().unwrap().result.as_ref().err().map(ToString::to_string);
        (verdict.wire.clone().unwrap_or_default(), failure.unwrap_or_default())
    })
}

fn result() -> Value {
    json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "tool_response": { "stdout": SECRET } })
}

fn redacted(more: &Value) -> Value {
    let mut output = json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse",
        "updatedToolOutput": { "stdout": "***" }, "additionalContext": "AWS keys were removed" } });
    output.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    output
}

#[test]
fn a_redaction_without_authority_names_the_missing_authority() {
    let (wire, failure) = decide("claude", false, None, &result(), redacted(&json!({})));
    assert_eq!(wire, json!({}), "the context would claim a redaction that did not happen");
    assert!(failure.starts_with("authority: "), "{failure}");
    let granted = r#""authority": {"decide":["deny","ask"],"rewrite":["/stdout"],"context":true}"#;
    assert!(failure.contains(granted), "{failure}");
}

#[test]
fn a_lost_redaction_blocks_where_failures_block() {
    for (closed, policy) in [(true, None), (false, Some(FailurePolicy::Deny))] {
        let (wire, _) = decide("claude", closed, policy, &result(), redacted(&json!({})));
        assert_eq!(wire["decision"], "block", "{wire}");
        assert!(!wire.to_string().contains("were removed"), "{wire}");
    }
    // The hook's own policy overrides the file's.
    let (wire, _) = decide("claude", true, Some(FailurePolicy::Ignore), &result(), redacted(&json!({})));
    assert_eq!(wire, json!({}));
}

/// decisions.md#authority: "Where failures block and the event cannot be blocked, the result is withheld".
#[test]
fn a_lost_redaction_withholds_the_result_where_nothing_blocks() {
    let event = json!({ "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash", "tool_use_id": "t",
        "tool_input": {}, "tool_output": { "stdout": SECRET } });
    let output =
        json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "updatedOutput": { "stdout": "***" } } });
    let callback = json!({ "event": "PostToolUse", "toolName": "Bash", "toolInput": {}, "toolOutput": SECRET });
    let modified = json!({ "action": "continue", "modifiedOutput": "***" });
    for (dialect, event, output, pointer) in [
        ("blade", &event, output.clone(), "/hookSpecificOutput/updatedOutput"),
        ("blade@observed", &event, output, "/updatedOutput"),
        ("blade-callback", &callback, modified.clone(), "/modifiedOutput"),
    ] {
        for (closed, policy) in [(true, None), (false, Some(FailurePolicy::Deny)), (false, Some(FailurePolicy::Ask))] {
            let (wire, failure) = decide(dialect, closed, policy, event, output.clone());
            assert!(failure.starts_with("authority: "), "{dialect}: {failure}");
            let text = wire.to_string();
            assert!(text.contains("the result is withheld"), "{dialect}: {pointer}: {text}");
        }
        for (closed, policy) in [(false, None), (true, Some(FailurePolicy::Ignore))] {
            let (wire, _) = decide(dialect, closed, policy, event, output.clone());
            assert!(!wire.to_string().contains("withheld"), "{dialect}: {wire}");
        }
    }
}

/// A later rewrite does not bring back a part of a withheld result.
#[test]
fn a_withheld_result_stays_withheld() {
    let config = json!({ "dialect": "blade", "failClosed": true }).to_string();
    let config = Config::parse(&config, Path::new("hooks.json"), None).unwrap().config;
    let says = |text: &'static str| {
        Callback::new("PostToolUse", move |_: Value| async move {
            Ok(json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "updatedOutput": text } }))
        })
    };
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(async {
        let runtime = Runtime::builder().build().unwrap();
        let set = HookSet::builder(&runtime, Tenant::new("t"), config);
        let hooks = set.callback(says("***").authority(Authority::gate())).callback(says("AKIA1234, in capitals"));
        let wire =
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "tool_output": SECRET });
        let wire = wire.to_string();
        let response = hooks.load().await.unwrap().decide(Request::new(wire.as_bytes())).await;
        assert!(!response.stdout.contains(SECRET), "{}", response.stdout);
    });
}

#[test]
fn a_denial_survives_a_lost_rewrite() {
    for closed in [false, true] {
        let output = redacted(&json!({ "decision": "block", "reason": "mine" }));
        let (wire, _) = decide("claude", closed, None, &result(), output);
        assert_eq!(wire, json!({ "decision": "block", "reason": "mine" }));
    }
}

#[test]
fn an_ask_survives_a_lost_rewrite_unless_failures_block() {
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "a" } });
    let output = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "ask",
        "updatedInput": { "command": "b" }, "additionalContext": "the command was changed" } });
    for (closed, expected) in [(false, "ask"), (true, "deny")] {
        let (wire, failure) = decide("blade", closed, None, &event, output.clone());
        assert_eq!(wire["hookSpecificOutput"]["permissionDecision"], expected, "{wire} {failure}");
        assert!(!wire.to_string().contains("was changed"), "{wire}");
    }
}

#[test]
fn a_prompt_that_was_rewritten_without_authority_is_blocked_where_failures_block() {
    let event = json!({ "hook_event_name": "UserPromptSubmit", "prompt": SECRET });
    let output = json!({ "hookSpecificOutput": { "hookEventName": "UserPromptSubmit", "updatedPrompt": "***" } });
    let (wire, failure) = decide("blade", true, None, &event, output);
    assert_eq!(wire["decision"], "block", "{wire}");
    assert!(failure.contains(r#""rewrite":[""]"#), "{failure}");
}

#[test]
fn a_rewrite_that_the_merge_drops_is_not_a_failure() {
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "a" } });
    // Claude drops an `updatedInput` without `allow`, whatever the hook's authority.
    let output = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "updatedInput": { "command": "b" } } });
    let (wire, failure) = decide("claude", true, None, &event, output);
    assert_eq!((wire, failure.as_str()), (json!({}), ""));
    // A rewrite to the event's own value changes nothing.
    let same =
        json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "updatedToolOutput": { "stdout": SECRET } } });
    assert_eq!(decide("claude", true, None, &result(), same), (json!({}), String::new()));
}

#[test]
fn an_allow_for_a_rewritten_call_is_lost_and_counts() {
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "a" } });
    let output = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": { "command": "b" } } });
    let (wire, failure) = decide("claude", false, None, &event, output.clone());
    assert_eq!(wire, json!({}));
    assert!(
        failure.contains(r#"{"decide":["deny","ask","allow"],"rewrite":["/command"],"context":true}"#),
        "{failure}"
    );
    let (wire, _) = decide("claude", true, None, &event, output);
    assert_eq!(wire["hookSpecificOutput"]["permissionDecision"], "deny");
}
