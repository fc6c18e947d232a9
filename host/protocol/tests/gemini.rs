//! Tests of gemini: outputs that only a component can have, and hookbox's own failures.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_protocol::{
    Decision, Dialect, Event, HookOutput,
    degrade::degrade,
    dialect::gemini::DIALECT,
    event::{BeforeLlm, EventContext, Input},
    matcher::Matcher,
};
use serde_json::{Value, json};

fn event(wire: &Value) -> Event {
    DIALECT.decode_event(wire.to_string().as_bytes(), None).unwrap()
}

fn request(extra: &Value) -> Value {
    let mut wire = json!({ "hook_event_name": "BeforeModel", "llm_request": {
        "model": "m", "messages": [{ "role": "user", "content": "KEY=1" }], "config": { "temperature": 1 }, "later": [1] } });
    wire.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    wire
}

fn wire(event: &Event, outputs: &[HookOutput]) -> Option<Value> {
    let sayable = |output: &HookOutput| {
        let mut output = output.clone();
        degrade(DIALECT.spec_of(event), &mut output);
        output
    };
    let outputs: Vec<HookOutput> = outputs.iter().map(sayable).collect();
    DIALECT.encode_outcome(event, &DIALECT.merge(event, &outputs).output)
}

fn rewrite(updated: Value) -> HookOutput {
    HookOutput { updated: Some(updated), ..HookOutput::default() }
}

#[test]
fn a_request_is_typed_without_loss() {
    for wire in [
        request(&json!({})),
        request(&json!({ "model": 5, "messages": "at the top", "llm_request.model": "odd", "tools": null })),
        json!({ "hook_event_name": "BeforeModel" }),
        json!({ "hook_event_name": "BeforeModel", "llm_request": {} }),
        json!({ "hook_event_name": "BeforeModel", "llm_request": "text" }),
        json!({ "hook_event_name": "BeforeModel", "llm_request": { "model": null, "config": null } }),
        json!({ "hook_event_name": "AfterModel", "llm_request": { "model": "m" }, "llm_response": null }),
        json!({ "hook_event_name": "AfterModel", "model": "top", "llm_response": { "text": "o" } }),
    ] {
        assert_eq!(DIALECT.encode_event(&event(&wire)), wire);
    }
    let Input::BeforeLlm(input) = event(&request(&json!({}))).input else { panic!() };
    assert_eq!((input.model.as_deref(), input.options), (Some("m"), Some(json!({ "temperature": 1 }).into())));
    let odd = event(&json!({ "hook_event_name": "BeforeModel", "llm_request": { "model": 5 } }));
    assert!(odd.notes.iter().any(|note| note.text.starts_with("/llm_request/model")), "{:?}", odd.notes);
    assert_eq!(DIALECT.encode_event(&odd), *odd.raw);
}

#[test]
fn a_library_users_request_looks_like_the_clients() {
    let input = BeforeLlm { model: Some("m".into()), options: Some(json!({}).into()), ..BeforeLlm::default() };
    let event = Event::new(&DIALECT, EventContext::default(), None, Input::BeforeLlm(input));
    let expected = json!({ "hook_event_name": "BeforeModel", "llm_request": { "model": "m", "config": {} } });
    assert_eq!(*event.raw, expected);
}

#[test]
fn changes_of_several_requests_are_merged() {
    let event = event(&request(&json!({})));
    let whole = |model: &str, text: &str| {
        rewrite(
            json!({ "model": model, "messages": [{ "role": "user", "content": text }], "options": { "temperature": 1 } }),
        )
    };
    let wire = wire(&event, &[whole("m", "KEY=***"), whole("n", "KEY=1")]).unwrap();
    let expected = json!({ "model": "n", "messages": [{ "role": "user", "content": "KEY=***" }] });
    assert_eq!(wire["hookSpecificOutput"]["llm_request"], expected);
}

