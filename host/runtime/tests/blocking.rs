//! The library in programs without `async`.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::{path::Path, thread};

use hookbox::{Config, Request, Response, Runtime, Tenant, blocking::Blocking};
use serde_json::json;

const EVENT: &[u8] = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;

fn gate(script: &str) -> hookbox::blocking::HookSet {
    let config = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": script }] }] } });
    let config = Config::parse(&config.to_string(), Path::new("hooks.json"), None).unwrap().config;
    Blocking::new(Runtime::builder().build().unwrap()).unwrap().load(Tenant::new("acme"), config).unwrap()
}

fn denies(response: &Response) {
    assert!(response.blocks, "{response:?}");
    assert!(response.stdout.contains("not here"), "{response:?}");
}

#[test]
fn many_threads_decide_at_once() {
    let hooks = gate("echo not here >&2; exit 2");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| denies(&hooks.decide(Request::new(EVENT))));
        }
    });
    hooks.close(std::time::Duration::from_secs(1));
}

#[tokio::test]
async fn async_code_may_call_and_drop_it() {
    let hooks = gate("echo not here >&2; exit 2");
    denies(&hooks.decide(Request::new(EVENT)));
    drop(hooks);
}
