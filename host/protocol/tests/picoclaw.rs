//! Tests of the picoclaw dialect that vectors cannot have: errors, sizes, typed events, and replies when hookbox fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_protocol::{
    Decision, DecodeError, Dialect, Event, EventContext, EventKind, HookOutput, NoteKind, ToolCall,
    dialect::picoclaw::DIALECT,
    event::{AfterLlm, AgentEvent, BeforeLlm, Input, PermissionRequest, PostToolUse, PreToolUse},
};
use serde_json::{Value, json};

const MEBIBYTE: usize = 1024 * 1024;

fn decode(line: &Value) -> Event {
    DIALECT.decode_event(line.to_string().as_bytes(), None).unwrap()
}

fn request(method: &str, params: &Value) -> Event {
    decode(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }))
}

fn said(event: &Event, result: &Value) -> HookOutput {
    DIALECT.decode_output(event, result.as_object().unwrap()).unwrap().0
}

/// Returns the `result` of the reply and the kinds of notes for the output of one hook.
fn reply(event: &Event, result: &Value) -> (Value, Vec<NoteKind>) {
    let outcome = DIALECT.merge(event, &[said(event, result)]);
    let line = DIALECT.encode_outcome(event, &outcome.output).unwrap();
    assert!(line.to_string().len() + 1 < MEBIBYTE, "the client's reader dies of this line");
    (line["result"].clone(), outcome.notes.iter().map(|(_, note)| note.kind).collect())
}

/// decisions.md#the-real-picoclaw: "Ids are integers; a string id or `2.0` is dropped."
#[test]
fn an_envelope_the_client_would_not_read_is_an_error() {
    let good = json!({ "jsonrpc": "2.0", "id": 1, "method": "hook.before_tool", "params": { "tool": "exec" } });
    decode(&good);
    for (key, value, pointer) in [
        ("id", json!("1"), "/id"),
        ("id", json!(2.0), "/id"),
        ("id", json!(-1), "/id"),
        ("jsonrpc", json!("1.0"), "/jsonrpc"),
        ("jsonrpc", json!(2.0), "/jsonrpc"),
        ("jsonrpc", Value::Null, "/jsonrpc"),
        ("method", json!(4), "/method"),
        ("params", json!([]), "/params"),
    ] {
        let mut line = good.clone();
        line[key] = value;
        match DIALECT.decode_event(line.to_string().as_bytes(), None) {
            Err(DecodeError::Type { pointer: found, .. }) => assert_eq!(found, pointer, "{line}"),
            other => panic!("{line}: {other:?}"),
        }
    }
    for key in ["jsonrpc", "method"] {
        let mut line = good.clone();
        line.as_object_mut().unwrap().shift_remove(key);
        let error = DIALECT.decode_event(line.to_string().as_bytes(), None);
        assert!(matches!(error, Err(DecodeError::Missing { .. })), "{line}: {error:?}");
    }
}

#[test]
fn a_parameter_of_another_type_is_left_untyped() {
    for (params, place) in [
        (json!({ "tool": "exec", "duration": "long" }), "/params/duration"),
        (json!({ "tool": "exec", "meta": "main" }), "/params/meta"),
        (json!({ "tool": "exec", "meta": { "TurnID": 4 } }), "/params/meta/TurnID"),
        (json!({ "tool": "exec", "context": { "inbound": [] } }), "/params/context/inbound"),
    ] {
        let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "hook.after_tool", "params": params });
        let event = DIALECT.decode_event(line.to_string().as_bytes(), None).expect("an event");
        assert!(matches!(&*event.notes, [note] if note.text.starts_with(&format!("{place}: expected"))), "{event:?}");
        assert_eq!(DIALECT.encode_event(&event), line);
    }
}

#[test]
fn a_missing_or_wrong_parameter_is_an_error_with_its_place() {
    for (method, params, place) in [
        ("hook.before_tool", json!({ "arguments": {} }), "/params/tool"),
        ("hook.approve_tool", json!({}), "/params/tool"),
        ("hook.before_tool", json!({ "tool": 1 }), "/params/tool"),
        ("hook.event", json!({ "Payload": {} }), "/params/Kind"),
        ("hook.event", json!({ "Kind": [] }), "/params/Kind"),
        ("hook.runtime_event", json!({ "Kind": "x" }), "/params/kind"),
    ] {
        let line = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let error = DIALECT.decode_event(line.to_string().as_bytes(), None).expect_err(method);
        assert!(error.to_string().starts_with(&format!("{place}:")), "{error}");
    }
}

