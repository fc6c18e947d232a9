//! Translation of other clients' events for hook processes, without losses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_protocol::{
    Decision, Dialect, Event, EventContext, EventKind, HookOutput, NoteKind, ToolCall,
    dialect::{
        ALL,
        picoclaw::{DIALECT, from_result, has_request, to_request},
    },
    event::{Input, Json},
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn event(dialect: &str, wire: &Value) -> Event {
    let dialect = hookbox_protocol::dialect::by_name(dialect).unwrap();
    dialect.decode_event(wire.to_string().as_bytes(), None).unwrap()
}

/// Asserts that the process decodes the event that was sent.
fn arrives(told: &Event) {
    let line = DIALECT.encode_event(told);
    assert_eq!(line, *told.raw);
    let read = DIALECT.decode_event(line.to_string().as_bytes(), None).unwrap();
    assert_eq!((&read.name, &read.input, &read.context), (&told.name, &told.input, &told.context), "{line}");
    assert_eq!(read.call.map(|call| (call.name, call.input)), told.call.clone().map(|call| (call.name, call.input)));
}

fn says(event: &Event, result: &Value) -> (HookOutput, Vec<NoteKind>) {
    let (output, notes) = from_result(event, &to_request(event).unwrap(), result.as_object().unwrap()).unwrap();
    (output, notes.into_iter().map(|note| note.kind).collect())
}

#[test]
fn every_event_kind_is_sent_or_listed_as_unsupported() {
    for dialect in ALL {
        for kind in EventKind::ALL {
            let context =
                EventContext { session_id: Some("s".into()), cwd: Some("/".into()), ..EventContext::default() };
            let call = kind.has_tool().then(|| ToolCall::new("Bash", json!({ "command": "ls" })));
            let event = Event::new(*dialect, context, call, Input::empty(*kind));
            assert_eq!(to_request(&event).is_some(), has_request(*kind), "{} {kind:?}", dialect.name());
            if let Some(told) = to_request(&event) {
                arrives(&told);
                assert_eq!(told.context.session_id.as_deref(), Some("s"));
            }
        }
    }
}

#[test]
fn a_call_without_a_name_or_input_is_sent_complete() {
    let event =
        Event::new(&DIALECT, EventContext::default(), Some(ToolCall::default()), Input::empty(EventKind::PreToolUse));
    let told = to_request(&event).unwrap();
    assert_eq!(told.raw["params"], json!({ "tool": "", "arguments": {} }));
    arrives(&told);
}

#[test]
fn a_result_is_sent_as_text_and_restored() {
    for (output, text) in
        [(json!("file1"), "file1"), (json!({ "stdout": "a" }), r#"{"stdout":"a"}"#), (json!(["a"]), r#"["a"]"#)]
    {
        let wire =
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "tool_response": output });
        let event = event("claude", &wire);
        let told = to_request(&event).unwrap();
        assert_eq!(told.raw["params"]["result"]["for_llm"], text);
        let rewrite = |text: &str| json!({ "action": "modify", "result": { "result": { "for_llm": text } } });
        assert_eq!(says(&event, &rewrite(text)), (HookOutput::default(), Vec::new()), "it changes nothing");
        let new = text.replace('a', "b").replace('1', "2");
        let expected = if output.is_string() { json!(new) } else { serde_json::from_str(&new).unwrap() };
        assert_eq!(says(&event, &rewrite(&new)).0.updated, Some(expected));
        assert_eq!(says(&event, &rewrite("[gone")).0.updated, Some(json!("[gone")));
        let silent = says(&event, &json!({ "action": "modify", "result": { "result": { "silent": true } } }));
        assert_eq!(silent, (HookOutput::default(), vec![NoteKind::Dropped]));
    }
}

