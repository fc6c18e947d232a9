//! Tests of hooks from the host's point of view: their inputs and outputs.

use serde_json::json;

use crate::bindings::post_tool_use::exports::hookbox::hooks::post_tool_use as post;
use crate::bindings::pre_tool_use::exports::hookbox::hooks::pre_tool_use as pre;
use crate::bindings::session_start::exports::hookbox::hooks::session_start as start;
use crate::bindings::shared::hookbox::hooks::types as wit;
use crate::prelude::*;

struct Hook;

impl PreToolUse for Hook {
    fn handle(_: &EventContext, call: &ToolCall) -> Result<Output> {
        match call.name.as_str() {
            "blind" => Ok(pass()),
            "look" => Ok(call.input.str("/command").map_or_else(pass, deny)),
            "raw" => Ok(raw_event().str("/x").map_or_else(pass, ask)),
            "rewrite" => Ok(allow().rewrite(call.input.with("/b", 2)?).tool("other").reason("why")),
            "respond" => {
                Ok(respond(Response::new("for the model").for_user("for you").error().extra(json!({"media": []}))))
            }
            "effects" => Ok(pass()
                .context("one")
                .context("two")
                .system_message("careful")
                .suppress_output()
                .extra(json!({"x": 1}))
                .end_session("over")),
            _ => Err("unknown".into()),
        }
    }
}

impl PostToolUse for Hook {
    fn handle(_: &EventContext, _: &ToolCall, output: &post_tool_use::ToolOutput) -> Result<post_tool_use::Output> {
        Ok(block("no").rewrite(output.value.with("/secret", "***")?))
    }
}

impl SessionStart for Hook {
    fn handle(_: &EventContext, _: &session_start::Event) -> Result<session_start::Output> {
        Ok(pass().env("A", "1").env("B", "2").end_turn(""))
    }
}

fn context() -> wit::EventContext {
    wit::EventContext {
        dialect: "claude".into(),
        event_name: "PreToolUse".into(),
        session_id: None,
        transcript_path: None,
        cwd: None,
        permission_mode: None,
        project_dir: None,
        execution_id: None,
        timestamp: None,
        agent_id: None,
        parent_tool_use_id: None,
        turn_id: None,
        parent_turn_id: None,
        iteration: None,
        channel: None,
        chat_id: None,
    }
}

fn call(name: &str, input: &str) -> wit::ToolCall {
    wit::ToolCall { name: name.into(), input: input.into(), use_id: None, original_input: None }
}

fn decide(name: &str, input: &str) -> Result<pre::Output, wit::Fault> {
    <Hook as pre::Guest>::handle(context(), call(name, input))
}

fn effects() -> wit::Effects {
    wit::Effects { context: None, system_message: None, suppress_output: false, halt: None, extra: None }
}

fn decision(decision: pre::Decision) -> pre::Output {
    pre::Output { decision, updated_input: None, updated_tool: None, effects: effects() }
}

#[test]
fn input_is_read_and_the_decision_arrives() {
    assert_eq!(decide("look", r#"{"command":"ls"}"#), Ok(decision(pre::Decision::Deny(Some("ls".into())))));
    assert_eq!(decide("look", "{}"), Ok(decision(pre::Decision::Pass)));
}

#[test]
fn an_empty_reason_is_left_out() {
    assert_eq!(decide("look", r#"{"command":""}"#), Ok(decision(pre::Decision::Deny(None))));
}

#[test]
fn reading_invalid_json_fails_the_call() {
    assert!(matches!(decide("look", r#"{"command":"#), Err(wit::Fault::BadInput(_))));
    // This hook did not read the input, so its output is valid.
    assert_eq!(decide("blind", "{"), Ok(decision(pre::Decision::Pass)));
}

#[test]
fn a_fault_is_a_fault() {
    assert_eq!(decide("", "{}"), Err(wit::Fault::Failed("unknown".into())));
}

#[test]
fn a_rewrite_keeps_the_order_of_members() {
    let decision = pre::Output {
        updated_input: Some(r#"{"z":1,"b":2,"a":[]}"#.into()),
        updated_tool: Some("other".into()),
        ..decision(pre::Decision::Allow(Some("why".into())))
    };
    assert_eq!(decide("rewrite", r#"{ "z": 1, "b": 1, "a": [] }"#), Ok(decision));
}

#[test]
fn a_response_arrives_whole() {
    let response = pre::Response {
        for_llm: "for the model".into(),
        for_user: Some("for you".into()),
        silent: false,
        is_error: true,
        extra: Some(r#"{"media":[]}"#.into()),
    };
    assert_eq!(decide("respond", "{}"), Ok(decision(pre::Decision::Respond(response))));
}

#[test]
fn effects_arrive_whole() {
    let effects = wit::Effects {
        context: Some("one\ntwo".into()),
        system_message: Some("careful".into()),
        suppress_output: true,
        halt: Some(wit::Halt { scope: wit::Scope::Session, reason: Some("over".into()) }),
        extra: Some(r#"{"x":1}"#.into()),
    };
    assert_eq!(decide("effects", "{}"), Ok(pre::Output { effects, ..decision(pre::Decision::Pass) }));
}

#[test]
fn a_block_and_a_new_output_go_together() {
    let output = post::ToolOutput { value: r#"{"secret":"x"}"#.into(), duration_ns: None };
    let decision = post::Output {
        decision: wit::BlockDecision::Block(Some("no".into())),
        updated_output: Some(r#"{"secret":"***"}"#.into()),
        effects: effects(),
    };
    assert_eq!(<Hook as post::Guest>::handle(context(), call("Bash", "{}"), output), Ok(decision));
}

#[test]
fn a_session_gets_its_environment() {
    let event = start::Event { source: None, is_resume: None, resume_session_id: None };
    let halt = Some(wit::Halt { scope: wit::Scope::Turn, reason: None });
    let decision = start::Output {
        env: vec![("A".into(), "1".into()), ("B".into(), "2".into())],
        effects: wit::Effects { halt, ..effects() },
    };
    assert_eq!(<Hook as start::Guest>::handle(context(), event), Ok(decision));
}