/// decisions.md#the-real-picoclaw: "`hook.event` (≤ v0.2.8 with an integer `Kind`, 0 = `turn_start`, 8 =
/// `tool_exec_start`)".
#[test]
fn integer_kinds_have_their_names() {
    for (number, name) in [(0, "turn_start"), (8, "tool_exec_start"), (18, "error"), (19, "event_kind(19)")] {
        let line = json!({ "jsonrpc": "2.0", "method": "hook.event", "params": { "Kind": number } });
        let event = decode(&line);
        assert!(matches!(&event.input, Input::AgentEvent(AgentEvent { kind: Some(kind), .. }) if kind == name));
        assert_eq!(DIALECT.encode_event(&event), line);
    }
}

#[test]
fn the_origin_is_read_from_wherever_the_version_puts_it() {
    let meta = json!({ "AgentID": "a", "TurnID": "t", "ParentTurnID": "", "SessionKey": "s", "Iteration": 3 });
    let expected = EventContext {
        session_id: Some("s".into()),
        agent_id: Some("a".into()),
        turn_id: Some("t".into()),
        parent_turn_id: Some(String::new()),
        iteration: Some(3),
        channel: Some("cli".into()),
        chat_id: Some("direct".into()),
        ..EventContext::default()
    };
    let top = json!({ "tool": "exec", "meta": meta, "channel": "cli", "chat_id": "direct" });
    let inbound = json!({ "channel": "cli", "chat_id": "direct" });
    let context = json!({ "tool": "exec", "meta": meta, "context": { "inbound": inbound } });
    for params in [top, context] {
        assert_eq!(request("hook.before_tool", &params).context, expected);
    }
    let scope = json!({ "agent_id": "a", "session_key": "s", "turn_id": "t", "channel": "cli", "chat_id": "direct" });
    let event = request("hook.runtime_event", &json!({ "kind": "agent.turn.start", "scope": scope, "time": "now" }));
    let expected = EventContext { parent_turn_id: None, iteration: None, timestamp: Some("now".into()), ..expected };
    assert_eq!(event.context, expected);
}

fn typed(name: &str, call: Option<ToolCall>, input: Input) -> Event {
    let context = EventContext {
        session_id: Some("s".into()),
        turn_id: Some("t".into()),
        channel: Some("cli".into()),
        ..EventContext::default()
    };
    Event {
        name: name.into(),
        context,
        call,
        input,
        extra: hookbox_protocol::event::Fields::default(),
        raw: hookbox_protocol::event::Raw::default(),
        notes: Vec::new(),
    }
}

#[test]
fn an_event_that_never_came_over_a_wire_is_written_as_the_client_would() {
    let call = || Some(ToolCall::new("exec", json!({ "command": "ls" })));
    let meta = json!({ "TurnID": "t", "SessionKey": "s" });
    let result = json!({ "for_llm": "hi" });
    for (event, params) in [
        (
            typed("hook.before_tool", call(), Input::PreToolUse(PreToolUse {})),
            json!({ "meta": meta, "tool": "exec", "arguments": { "command": "ls" }, "channel": "cli" }),
        ),
        (
            typed("hook.approve_tool", call(), Input::PermissionRequest(PermissionRequest::default())),
            json!({ "meta": meta, "tool": "exec", "arguments": { "command": "ls" }, "channel": "cli" }),
        ),
        (
            typed(
                "hook.after_tool",
                call(),
                Input::PostToolUse(PostToolUse { output: Some(result.clone().into()), duration_ns: Some(5) }),
            ),
            json!({ "meta": meta, "tool": "exec", "arguments": { "command": "ls" }, "result": result, "duration": 5,
                    "channel": "cli" }),
        ),
        (
            typed(
                "hook.before_llm",
                None,
                Input::BeforeLlm(BeforeLlm { model: Some("m".into()), ..BeforeLlm::default() }),
            ),
            json!({ "meta": meta, "model": "m", "channel": "cli" }),
        ),
        (
            typed("hook.after_llm", None, Input::AfterLlm(AfterLlm { model: None, response: Some(json!({}).into()) })),
            json!({ "meta": meta, "response": {}, "channel": "cli" }),
        ),
    ] {
        let line = DIALECT.encode_event(&event);
        assert_eq!(line, json!({ "jsonrpc": "2.0", "id": 1, "method": event.name, "params": params }));
        let back = decode(&line);
        assert_eq!((&back.context, &back.call, &back.input), (&event.context, &event.call, &event.input));
        // The reply has an id, with or without the event's line.
        for event in [&event, &Event { raw: line.into(), ..event.clone() }] {
            assert_eq!(DIALECT.encode_outcome(event, &HookOutput::default()).unwrap()["id"], 1);
        }
    }
    let event = typed(
        "hook.runtime_event",
        None,
        Input::AgentEvent(AgentEvent {
            kind: Some("agent.turn.start".into()),
            payload: Some(json!({ "a": 1 }).into()),
        }),
    );
    let params = json!({ "kind": "agent.turn.start", "payload": { "a": 1 },
                         "scope": { "session_key": "s", "turn_id": "t", "channel": "cli" } });
    let line = json!({ "jsonrpc": "2.0", "method": "hook.runtime_event", "params": params });
    assert_eq!(DIALECT.encode_event(&event), line);
}

