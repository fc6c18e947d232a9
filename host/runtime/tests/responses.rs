//! Responses: what every front end prints, and their JSON for another process.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{path::Path, time::Duration};

use hookbox::{Config, ErrorKind, HookSet, Request, Response, Runtime, Tenant, dialect};
use serde_json::{Value, json};

const EVENT: &[u8] = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;

async fn hooks(config: &Value) -> HookSet {
    let config = Config::parse(&config.to_string(), Path::new("hooks.json"), None).unwrap().config;
    HookSet::builder(&Runtime::builder().build().unwrap(), Tenant::new("acme"), config).lazy().load().await.unwrap()
}

fn gate(script: &str) -> Value {
    json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": script }] }] } })
}

/// The response after serialization to JSON and back.
fn sent(response: &Response) -> Response {
    let text = serde_json::to_string(response).unwrap();
    let read: Response = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    assert_eq!(read.report(), response.report());
    read
}

#[tokio::test]
async fn a_denial_is_on_stdout_with_exit_code_0() {
    let response = hooks(&gate("echo not here >&2; exit 2")).await.decide(Request::new(EVENT)).await;
    let response = sent(&response);
    let stdout: Value = serde_json::from_str(&response.stdout).unwrap();
    assert_eq!(stdout["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!((response.exit_code, response.blocks, response.restricts), (0, true, true));
    assert_eq!((&*response.outcome, response.stderr, response.error), ("deny", None, None));
    assert_eq!(response.undelivered.as_deref(), Some("not here"));
}

#[tokio::test]
async fn an_event_that_cannot_be_read_blocks_where_failures_do() {
    for closed in [true, false] {
        let mut config = gate("true");
        config["failClosed"] = closed.into();
        let hooks = hooks(&config).await;
        for event in ["", "{", r#"{"hook_event_name":"PreToolUse""#, "\u{feff}[]"] {
            let response = hooks.decide(Request::new(event.as_bytes())).await;
            let response = sent(&response);
            assert_eq!(response.error.unwrap().kind, ErrorKind::Event, "{event}");
            assert_eq!((response.blocks, response.exit_code), (closed, if closed { 2 } else { 65 }), "{event}");
            assert_eq!(response.undelivered.is_some(), closed, "{event}");
        }
    }
}

#[tokio::test]
async fn over_http_a_block_is_in_the_body() {
    let mut config = gate("true");
    config["failClosed"] = true.into();
    let hooks = hooks(&config).await;
    let response = hooks.decide(Request::new(br#"{"hook_event_name":"PreToolUse""#).body_only()).await;
    let stdout: Value = serde_json::from_str(&response.stdout).unwrap();
    assert_eq!(stdout["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(response.blocks && response.error.is_some());
    // The event is unknown: the body says what stops any event.
    let response = hooks.decide(Request::new(b"{").body_only()).await;
    let stdout: Value = serde_json::from_str(&response.stdout).unwrap();
    assert_eq!((&stdout["continue"], &stdout["decision"]), (&false.into(), &"block".into()));
    assert!(response.blocks && response.error.is_some(), "{response:?}");
}

#[tokio::test]
async fn hooks_end_before_the_clients_timeout() {
    let mut config = gate("sleep 60");
    config["failClosed"] = true.into();
    let response = hooks(&config).await.decide(Request::new(EVENT).timeout(Some(Duration::from_millis(500)))).await;
    assert!(response.blocks && response.stdout.contains("timeout"), "{response:?}");
}

#[test]
fn without_hooks_failures_block_blockable_events() {
    let claude = dialect::by_name("claude");
    let without = |event: &str, closed| {
        Response::without_hooks(&Request::new(event.as_bytes()), claude, closed, ErrorKind::Config, "no file")
    };
    let notification = r#"{"hook_event_name":"Notification","message":"m"}"#;
    for (event, closed, blocks) in [("{}", true, true), (notification, true, false), ("{}", false, false)] {
        let response = without(event, closed);
        assert_eq!((response.blocks, response.exit_code), (blocks, if blocks { 2 } else { 78 }), "{event}");
        assert!(response.error.unwrap().message.contains("no file"));
    }
}
