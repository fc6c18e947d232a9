//! Rust closures as hooks and as the permission callback.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::path::Path;

use hookbox::{Callback, EventContext, HookSet, StandaloneBuilder, ToolCall, config::Config};
use serde_json::{Value, json};

fn builder(config: &Value) -> StandaloneBuilder {
    let loaded = Config::parse(&config.to_string(), Path::new("hooks.json"), None).unwrap_or_else(|e| panic!("{e}"));
    HookSet::standalone().config(loaded.config)
}

fn permission_request() -> String {
    json!({ "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": { "command": "ls" } })
        .to_string()
}

/// A blade host with a permission hook that denies.
fn blade() -> StandaloneBuilder {
    let denies =
        json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "permissionDecision": "deny" } });
    let hook = json!({ "type": "command", "command": format!("echo '{denies}'") });
    builder(&json!({ "dialect": "blade", "hooks": { "PermissionRequest": [{ "hooks": [hook] }] } }))
}

#[tokio::test]
async fn a_callback_speaks_the_dialect() {
    let host = builder(&json!({ "dialect": "claude", "hooks": {} }))
        .callback(
            Callback::new("PreToolUse", |event: Value| async move {
                let dangerous = event["tool_input"]["command"].as_str().is_some_and(|command| command.contains("rm"));
                Ok(if dangerous { json!({ "decision": "block", "reason": "no" }) } else { Value::Null })
            })
            .matcher("Bash"),
        )
        .build()
        .await
        .unwrap();
    let judge = |name: &str, command: &str| {
        host.pre_tool_use(EventContext::default(), ToolCall::new(name, json!({ "command": command })))
    };
    assert_eq!(judge("Bash", "rm x").await.output().word(), "deny");
    assert_eq!(judge("Bash", "ls").await.output().word(), "nothing");
    assert_eq!(judge("BashOutput", "rm x").await.output().word(), "nothing");
}