#[test]
fn a_rewrite_keeps_the_origin_of_an_event_that_never_came_over_a_wire() {
    let call = ToolCall::new("exec", json!({ "command": "ls" }));
    let mut event = typed("hook.before_tool", Some(call), Input::PreToolUse(PreToolUse {}));
    event.raw = DIALECT.encode_event(&event).into();
    let mut expected = (*event.raw).clone();
    expected["params"]["arguments"] = json!({ "command": "pwd" });
    DIALECT.rewrite(&mut event, &HookOutput { updated: Some(json!({ "command": "pwd" })), ..HookOutput::default() });
    assert_eq!(*event.raw, expected);
}

/// A component's output is checked only here. A rewrite is applied as a whole or not at all.
#[test]
fn a_rewrite_that_the_client_cannot_read_is_dropped_and_reported() {
    let mut event = request("hook.before_tool", &json!({ "tool": "exec", "arguments": {} }));
    let broken = HookOutput { updated: Some(json!("ls")), updated_tool: Some("other".into()), ..HookOutput::default() };
    let before = event.clone();
    DIALECT.rewrite(&mut event, &broken);
    assert_eq!(event, before);
    let outcome = DIALECT.merge(&event, &[broken]);
    assert_eq!(outcome.notes.len(), 1);
    assert_eq!(outcome.notes[0].0, Some(0));
    assert_eq!(DIALECT.encode_outcome(&event, &outcome.output).unwrap()["result"], json!({ "action": "continue" }));
}

/// decisions.md#picoclaw: "A rewrite that is too long for the client's reader is never dropped silently: a call is
/// denied, a result is withheld, and a request or a response of the model ends the turn."
#[test]
fn a_rewrite_too_long_for_the_client_is_never_passed_over() {
    let long = "x".repeat(MEBIBYTE);
    let said = |method: &str, params: Value, output: Value| {
        let (result, notes) = reply(&request(method, &params), &output);
        assert_eq!(notes, [NoteKind::Degraded], "{method}");
        assert!(result.to_string().len() < 1000, "{method}");
        result
    };
    let call = json!({ "tool": "exec", "arguments": {} });
    let denied = said("hook.before_tool", call, json!({ "action": "modify", "call": { "arguments": { "c": long } } }));
    assert_eq!(denied["action"], "deny_tool");
    let result = json!({ "tool": "exec", "result": { "for_llm": "a secret", "for_user": "a secret" } });
    let kept = said("hook.after_tool", result, json!({ "action": "modify", "result": { "for_llm": long } }));
    assert_eq!(kept["action"], "modify");
    assert!(!kept.to_string().contains("a secret"), "{kept}");
    let request = json!({ "model": "m", "messages": [] });
    let ended = said("hook.before_llm", request, json!({ "action": "modify", "request": { "messages": [long] } }));
    assert_eq!(ended["action"], "abort_turn");
    let response = json!({ "model": "m", "response": { "content": "a secret" } });
    let ended = said("hook.after_llm", response, json!({ "action": "modify", "response": { "content": long } }));
    assert_eq!(ended["action"], "abort_turn");
}

