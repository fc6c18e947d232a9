//! A dialect outside of the library: one folder, and one line that registers it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod toy;

use std::path::Path;

use hookbox::{Callback, HookSet, StandaloneBuilder, config::Config, dialect};
use serde_json::{Value, json};
use toy::TOY;

fn under_toy(config: &Value) -> StandaloneBuilder {
    let text = config.to_string();
    let loaded = Config::parse_for(&text, Path::new("hooks.json"), &TOY).unwrap_or_else(|e| panic!("{e}")); // the line
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    HookSet::standalone().config(loaded.config)
}

async fn told(host: &HookSet, tool: &str, args: Value) -> Value {
    let event = json!({ "op": "run", "tool": tool, "args": args });
    host.dispatch(event.to_string()).await.unwrap().wire.unwrap()
}

#[tokio::test]
async fn a_command_speaks_it() {
    let script = r#"grep -q '"tool":"sh"' && echo '{"go":false,"why":"no shell"}'; exit 0"#;
    let config = json!({ "failClosed": true, "hooks": { "run": [{ "type": "command", "command": script }] } });
    let host = under_toy(&config).build().await.unwrap();
    assert_eq!(told(&host, "sh", json!({})).await, json!({ "go": false, "why": "no shell" }));
    assert_eq!(told(&host, "cat", json!({})).await, json!({ "go": true }));
}

#[tokio::test]
async fn a_callback_speaks_the_dialect_and_runs_after_configured_hooks() {
    let config = json!({ "failClosed": true, "hooks": { "run": [
        { "type": "command", "command": r#"echo '{"go":false,"why":"configured"}'"#, "matcher": "rm" },
    ] } });
    let callback = |event: Value| async move { Ok(json!({ "go": event["args"]["force"] != true, "why": "forced" })) };
    let host = under_toy(&config).callback(Callback::new("run", callback)).build().await.unwrap();
    assert_eq!(told(&host, "rm", json!({ "force": true })).await, json!({ "go": false, "why": "configured" }));
    assert_eq!(told(&host, "cp", json!({ "force": true })).await, json!({ "go": false, "why": "forced" }));
    assert_eq!(told(&host, "cp", json!({})).await, json!({ "go": true }));
}

/// The event specs of the dialect control its degradation, as in any other dialect.
#[tokio::test]
async fn failures_and_degradation_follow_its_table() {
    let failing = json!({ "type": "command", "command": "exit 3", "onFailure": "ask" });
    let host = under_toy(&json!({ "hooks": { "run": [failing] } })).build().await.unwrap();
    let told = told(&host, "sh", json!({})).await;
    assert_eq!(told["go"], false, "toy cannot ask, so it says no: {told}");
    assert!(told["why"].as_str().unwrap().contains("exit code 3"), "{told}");
}

#[test]
fn the_file_can_name_it_and_its_shape_is_checked() {
    let parse = |config: Value| Config::parse_for(&config.to_string(), Path::new("hooks.json"), &TOY);
    for named in ["toy", "claude"] {
        let loaded = parse(json!({ "dialect": named, "hooks": {} })).unwrap();
        assert_eq!(loaded.config.dialect.name(), "toy", "the caller's dialect overrides the file's");
    }
    // Matcher groups are the form of other dialects.
    let groups = json!({ "hooks": { "run": [{ "hooks": [{ "type": "command", "command": "true" }] }] } });
    assert!(parse(groups).is_err());
    assert!(dialect::by_name("toy").is_none(), "it is not in the list of dialects");
}

/// A bug of a dialect is a failure of the event. It blocks if failures block.
#[tokio::test]
async fn a_dialects_panic_fails_closed() {
    for (closed, policy) in [(true, "block"), (false, "ignore")] {
        let silent = json!({ "type": "command", "command": "true", "onFailure": policy });
        let host = under_toy(&json!({ "failClosed": closed, "hooks": { "run": [silent] } })).build().await.unwrap();
        let event = json!({ "op": "run", "tool": "bug", "args": {} }).to_string();
        let response = host.decide(hookbox::Request::new(event.as_bytes())).await;
        assert!(response.error.is_some());
        assert_eq!(response.blocks, closed);
    }
}
