//! Every event reaches a component, and every kind of decision comes back.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fmt::Write;

use hookbox_protocol::{Cause, Decision, Event, EventKind, HookOutput, event::Input};
use hookbox_sandbox::{Component, Limits};
use hookbox_testing::guest::{self, call, claude, context, encode, event, failure, load, output};
use serde_json::json;

/// A component that handles all events. Its `handle` returns the value at address 0, which is an empty decision.
fn handles_everything() -> Component {
    let (mut world, mut exports) = (String::new(), String::new());
    for kind in EventKind::ALL {
        let interface = format!("hookbox:hooks/{}@0.2.0", kind.interface());
        write!(world, "export {interface};").unwrap();
        write!(exports, r#"(export "{interface}#handle" (func $handle))"#).unwrap();
    }
    let module = format!(
        r#"(module (memory (export "memory") 1) {exports}
            (func $handle (param i32) (result i32) (i32.const 0))
            (global $free (mut i32) (i32.const 1024))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (global.get $free)
                (global.set $free (i32.and (i32.add (i32.add (global.get $free) (local.get 3)) (i32.const 15)) (i32.const -16)))))"#
    );
    load(&encode(&module, &world, "")).unwrap()
}

fn event_of(kind: EventKind) -> Event {
    Event { name: kind.name().into(), input: Input::empty(kind), ..event() }
}

#[tokio::test]
async fn every_event_has_an_interface() {
    let component = handles_everything();
    assert_eq!(component.handles().len(), EventKind::ALL.len());
    for kind in EventKind::ALL {
        let context = context(Limits::default(), std::time::Duration::from_secs(10));
        let report = component.call(&event_of(*kind), claude(), context).await;
        assert_eq!(report.result, Ok(Box::default()), "{kind:?}");
    }
}

#[tokio::test]
async fn an_event_it_does_not_handle_is_not_sent_to_it() {
    let component = guest::load_gate("", "");
    let context = context(Limits::default(), std::time::Duration::from_secs(10));
    let report = component.call(&event_of(EventKind::Stop), claude(), context).await;
    assert_eq!(report.result.unwrap_err().to_string(), "load: does not handle Stop");
}

// Offsets in `result<decision, fault>` of pre-tool-use, by the canonical ABI.
const RULE: u32 = 4;
const REASON: u32 = 8;
const UPDATED_INPUT: u32 = 44;
const CONTEXT: u32 = 68;
const SUPPRESS: u32 = 92;
const HALT: u32 = 96;
const EXTRA: u32 = 116;

/// Writes a text (at 4096 in memory) into the optional field at this address.
fn text(at: u32, text: &str) -> (String, String) {
    let mut data = String::new();
    for byte in text.bytes() {
        write!(data, "\\{byte:02x}").unwrap();
    }
    (
        format!(
            "(call $say (i32.const {at}) (i32.const {at}) (i32.const 4096) (i32.const {}))
                 (i32.store (i32.const {}) (i32.const 4096)) (i32.store (i32.const {}) (i32.const {}))",
            text.len(),
            at + 4,
            at + 8,
            text.len()
        ),
        format!(r#"(data (i32.const 4096) "{data}")"#),
    )
}

#[tokio::test]
async fn decisions_are_returned_with_their_reason() {
    let (reason, data) = text(REASON, "because");
    for (case, decision) in [(1, Decision::Allow), (2, Decision::Ask), (3, Decision::Deny), (4, Decision::Skip)] {
        let body = format!("{reason} (i32.store8 (i32.const {RULE}) (i32.const {case}))");
        assert_eq!(output(&body, &data).await, HookOutput::decided(decision, "because"));
    }
}

#[tokio::test]
async fn a_response_is_the_tools_result() {
    let body = format!(
        "(i32.store8 (i32.const {RULE}) (i32.const 5)) (i32.store (i32.const 8) (i32.const 4096))
         (i32.store (i32.const 12) (i32.const 4)) (i32.store8 (i32.const 29) (i32.const 1))"
    );
    let output = output(&body, r#"(data (i32.const 4096) "done")"#).await;
    assert_eq!(output.decision, Some(Decision::Respond(json!({"for_llm": "done", "silent": false, "is_error": true}))));
}

#[tokio::test]
async fn effects_are_returned() {
    let (context, data) = text(CONTEXT, "look");
    let body = format!(
        "{context} (i32.store8 (i32.const {SUPPRESS}) (i32.const 1))
         (i32.store8 (i32.const {HALT}) (i32.const 1)) (i32.store8 (i32.const {}) (i32.const 1))",
        HALT + 4
    );
    let output = output(&body, &data).await;
    assert_eq!(output.context.as_deref(), Some("look"));
    assert!(output.suppress_output);
    assert_eq!(output.halt.unwrap().scope, hookbox_protocol::Scope::Session);
}

#[tokio::test]
async fn a_rewrite_is_an_object() {
    let (body, data) = text(UPDATED_INPUT, r#"{"command":"ls -l"}"#);
    assert_eq!(output(&body, &data).await.updated, Some(json!({"command": "ls -l"})));
}

#[tokio::test]
async fn json_that_is_not_json_is_a_failure_that_names_the_field() {
    for (bad, why) in [
        ("{", "not valid JSON"),
        ("", "not valid JSON"),
        (r#"{"a":1,"a":2}"#, "appears twice"),
        ("[1]", "expected an object, found an array of 1"),
        ("null", "expected an object, found null"),
    ] {
        for (at, field) in [(UPDATED_INPUT, "updated-input"), (EXTRA, "extra")] {
            let (body, data) = text(at, bad);
            let failure = failure(&body, &data).await;
            assert_eq!(failure.cause, Cause::BadOutput);
            assert!(failure.message.starts_with(&format!("`{field}`: ")) && failure.message.contains(why), "{failure}");
        }
    }
}

#[tokio::test]
async fn extra_cannot_decide() {
    let (body, data) = text(EXTRA, r#"{"hookSpecificOutput":{"permissionDecision":"allow","new":1},"continue":false}"#);
    let report = call(&guest::load_gate(&body, &data), Limits::default()).await;
    let output = report.result.unwrap();
    assert_eq!(serde_json::Value::Object(output.extra), json!({"hookSpecificOutput": {"new": 1}}));
    assert_eq!(report.notes.len(), 2);
}

#[tokio::test]
async fn a_fault_is_a_failure_of_the_hook() {
    // `err` at 0, the fault's case at 4, its text at 8.
    let body = "(i32.store8 (i32.const 0) (i32.const 1)) (i32.store (i32.const 8) (i32.const 4096)) (i32.store (i32.const 12) (i32.const 9))";
    let failure = failure(body, r#"(data (i32.const 4096) "no Config")"#).await;
    assert_eq!(failure.to_string(), "guest-error: no Config");
}