/// Gemini CLI writes a model's response in parts.
#[test]
fn an_answer_in_parts_is_sent_as_text_and_restored() {
    let response = |text: &str, parts: Value| {
        let candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
        json!({ "text": text, "candidates": [candidate] })
    };
    let wire = json!({ "hook_event_name": "AfterModel", "llm_request": { "model": "m", "messages": [] },
        "llm_response": response("one two", json!(["one ", { "text": "two" }])) });
    let event = event("gemini", &wire);
    let told = json!({ "role": "assistant", "content": "one two", "tool_calls": [] });
    assert_eq!(to_request(&event).unwrap().raw["params"]["response"], told);
    let rewrite = |response: Value| json!({ "action": "modify", "response": { "model": "m", "response": response } });
    assert_eq!(says(&event, &rewrite(told)), (HookOutput::default(), Vec::new()), "it changes nothing");
    let changed = says(&event, &rewrite(json!({ "role": "assistant", "content": "[gone]" })));
    assert_eq!((changed.0.updated, changed.1), (Some(response("[gone]", json!(["[gone]"]))), Vec::new()));
    let silent = says(&event, &rewrite(json!({ "tool_calls": [] })));
    assert_eq!(silent, (HookOutput::default(), vec![NoteKind::Dropped]));
    // Such a response has no text.
    let wire = json!({ "hook_event_name": "AfterModel", "llm_response": { "choices": [] } });
    let event = self::event("gemini", &wire);
    assert_eq!(to_request(&event).unwrap().raw["params"]["response"], json!({ "choices": [] }));
}

#[test]
fn a_failure_is_sent_as_an_error_result() {
    let wire =
        json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {}, "error": "exit 1" });
    let result = json!({ "for_llm": "exit 1", "for_user": "", "silent": false, "is_error": true });
    assert_eq!(to_request(&event("claude", &wire)).unwrap().raw["params"]["result"], result);
}

#[test]
fn notifications_have_the_clients_kinds() {
    let wire = json!({ "hook_event_name": "SessionStart", "session_id": "s", "source": "startup" });
    let told = to_request(&event("claude", &wire)).unwrap();
    let params = json!({ "Kind": "session_start", "Payload": wire, "Meta": { "SessionKey": "s" } });
    assert_eq!(*told.raw, json!({ "jsonrpc": "2.0", "method": "hook.event", "params": params }));
}

#[test]
fn answers_mean_the_same_in_every_dialect() {
    let call = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let call = event("claude", &call);
    assert_eq!(says(&call, &json!({ "action": "continue" })), (HookOutput::default(), Vec::new()));
    let same = json!({ "action": "modify", "call": { "tool": "Bash", "arguments": { "command": "ls" } } });
    assert_eq!(says(&call, &same), (HookOutput::default(), Vec::new()), "it changes nothing");
    let other = json!({ "action": "modify", "call": { "tool": "Bash", "arguments": { "command": "ls -l" } } });
    let rewritten = HookOutput { updated: Some(json!({ "command": "ls -l" })), ..HookOutput::default() };
    assert_eq!(says(&call, &other), (rewritten, Vec::new()));
    assert_eq!(
        says(&call, &json!({ "action": "deny_tool", "reason": "no" })).0,
        HookOutput::decided(Decision::Deny, "no")
    );
    assert!(says(&call, &json!({ "action": "abort_turn", "reason": "no" })).0.halt.is_some());
    let asked = json!({ "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {} });
    let asked = event("claude", &asked);
    assert_eq!(says(&asked, &json!({ "approved": true })).0.decision, Some(Decision::Allow));
    assert_eq!(says(&asked, &json!({})).0.decision, Some(Decision::Deny));
    // The answer does not follow the protocol, so the hook failed.
    assert!(from_result(&call, &to_request(&call).unwrap(), json!({ "action": 7 }).as_object().unwrap()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(12), ..ProptestConfig::default() })]

    /// The process decodes every neutral event as it was sent.
    #[test]
    fn sent_events_arrive(
        kind in prop::sample::select(EventKind::ALL), tool in ".*", input in any_json(), output in any_json(),
        texts in prop::collection::vec(prop::option::of(".*"), 7), iteration in any::<Option<u32>>(),
    ) {
        let mut texts = texts.into_iter();
        let mut text = || texts.next().flatten();
        let context = EventContext {
            session_id: text(), agent_id: text(), turn_id: text(), parent_turn_id: text(), channel: text(),
            chat_id: text(), cwd: text(), iteration, ..EventContext::default()
        };
        let mut neutral = Input::empty(kind);
        let output = Some(Json::from(output)).filter(|output| !output.is_null());
        match &mut neutral {
            Input::PostToolUse(ran) => ran.output = output,
            Input::AfterLlm(answered) => answered.response = output,
            Input::BeforeLlm(request) => request.messages = output,
            Input::AgentEvent(happened) => happened.kind = Some(tool.clone()),
            _ => {}
        }
        let call = kind.has_tool().then(|| ToolCall::new(tool, input));
        let event = Event::new(&DIALECT, context, call, neutral);
        if let Some(told) = to_request(&event) {
            arrives(&told);
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".*", inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}
