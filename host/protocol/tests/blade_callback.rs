//! Tests of the blade-callback dialect that vectors cannot have: the forms of an event, and replies when hookbox fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_protocol::{
    Decision, DecodeError, Dialect, Event, EventContext, EventKind, Halt, HookOutput, Scope, ToolCall,
    degrade::degrade,
    dialect::blade_callback::DOCUMENTED as DIALECT,
    event::{CanUseTool, Input, PostToolUseFailure},
};
use serde_json::{Value, json};

fn decode(wire: &Value) -> Event {
    DIALECT.decode_event(wire.to_string().as_bytes(), None).unwrap()
}

#[test]
fn every_form_of_an_event_round_trips() {
    let options = json!({ "toolKind": "write", "affectedPaths": ["/a"], "signal": {} });
    for wire in [
        json!({ "event": "PreToolUse", "sessionId": "s", "toolName": "Bash", "toolInput": {}, "tool_name": "kept" }),
        json!({ "event": "PostToolUse", "toolName": "Bash", "toolInput": 1, "toolOutput": { "output": 2 }, "output": 3 }),
        json!({ "event": "UserPromptSubmit", "message": "hi", "prompt": "not ours" }),
        json!({ "event": "PostToolUseFailure", "toolName": "Bash", "error": { "message": "m", "stack": "…" } }),
        json!({ "event": "PostToolUseFailure", "toolName": "Bash", "error": "m" }),
        json!({ "event": "PostToolUseFailure", "toolName": "Bash", "error": { "code": 1 } }),
        json!({ "event": "PostToolUseFailure", "toolName": "Bash", "error": null }),
        json!({ "event": "canUseTool", "toolName": "Write", "input": {}, "options": options }),
        json!({ "event": "CanUseTool", "toolName": "Write", "toolInput": {}, "toolKind": "write", "options": {} }),
        json!({ "event": "canUseTool", "toolName": "Write", "input": 1, "toolInput": 2, "affectedPaths": [] }),
        json!({ "event": "PreToolUse" }),
        json!({ "event": "UserPromptSubmit" }),
        json!({ "event": "SomethingNew", "sessionId": "s", "nested": { "a": [null] }, "none": null }),
    ] {
        let event = decode(&wire);
        assert_eq!(DIALECT.encode_event(&event), wire);
        assert_eq!(*event.raw, wire);
    }
}

#[test]
fn the_typed_fields_are_filled_from_every_form() {
    let failed = |error: Value| decode(&json!({ "event": "PostToolUseFailure", "toolName": "Bash", "error": error }));
    for error in [json!("m"), json!({ "message": "m" })] {
        let event = failed(error);
        assert!(matches!(event.input, Input::PostToolUseFailure(f) if f.error.as_deref() == Some("m")));
    }
    let fields = json!({ "toolKind": "execute", "affectedPaths": ["/a", "/b"] });
    let mut flat = json!({ "event": "CanUseTool", "toolName": "Bash", "toolInput": { "command": "ls" } });
    flat.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let nested = json!({ "event": "canUseTool", "toolName": "Bash", "input": { "command": "ls" }, "options": fields });
    for wire in [flat, nested] {
        let event = decode(&wire);
        assert_eq!(event.name, "canUseTool");
        assert_eq!(event.call, Some(ToolCall::new("Bash", json!({ "command": "ls" }))));
        let Input::CanUseTool(input) = event.input else { panic!("{wire}") };
        assert_eq!(input.tool_kind.as_deref(), Some("execute"));
        assert_eq!(input.affected_paths, Some(vec!["/a".to_owned(), "/b".to_owned()]));
    }
}

#[test]
fn an_event_that_never_came_over_a_wire_is_written_as_the_sdk_would() {
    let event = |name: &str, input| Event {
        name: name.into(),
        context: EventContext { session_id: Some("s".into()), ..EventContext::default() },
        call: Some(ToolCall::new("Bash", json!({ "command": "ls" }))),
        input,
        extra: hookbox_protocol::event::Fields::default(),
        raw: hookbox_protocol::event::Raw::default(),
        notes: Vec::new(),
    };
    let input = CanUseTool { tool_kind: Some("execute".into()), affected_paths: Some(vec![]) };
    assert_eq!(
        DIALECT.encode_event(&event("canUseTool", Input::CanUseTool(input))),
        json!({ "event": "canUseTool", "sessionId": "s", "toolName": "Bash", "input": { "command": "ls" },
                "options": { "toolKind": "execute", "affectedPaths": [] } })
    );
    let input = PostToolUseFailure { error: Some("m".into()), ..PostToolUseFailure::default() };
    assert_eq!(
        DIALECT.encode_event(&event("PostToolUseFailure", Input::PostToolUseFailure(input))),
        json!({ "event": "PostToolUseFailure", "sessionId": "s", "toolName": "Bash", "toolInput": { "command": "ls" },
                "error": { "message": "m" } })
    );
}