#[test]
fn the_next_of_sequential_hooks_sees_the_rewrite() {
    let mut event = event(&request(&json!({})));
    DIALECT.rewrite(&mut event, &rewrite(json!({ "model": "n", "options": { "topK": 1 } })));
    assert_eq!(event.raw["llm_request"]["model"], "n");
    assert_eq!(event.raw["llm_request"]["config"], json!({ "topK": 1 }));
    assert_eq!(event.raw["llm_request"]["later"], json!([1]));
    let Input::BeforeLlm(input) = event.input else { panic!() };
    assert_eq!(input.model.as_deref(), Some("n"));
}

#[test]
fn a_new_result_replaces_the_tools() {
    let done = json!({ "hook_event_name": "AfterTool", "tool_name": "read_file", "tool_input": {},
        "tool_response": { "llmContent": "KEY=1", "returnDisplay": "" } });
    let done = event(&done);
    let reason = |outputs: &[HookOutput]| wire(&done, outputs).unwrap()["reason"].clone();
    assert_eq!(reason(&[rewrite(json!({ "llmContent": "KEY=***", "returnDisplay": "" }))]), "KEY=***");
    assert_eq!(reason(&[rewrite(json!("KEY=***"))]), "KEY=***");
    assert_eq!(reason(&[rewrite(json!({ "llmContent": [1] }))]), "{\"llmContent\":[1]}");
    assert_eq!(reason(&[rewrite(json!("safe")), HookOutput::decided(Decision::Deny, "a secret")]), "a secret");
    assert_eq!(wire(&done, &[rewrite(json!(""))]).unwrap()["decision"], "deny");
}

#[test]
fn a_rewrite_that_would_be_ignored_denies() {
    let call = event(&json!({ "hook_event_name": "BeforeTool", "tool_name": "t", "tool_input": {} }));
    let allow = HookOutput { decision: Some(Decision::Allow), ..rewrite(json!("ls")) };
    assert_eq!(wire(&call, &[allow]).unwrap()["decision"], "deny");
    let prompt = event(&json!({ "hook_event_name": "BeforeAgent", "prompt": "KEY=1" }));
    assert_eq!(wire(&prompt, &[rewrite(json!("KEY=***"))]).unwrap()["decision"], "deny");
}

#[test]
fn hooks_without_an_effect_print_nothing() {
    let select = event(&json!({ "hook_event_name": "BeforeToolSelection", "llm_request": {} }));
    let said = HookOutput { context: Some("look".into()), ..HookOutput::decided(Decision::Deny, "no") };
    assert_eq!(wire(&select, &[said]), None);
    assert!(DIALECT.reads_stderr());
    let failure = DIALECT.fail_open();
    assert_eq!((failure.exit, failure.stdout, failure.stderr), (Some(0), None, false));
    assert_eq!(DIALECT.fail_closed(b"{", None, "out of order").exit, Some(2));
}

#[test]
fn extra_of_any_form_does_not_panic() {
    let select = event(&json!({ "hook_event_name": "BeforeToolSelection" }));
    let extra = |extra: Value| HookOutput { extra: extra.as_object().unwrap().clone(), ..HookOutput::default() };
    let config = json!({ "hookSpecificOutput": { "toolConfig": { "mode": 1, "allowedFunctionNames": "a" } } });
    for other in [json!({ "hookSpecificOutput": 5 }), json!({ "hookSpecificOutput": { "toolConfig": [] } })] {
        wire(&select, &[extra(config.clone()), extra(other)]);
    }
}

#[test]
fn matchers_search_tools_and_compare_the_rest() {
    let matcher = |name: &str, pattern: &str| {
        let spec = DIALECT.spec_by_name(name).unwrap();
        Matcher::compile(DIALECT.match_style_of(spec).unwrap(), Some(pattern)).unwrap()
    };
    assert!(matcher("BeforeTool", "shell").matches(Some("run_shell_command")));
    assert!(!matcher("BeforeTool", "Shell").matches(Some("run_shell_command")));
    assert!(!matcher("SessionStart", "start").matches(Some("startup")));
    assert!(matcher("SessionStart", "a(b").matches(Some("a(b")));
}