#[tokio::test]
async fn a_callback_that_panics_or_lies_is_a_failed_hook() {
    let host = builder(&json!({ "dialect": "claude", "hooks": {} }))
        .callback(Callback::new("Stop", |_| async { panic!("oh no") }))
        .callback(Callback::new("Stop", |event: Value| {
            assert!(event.is_null(), "oh no, before there is anything to wait for");
            async { Ok(Value::Null) }
        }))
        .callback(Callback::new("Stop", |_| async { Ok(json!([1])) }))
        .callback(Callback::new("Stop", |_| async { Err("not today".into()) }))
        .build()
        .await
        .unwrap();
    let verdict = host.dispatch(r#"{"hook_event_name":"Stop"}"#).await.unwrap();
    assert_eq!(verdict.wire, Some(json!({})));
    assert!(verdict.hooks.iter().all(|hook| hook.word() == "failed"), "{verdict:?}");
}

#[tokio::test]
async fn can_use_tool_runs_first_and_is_final() {
    let host = blade()
        .callback(Callback::new("canUseTool", |_| async { Ok(json!({ "behavior": "allow" })) }))
        .build()
        .await
        .unwrap();
    let verdict = host.dispatch(permission_request()).await.unwrap();
    assert_eq!(verdict.output().word(), "allow", "{verdict:?}");
    assert_eq!(verdict.hooks.len(), 1, "the permission hooks are not asked");
}

/// blade-callback.md#canusetool: "Hooks and `canUseTool` are two separate systems".
#[tokio::test]
async fn can_use_tool_runs_when_hooks_are_disabled() {
    for (off, hooks) in [(true, json!({})), (false, json!({ "enabled": false }))] {
        let mut hooks = hooks;
        hooks["PermissionRequest"] = json!([{ "hooks": [{ "type": "command", "command": "exit 2" }] }]);
        let config = json!({ "dialect": "blade", "disableAllHooks": off, "hooks": hooks,
            "canUseTool": { "type": "command", "command": "echo '{\"behavior\":\"deny\",\"message\":\"no\"}'" } });
        let verdict = builder(&config).build().await.unwrap().dispatch(permission_request()).await.unwrap();
        assert_eq!(verdict.output().reason.as_deref(), Some("no"), "{verdict:?}");
        let asks = json!({ "type": "command", "command": "echo '{\"behavior\":\"ask\"}'" });
        let mut config = config;
        config["canUseTool"] = asks;
        let verdict = builder(&config).build().await.unwrap().dispatch(permission_request()).await.unwrap();
        assert_eq!((verdict.output().word(), verdict.hooks.len()), ("nothing", 1), "the hooks are off");
    }
}

#[tokio::test]
async fn a_defer_restricts() {
    let says = |word: &'static str| {
        builder(&json!({ "dialect": "claude@observed", "hooks": {} })).callback(Callback::new(
            "PreToolUse",
            move |_| async move {
                Ok(json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": word } }))
            },
        ))
    };
    for (word, restricts) in [("allow", false), ("ask", true), ("defer", true), ("deny", true)] {
        let host = says(word).build().await.unwrap();
        let verdict = host.pre_tool_use(EventContext::default(), ToolCall::new("Bash", json!({}))).await;
        assert_eq!((verdict.output().word(), verdict.restricts()), (word, restricts));
    }
}

#[tokio::test]
async fn can_use_tool_that_asks_falls_back_to_the_permission_hooks() {
    let host = blade()
        .callback(Callback::new("canUseTool", |_| async { Ok(json!({ "behavior": "ask" })) }))
        .build()
        .await
        .unwrap();
    let verdict = host.dispatch(permission_request()).await.unwrap();
    assert_eq!(verdict.output().word(), "deny", "{verdict:?}");
    assert_eq!(verdict.hooks.len(), 2);
}

/// The environment and the stdin of a command handler.
#[tokio::test]
async fn commands_find_the_project_and_the_fields_of_the_examples() {
    let says = |what: &str| json!({ "type": "command", "command": format!("printf '%s' \"{what}\" >&2; exit 2") });
    let reason = async |dialect: &str, what: &str, event: Value| {
        let hooks = json!({ "PreToolUse": [{ "hooks": [says(what)] }] });
        let host = builder(&json!({ "dialect": dialect, "hooks": hooks })).build().await.unwrap();
        host.dispatch(event.to_string()).await.unwrap().output().reason.clone().unwrap_or_default()
    };
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/project/sub",
        "tool_input": { "command": "ls", "file_path": "/a", "description": "d" } });
    assert_eq!(reason("claude", "$CLAUDE_PROJECT_DIR", event.clone()).await, "/project/sub");
    assert_eq!(reason("codebuddy", "$CODEBUDDY_PROJECT_DIR", event.clone()).await, "/project/sub");
    assert_eq!(reason("claude", "${CODEBUDDY_PROJECT_DIR-unset}", event.clone()).await, "unset");
    let mut at_blade = event.clone();
    at_blade["project_dir"] = json!("/project");
    assert_eq!(reason("blade", "$BLADE_PROJECT_DIR $CLAUDE_PROJECT_DIR", at_blade).await, "/project /project");
    // decisions.md#codebuddy: "`command` and `file_path` of `tool_input`, and only these, are also top-level fields".
    let read: Value = serde_json::from_str(&reason("codebuddy", "$(cat)", event.clone()).await).unwrap();
    assert_eq!((&read["command"], &read["file_path"]), (&json!("ls"), &json!("/a")));
    assert_eq!(read.as_object().unwrap().len(), event.as_object().unwrap().len() + 2, "{read}");
    let mut own = event.clone();
    own["command"] = json!("mine");
    let read: Value = serde_json::from_str(&reason("codebuddy", "$(cat)", own).await).unwrap();
    assert_eq!((&read["command"], &read["file_path"]), (&json!("mine"), &json!("/a")));
    assert_eq!(reason("claude", "$(cat)", event.clone()).await, event.to_string());
}