#[test]
fn a_missing_name_or_a_wrong_field_is_an_error_with_its_place() {
    for (wire, place) in [
        (json!({ "sessionId": "s" }), "/event"),
        (json!({ "event": 1 }), "/event"),
        (json!({ "event": "PreToolUse", "toolName": 1, "toolInput": {} }), "/toolName"),
    ] {
        let error = DIALECT.decode_event(wire.to_string().as_bytes(), None).expect_err(&wire.to_string());
        assert!(error.to_string().starts_with(&format!("{place}:")), "{error}");
    }
    assert!(matches!(DIALECT.decode_event(b"[]", None), Err(DecodeError::Type { .. })));
}

/// Decisions of a component that this dialect cannot express.
#[test]
fn every_decision_becomes_the_nearest_safer_word() {
    let wire = json!({ "event": "PreToolUse", "toolName": "Bash", "toolInput": {} });
    let event = decode(&wire);
    let verdict = |mut output: HookOutput| {
        degrade(DIALECT.spec(event.kind()), &mut output);
        DIALECT.encode_outcome(&event, &DIALECT.merge(&event, &[output]).output).unwrap()
    };
    let skip = json!({ "action": "skip", "reason": "r" });
    for decision in [Decision::Deny, Decision::Ask, Decision::Skip] {
        assert_eq!(verdict(HookOutput::decided(decision, "r")), skip);
    }
    assert_eq!(verdict(HookOutput::decided(Decision::Respond(json!({ "for_llm": "r" })), "")), skip);
    assert_eq!(verdict(HookOutput::decided(Decision::Allow, "r")), json!({ "action": "continue" }));
    for scope in [Scope::Turn, Scope::Session] {
        let halt = HookOutput { halt: Some(Halt { scope, reason: Some("r".into()) }), ..HookOutput::default() };
        assert_eq!(verdict(halt), json!({ "action": "abort", "reason": "r" }));
    }
}

/// A halt is stricter than a denial. On `canUseTool` it is a denial that interrupts.
#[test]
fn a_halt_on_can_use_tool_denies_and_interrupts() {
    let event = decode(&json!({ "event": "canUseTool", "toolName": "Bash", "input": {} }));
    let halt = Halt { scope: Scope::Session, reason: Some("stop".into()) };
    let mut output = HookOutput { halt: Some(halt), ..HookOutput::default() };
    degrade(DIALECT.spec(EventKind::CanUseTool), &mut output);
    let verdict = DIALECT.encode_outcome(&event, &DIALECT.merge(&event, &[output]).output);
    assert_eq!(verdict, Some(json!({ "behavior": "deny", "message": "stop", "interrupt": true })));
}

/// The SDK has one callback. hookbox takes the strictest answer of several.
#[test]
fn several_can_use_tool_callbacks_deny_before_they_ask_before_they_allow() {
    let event = decode(&json!({ "event": "canUseTool", "toolName": "Bash", "input": {} }));
    let allow = HookOutput { updated: Some(json!({ "a": 1 })), ..HookOutput::decided(Decision::Allow, "") };
    let (ask, deny) = (HookOutput::decided(Decision::Ask, ""), HookOutput::decided(Decision::Deny, "no"));
    let merge =
        |outputs: &[HookOutput]| DIALECT.encode_outcome(&event, &DIALECT.merge(&event, outputs).output).unwrap();
    assert_eq!(merge(std::slice::from_ref(&allow)), json!({ "behavior": "allow", "updatedInput": { "a": 1 } }));
    assert_eq!(merge(&[allow.clone(), ask.clone()]), json!({ "behavior": "ask" }));
    assert_eq!(merge(&[allow, ask, deny]), json!({ "behavior": "deny", "message": "no" }));
}

#[test]
/// decisions.md#blade-callback: "An internal error that blocks is `skip` on `PreToolUse` and `PermissionRequest`,
/// `deny` on `canUseTool`, and `abort` on every other event".
fn own_failures_block_in_the_words_of_the_event() {
    let resort = |text: &str| DIALECT.fail_closed(text.as_bytes(), None, "why").stdout;
    let abort = Some(json!({ "action": "abort", "reason": "why" }));
    let skip = Some(json!({ "action": "skip", "reason": "why" }));
    assert_eq!(resort(r#"{"event":"PreToolUse""#), skip);
    assert_eq!(resort(r#"{"event":"PermissionRequest"}"#), skip);
    assert_eq!(resort(r#"{"event":"UserPromptSubmit"}"#), abort);
    assert_eq!(resort("not json"), abort);
    for name in ["canUseTool", "CanUseTool"] {
        let deny = Some(json!({ "behavior": "deny", "message": "why" }));
        assert_eq!(resort(&format!(r#"{{"event":"{name}","toolName":"a","toolName":"b"}}"#)), deny);
    }
}
