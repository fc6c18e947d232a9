//! The hook as the host sees it: what it is given, and what it gets back.

use serde_json::json;

use crate::bindings::post_tool_use::exports::hookbox::hooks::post_tool_use as post;
use crate::bindings::pre_tool_use::exports::hookbox::hooks::pre_tool_use as pre;
use crate::bindings::session_start::exports::hookbox::hooks::session_start as start;
use crate::bindings::shared::hookbox::hooks::types as wit;
use crate::prelude::*;

struct Hook;

impl PreToolUse for Hook {
    fn handle(origin: &Origin, call: &ToolCall) -> Result<Decision> {
        match call.name.as_str() {
            "blind" => Ok(pass()),
            "look" => Ok(call.input.str("/command").map_or_else(pass, deny)),
            "raw" => Ok(origin.raw.str("/x").map_or_else(pass, ask)),
            "rewrite" => Ok(allow().rewrite(call.input.with("/b", 2)?).tool("other").reason("why")),
            "respond" => Ok(respond(Response::new("for the model").for_user("for you").error())),
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
    fn handle(_: &Origin, _: &ToolCall, outcome: &post_tool_use::Outcome) -> Result<post_tool_use::Decision> {
        Ok(block("no").rewrite(outcome.output.with("/secret", "***")?))
    }
}

impl SessionStart for Hook {
    fn handle(_: &Origin, _: &session_start::Event) -> Result<session_start::Decision> {
        Ok(pass().env("A", "1").env("B", "2").end_turn(""))
    }
}

fn origin(raw: &str) -> wit::Origin {
    wit::Origin {
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
        turn_id: None,
        parent_turn_id: None,
        iteration: None,
        channel: None,
        chat_id: None,
        raw: raw.into(),
    }
}

fn call(name: &str, input: &str) -> wit::ToolCall {
    wit::ToolCall { name: name.into(), input: input.into(), use_id: None }
}

fn decide(name: &str, input: &str) -> Result<pre::Decision, wit::Fault> {
    <Hook as pre::Guest>::handle(origin("{}"), call(name, input))
}

fn effects() -> wit::Effects {
    wit::Effects { context: None, system_message: None, suppress_output: false, halt: None, extra: None }
}

fn rule(rule: pre::Rule) -> pre::Decision {
    pre::Decision { rule, updated_input: None, updated_tool: None, effects: effects() }
}

#[test]
fn input_is_read_and_the_decision_arrives() {
    assert_eq!(decide("look", r#"{"command":"ls"}"#), Ok(rule(pre::Rule::Deny(Some("ls".into())))));
    assert_eq!(decide("look", "{}"), Ok(rule(pre::Rule::Pass)));
}

#[test]
fn an_empty_reason_is_none() {
    assert_eq!(decide("look", r#"{"command":""}"#), Ok(rule(pre::Rule::Deny(None))));
}

#[test]
fn a_hook_that_looked_at_what_cannot_be_read_has_not_answered() {
    assert!(matches!(decide("look", r#"{"command":"#), Err(wit::Fault::BadInput(_))));
    assert!(matches!(<Hook as pre::Guest>::handle(origin("{"), call("raw", "{}")), Err(wit::Fault::BadInput(_))));
    // It did not look: its answer does not depend on it.
    assert_eq!(decide("blind", "{"), Ok(rule(pre::Rule::Pass)));
}

#[test]
fn a_fault_is_a_fault() {
    assert_eq!(decide("", "{}"), Err(wit::Fault::Failed("unknown".into())));
}

#[test]
fn a_rewrite_keeps_the_order_of_what_it_copies() {
    let decision = pre::Decision {
        updated_input: Some(r#"{"z":1,"b":2,"a":[]}"#.into()),
        updated_tool: Some("other".into()),
        ..rule(pre::Rule::Allow(Some("why".into())))
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
    };
    assert_eq!(decide("respond", "{}"), Ok(rule(pre::Rule::Respond(response))));
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
    assert_eq!(decide("effects", "{}"), Ok(pre::Decision { effects, ..rule(pre::Rule::Pass) }));
}

#[test]
fn a_block_and_a_new_output_go_together() {
    let outcome = post::Outcome { output: r#"{"secret":"x"}"#.into(), duration_ns: None };
    let decision = post::Decision {
        rule: wit::Gate::Block(Some("no".into())),
        updated_output: Some(r#"{"secret":"***"}"#.into()),
        effects: effects(),
    };
    assert_eq!(<Hook as post::Guest>::handle(origin("{}"), call("Bash", "{}"), outcome), Ok(decision));
}

#[test]
fn a_session_gets_its_environment() {
    let event = start::Event { source: None, is_resume: None, resume_session_id: None };
    let halt = Some(wit::Halt { scope: wit::Scope::Turn, reason: None });
    let decision = start::Decision {
        env: vec![("A".into(), "1".into()), ("B".into(), "2".into())],
        effects: wit::Effects { halt, ..effects() },
    };
    assert_eq!(<Hook as start::Guest>::handle(origin("{}"), event), Ok(decision));
}
