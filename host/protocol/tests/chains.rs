//! The original input of a call that an earlier hook of a chain rewrote.
#![allow(clippy::unwrap_used)]

use hookbox_protocol::{HookOutput, dialect::by_name};
use serde_json::json;

/// types.wit: "The arguments before an earlier hook rewrote them, if the dialect has them: under blade-callback, picoclaw,
/// copilot and gemini, where hooks see each other's rewrites, and if the client sends them."
#[test]
fn the_next_hook_finds_the_original_input() {
    for (dialect, wire) in [
        ("blade-callback", r#"{"event":"PreToolUse","toolName":"T","toolInput":{"a":1}}"#),
        ("copilot", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"a":1}}"#),
        ("copilot", r#"{"sessionId":"s","toolName":"T","toolArgs":"{\"a\":1}"}"#),
        ("gemini", r#"{"hook_event_name":"BeforeTool","tool_name":"T","tool_input":{"a":1}}"#),
        (
            "picoclaw",
            r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_tool","params":{"tool":"T","arguments":{"a":1}}}"#,
        ),
    ] {
        let dialect = by_name(dialect).unwrap();
        let mut event = dialect.decode_event(wire.as_bytes(), None).unwrap();
        for (updated, original) in
            [(json!({ "a": 1 }), None), (json!({ "a": 2 }), Some(1)), (json!({ "a": 3 }), Some(1))]
        {
            dialect.rewrite(&mut event, &HookOutput { updated: Some(updated.clone()), ..HookOutput::default() });
            let call = event.call.as_ref().unwrap();
            let found = call.original_input.as_ref().map(|input| input["a"].clone());
            assert_eq!((&*call.input, found), (&updated, original.map(Into::into)), "{}", dialect.name());
        }
    }
}