/// decisions.md#the-real-picoclaw: "a block is never lost for its size: its reason is cut".
#[test]
fn a_block_too_long_for_the_client_keeps_blocking() {
    let reason = "x".repeat(2 * MEBIBYTE);
    let event = request("hook.before_tool", &json!({ "tool": "exec" }));
    for action in ["deny_tool", "abort_turn", "hard_abort"] {
        let (result, _) = reply(&event, &json!({ "action": action, "reason": reason }));
        assert_eq!(result["action"], action);
        assert!(result["reason"].as_str().unwrap().starts_with("xxxx"));
    }
    let long = json!({ "action": "respond", "result": { "for_llm": reason } });
    assert_eq!(reply(&event, &long).0["action"], "deny_tool");
    let event = request("hook.approve_tool", &json!({ "tool": "exec" }));
    assert_eq!(reply(&event, &json!({ "approved": false, "reason": reason })).0["approved"], false);
    let (result, notes) = reply(&event, &json!({ "approved": true, "essay": reason }));
    assert_eq!((result, notes), (json!({ "approved": true }), vec![NoteKind::Dropped]));
}

/// The limit counts the bytes of the written line, including escapes and the newline.
#[test]
fn the_longest_line_the_client_reads_is_not_cut() {
    let event = request("hook.before_tool", &json!({ "tool": "exec" }));
    let frame = DIALECT.encode_outcome(&event, &HookOutput::decided(Decision::Deny, "")).unwrap().to_string().len() + 1;
    for (length, whole) in [(MEBIBYTE - frame - 1, true), (MEBIBYTE - frame, false)] {
        let (result, _) = reply(&event, &json!({ "action": "deny_tool", "reason": "x".repeat(length) }));
        assert_eq!(result["reason"].as_str().unwrap().len() == length, whole, "{length}");
    }
}

/// A component may return a tool's result as a text, but the client needs an object.
#[test]
fn a_text_replaces_a_result() {
    let merge = |result: Value| {
        let event = request("hook.after_tool", &json!({ "tool": "exec", "result": result }));
        let outcome = DIALECT.merge(&event, &[HookOutput { updated: Some(json!("***")), ..HookOutput::default() }]);
        DIALECT.encode_outcome(&event, &outcome.output).unwrap()["result"]["result"]["result"].clone()
    };
    let both = json!({ "for_llm": "key", "for_user": "key", "silent": true });
    assert_eq!(merge(both), json!({ "for_llm": "***", "for_user": "***", "silent": true }));
    let one = json!({ "for_llm": "key", "for_user": "done" });
    assert_eq!(merge(one), json!({ "for_llm": "***", "for_user": "done" }));
}

#[test]
fn own_failures_block_by_method() {
    let line = |method: &str, id: Value| {
        // The line has a fault after its head: a repeated parameter.
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"tool":"a","tool":"b"}}}}"#)
    };
    let resort =
        |text: &str| DIALECT.fail_closed(text.as_bytes(), None, "why").stdout.map(|line| line["result"].clone());
    for (method, expected) in [
        ("hook.before_tool", json!({ "action": "deny_tool", "reason": "why" })),
        ("hook.approve_tool", json!({ "approved": false, "reason": "why" })),
        ("hook.before_llm", json!({ "action": "abort_turn", "reason": "why" })),
        ("hook.after_llm", json!({ "action": "abort_turn", "reason": "why" })),
        ("hook.after_tool", json!({ "action": "abort_turn", "reason": "why" })),
        ("hook.later", json!({ "action": "abort_turn", "reason": "why" })),
    ] {
        assert_eq!(resort(&line(method, json!(3))), Some(expected), "{method}");
        assert_eq!(resort(&line(method, json!(0))), None, "{method}");
        assert_eq!(resort(&line(method, json!("3"))), None, "{method}");
    }
    assert_eq!(resort(&line("hook.event", json!(3))), None);
    assert_eq!(resort("not json"), None);
    let deep =
        format!(r#"{{"id":3,"method":"hook.before_tool","params":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(resort(&deep), Some(json!({ "action": "deny_tool", "reason": "why" })));
}

#[test]
fn the_handshake_has_a_row_and_later_methods_another() {
    assert_eq!(DIALECT.spec_by_name("hook.hello").unwrap().kind, EventKind::OtherEvent);
    assert!(!DIALECT.spec_by_name("hook.hello").unwrap().blockable);
    assert!(DIALECT.spec(EventKind::OtherEvent).blockable);
}
