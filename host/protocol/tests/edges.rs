//! Edge cases of rewrites, grants and names.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_protocol::{
    Decision, Dialect, Event, HookOutput,
    authority::{Authority, Rewrite, express, merge},
    dialect,
    output::RewriteBounds,
};
use serde_json::{Value, json};

fn read(name: &str, event: &Value) -> (&'static dyn Dialect, Event) {
    let dialect = dialect::by_name(name).unwrap();
    (dialect, dialect.decode_event(event.to_string().as_bytes(), None).unwrap())
}

#[test]
fn a_grant_covers_descendants_but_not_longer_names() {
    let only = |pointers: &[&str]| Authority {
        rewrite: Rewrite::Only(pointers.iter().map(|pointer| (*pointer).to_owned()).collect()),
        ..Authority::gate()
    };
    let within = only(&["/cwd", "/cwd/x", "/cwdx", "/cw"]).within(&only(&["/cwd"]));
    assert_eq!(within.rewrite, Rewrite::Only(vec!["/cwd".into(), "/cwd/x".into()]));
}

#[test]
fn a_rewrite_that_no_allow_covers_is_lost_on_events_beyond_the_specification() {
    let (codebuddy, event) = read(
        "codebuddy@observed",
        &json!({ "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": { "command": "a" } }),
    );
    let said = |bounds| HookOutput {
        decision: Some(Decision::Allow),
        updated: Some(json!({ "command": "b" })),
        rewrite_bounds: bounds,
        ..HookOutput::default()
    };
    let uncovered = RewriteBounds { change: false, uncovered: true };
    let merged = |bounds| merge(codebuddy, &event, &[said(bounds)]).output.updated;
    assert!(merged(RewriteBounds::default()).is_some());
    assert_eq!(merged(uncovered), None);
}

#[test]
fn null_is_never_a_rewrite() {
    for (name, event, withheld) in [
        (
            "claude",
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "tool_response": "s" }),
            true,
        ),
        (
            "blade",
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "tool_output": "s" }),
            true,
        ),
        (
            "codebuddy",
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "tool_response": "s" }),
            false,
        ),
        ("blade", json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {} }), false),
        ("blade", json!({ "hook_event_name": "UserPromptSubmit", "prompt": "s" }), false),
        (
            "gemini",
            json!({ "hook_event_name": "AfterTool", "tool_name": "x", "tool_input": {}, "tool_response": {} }),
            true,
        ),
    ] {
        let (dialect, event) = read(name, &event);
        let mut output = HookOutput { updated: Some(Value::Null), ..HookOutput::default() };
        let notes = express(dialect, &event, None, &mut output);
        assert!(notes.iter().any(|note| note.text.contains("null")), "{name}: {notes:?}");
        assert_eq!(output.updated.is_some(), withheld, "{name}: {output:?}");
        assert_eq!(output.decision.is_some(), !withheld, "{name}: {output:?}");
        let wire = dialect.encode_outcome(&event, &dialect.merge(&event, &[output]).output);
        assert!(!wire.unwrap_or_default().to_string().contains("null"), "{name}");
    }
}

#[test]
fn a_name_that_contradicts_the_event_is_an_error() {
    for (name, event, given) in [
        ("claude", json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {} }), "Stop"),
        ("claude", json!({ "hook_event_name": "Brand", "tool_name": "Bash", "tool_input": {} }), "New"),
        ("codebuddy", json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {} }), "PostToolUse"),
        ("blade", json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {} }), "Notification"),
        ("blade-callback", json!({ "event": "PreToolUse", "toolName": "Bash", "toolInput": {} }), "Notification"),
        ("gemini", json!({ "hook_event_name": "BeforeTool", "tool_name": "x", "tool_input": {} }), "AfterTool"),
        ("codex", json!({ "hook_event_name": "PreToolUse", "tool_name": "x", "tool_input": {} }), "Stop"),
        ("copilot", json!({ "hook_event_name": "PreToolUse", "tool_name": "x", "tool_input": {} }), "agentStop"),
        ("opencode", json!({ "hook_event_name": "PreToolUse", "tool_name": "x", "tool_input": {} }), "Stop"),
        ("opencode", json!({ "input": { "tool": "x" }, "output": { "args": {} } }), "PostToolUse"),
        ("opencode", json!({ "input": { "tool": "x" }, "output": { "args": {} } }), "chat.message"),
        ("opencode", json!({ "input": { "tool": "x" }, "output": { "args": {} } }), "shell.env"),
        ("opencode", json!({ "input": { "type": "session.idle" }, "output": {} }), "SessionStart"),
        (
            "picoclaw",
            json!({ "jsonrpc": "2.0", "method": "hook.before_tool", "id": 1, "params": { "tool": "exec" } }),
            "hook.after_llm",
        ),
    ] {
        let dialect = dialect::by_name(name).unwrap();
        let wire = event.to_string();
        let error = dialect.decode_event(wire.as_bytes(), Some(given)).expect_err(name).to_string();
        assert!(error.contains(given), "{name}: {error}");
        let own = ["/hook_event_name", "/event", "/method", "/input/type"].iter().find_map(|at| event.pointer(at));
        let own = own.map_or("PreToolUse", |own| own.as_str().unwrap());
        assert!(dialect.decode_event(wire.as_bytes(), Some(own)).is_ok(), "{name}");
    }
}
