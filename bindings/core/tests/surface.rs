//! The surface of the packages, without the languages around it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{path::PathBuf, sync::mpsc::channel, time::Duration};

use hookbox_embed::{
    Code, Effect, Error, HookSet, HostHook, LoadOptions, Replacement, Request, Runtime, RuntimeOptions, Source, check,
    to_json, to_lines,
};
use hookbox_testing::guest;
use serde_json::{Value, json};

const EVENT: &[u8] = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;

fn compiler() -> PathBuf {
    env!("CARGO_BIN_EXE_hookbox-compiler").into()
}

fn open() -> Runtime {
    Runtime::open(RuntimeOptions::default(), Some(compiler())).unwrap()
}

fn text(config: &Value) -> Source {
    Source::Text(config.to_string(), ".".into())
}

fn command(script: &str) -> Value {
    json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": script }] }] } })
}

fn load(runtime: &Runtime, config: &Value, options: &str, hooks: Vec<HostHook>) -> Result<HookSet, Error> {
    runtime.block_on(HookSet::load(runtime, text(config), LoadOptions::parse(options)?, hooks))?
}

fn decide(hooks: &HookSet) -> hookbox_embed::Response {
    hooks.runtime().block_on(hooks.decide(EVENT, &Request::default())).unwrap().unwrap()
}

fn silent(entry: &Value, answer: &'static str) -> HostHook {
    HostHook::new(&entry.to_string(), move |_| async move { Ok(answer.to_owned()) }).unwrap()
}

#[test]
fn decides_explains_and_closes() {
    let runtime = open();
    let hooks = load(&runtime, &command("echo not here >&2; exit 2"), "", Vec::new()).unwrap();
    assert_eq!(
        (hooks.dialect(), hooks.tenant(), hooks.events()),
        ("claude", "default", &["PreToolUse".to_owned()][..])
    );
    assert!(decide(&hooks).blocks);
    let report = runtime.block_on(hooks.explain(EVENT, &Request::default())).unwrap().unwrap();
    assert_eq!((&report["verdict"], &report["hooks"][0]["verdict"]), (&json!("deny"), &json!("deny")));
    let unreadable = runtime.block_on(hooks.explain(b"{", &Request::default())).unwrap().unwrap_err();
    assert_eq!(unreadable.code, Code::Event);

    let (sender, done) = channel();
    let asked = hooks.clone();
    let task = runtime.spawn(async move {
        sender.send(asked.decide(EVENT, &Request::default()).await.unwrap().blocks).unwrap();
    });
    assert!(done.recv().unwrap());
    drop(task);
    runtime.block_on(hooks.close(Duration::from_secs(1))).unwrap();
    let closed = runtime.block_on(hooks.decide(EVENT, &Request::default())).unwrap().unwrap_err();
    assert_eq!((closed.code, closed.to_string().as_str()), (Code::Closed, "the hook set is closed"));
    runtime.close();
    assert_eq!(load(&runtime, &json!({}), "", Vec::new()).map(drop).unwrap_err().code, Code::Closed);
}

#[test]
fn a_broken_configuration_is_an_error_with_every_finding() {
    let config = json!({ "hooks": { "PreToolUse": [{ "mathcer": "Bash", "hooks": [{ "type": "wasm" }] }] } });
    let runtime = open();
    let error = load(&runtime, &config, "", Vec::new()).map(drop).unwrap_err();
    assert_eq!(error.code, Code::Config);
    let findings = error.details()["diagnostics"].clone();
    assert!(findings.as_array().unwrap().len() >= 2, "{findings}");
    let found = runtime.block_on(check(&runtime, text(&config), LoadOptions::default())).unwrap().unwrap();
    assert_eq!(serde_json::to_value(found).unwrap(), findings);
}

#[test]
fn a_ceiling_bounds_a_configuration() {
    let error =
        load(&open(), &command("true"), r#"{"tenant": "acme", "ceiling": {}}"#, Vec::new()).map(drop).unwrap_err();
    assert_eq!(error.code, Code::Config);
    assert!(error.message.contains("the ceiling of tenant `acme` is wasm"), "{error}");
    let allowed = r#"{"tenant": "acme", "ceiling": {}, "handlers": ["command"]}"#;
    load(&open(), &command("true"), allowed, Vec::new()).unwrap();
}

#[test]
fn unknown_options_are_errors() {
    for error in [
        LoadOptions::parse(r#"{"tenat": "acme"}"#).map(drop).unwrap_err(),
        RuntimeOptions::parse(r#"{"maxInstances": 0}"#).map(drop).unwrap_err(),
        LoadOptions::parse(r#"{"handlers": ["command"]}"#).map(drop).unwrap_err(),
        HostHook::new(r#"{"event": "PreToolUse", "onFailure": "pass"}"#, |_| async { Ok(String::new()) })
            .map(drop)
            .unwrap_err(),
        load(&open(), &json!({}), "", vec![silent(&json!({ "event": "PreTolUse" }), "null")]).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.code, Code::Options, "{error}");
        assert!(!error.message.contains("at line"), "{error}");
    }
}

#[test]
fn functions_of_the_host_decide_and_fail_like_any_hook() {
    let runtime = open();
    let entry = json!({ "event": "PreToolUse", "name": "own", "onFailure": "block" });
    let word = |hook: HostHook| {
        let response = decide(&load(&runtime, &json!({}), "", vec![hook]).unwrap());
        (response.blocks, response.report().unwrap().hooks[0].cause.clone().unwrap_or_default().into_owned())
    };
    assert_eq!(word(silent(&entry, "null")), (false, String::new()));
    assert_eq!(word(silent(&entry, r#"{"decision": "block", "reason": "no"}"#)), (true, String::new()));
    for (rubbish, cause) in [("no JSON", "guest-error"), ("[]", "bad-output"), (r#"{"decision": 1}"#, "bad-output")] {
        assert_eq!(word(silent(&entry, rubbish)), (true, cause.to_owned()), "{rubbish}");
    }
    let throws = HostHook::new(&entry.to_string(), |_| async { Err("thrown".to_owned()) }).unwrap();
    assert_eq!(word(throws), (true, "guest-error".to_owned()));
    let entry = json!({ "event": "PreToolUse", "timeout": 0.05, "onTimeout": "block" });
    let never = HostHook::new(&entry.to_string(), |_| std::future::pending()).unwrap();
    assert_eq!(word(never), (true, "timeout".to_owned()));
}

#[test]
fn an_effect_is_a_replacement_or_a_refusal() {
    let runtime = open();
    let effect = |output: Value| {
        let hook = HostHook::new(r#"{"event": "PreToolUse"}"#, move |_| {
            let output = output.to_string();
            async { Ok(output) }
        });
        Effect::of(&decide(&load(&runtime, &json!({}), "", vec![hook.unwrap()]).unwrap()))
    };
    let says = |mut specific: Value| {
        specific["hookEventName"] = "PreToolUse".into();
        json!({ "hookSpecificOutput": specific })
    };
    let refused = |reason: &str| Effect { replacement: None, refusal: Some(reason.to_owned()) };
    let asked =
        |reason: &str| refused(&format!("this call needs a person's approval, which is not possible here{reason}"));
    let input = json!({ "command": "ls -l" });
    let replaced = Effect {
        replacement: Some(Replacement { value: input.clone() }),
        refusal: Some("a hook rewrites this call, which is not supported here".to_owned()),
    };
    for (output, expected) in [
        (Value::Null, Effect::default()),
        (says(json!({ "permissionDecision": "allow" })), Effect::default()),
        (says(json!({ "additionalContext": "more" })), Effect::default()),
        (says(json!({ "permissionDecision": "deny", "permissionDecisionReason": "no" })), refused("no")),
        (says(json!({ "permissionDecision": "deny" })), refused("denied by a hook")),
        (json!({ "continue": false, "stopReason": "enough" }), refused("enough")),
        (says(json!({ "permissionDecision": "ask", "permissionDecisionReason": "sure?" })), asked(": sure?")),
        (says(json!({ "permissionDecision": "ask", "updatedInput": input })), asked("")),
        // The dialect obeys a rewrite only with an `allow`.
        (says(json!({ "updatedInput": input })), Effect::default()),
        (says(json!({ "permissionDecision": "allow", "updatedInput": input })), replaced),
    ] {
        assert_eq!(effect(output.clone()), expected, "{output}");
    }
    // An error of hookbox itself refuses if failures block.
    let refuses_unreadable = |options: &str| {
        let hooks = load(&runtime, &command("true"), options, Vec::new()).unwrap();
        let response = runtime.block_on(hooks.decide(b"{", &Request::default()));
        Effect::of(&response.unwrap().unwrap()).refusal.is_some()
    };
    assert_eq!((refuses_unreadable(r#"{"failClosed": true}"#), refuses_unreadable("")), (true, false));
}

#[test]
fn a_component_that_exhausts_the_compiler_ends_the_compiler_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bomb.wasm"), guest::bomb()).unwrap();
    let options = r#"{"compileLimits": {"seconds": 1, "memoryMiB": 256}}"#;
    let mut options = RuntimeOptions::parse(options).unwrap();
    options.cache_dir = Some(folder.path().join("cache"));
    let runtime = Runtime::open(options, Some(compiler())).unwrap();
    let config = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "wasm", "component": "bomb.wasm" }] }] } });
    let source = Source::Text(config.to_string(), folder.path().into());
    let loading = HookSet::load(&runtime, source, LoadOptions::default(), Vec::new());
    let error = runtime.block_on(loading).unwrap().map(drop).unwrap_err();
    assert_eq!(error.code, Code::Hook);
    assert!(error.message.contains("compile"), "{error}");
}

#[test]
fn a_missing_compiler_is_an_error() {
    for compiler in [None, Some("/nowhere/hookbox-compiler".into())] {
        let error = Runtime::open(RuntimeOptions::default(), compiler).map(drop).unwrap_err();
        assert_eq!(error.code, Code::Compiler);
        assert!(error.message.contains("compileInProcess"), "{error}");
    }
    Runtime::open(RuntimeOptions::parse(r#"{"compileInProcess": true}"#).unwrap(), None).unwrap();
}

#[test]
fn error_codes_are_unique_words() {
    let mut words: Vec<_> = Code::ALL.iter().map(|code| code.word()).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), Code::ALL.len());
}

#[test]
fn two_lines_of_json_have_every_field() {
    let runtime = open();
    let rewrite = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"pwd"}}}'"#;
    for script in ["echo not here >&2; exit 2", "exit 0", rewrite] {
        let hooks = load(&runtime, &command(script), "", Vec::new()).unwrap();
        for event in [EVENT, b"{"] {
            let response = runtime.block_on(hooks.decide(event, &Request::default())).unwrap().unwrap();
            let lines = to_lines(response.clone()).unwrap();
            let (first, report) = lines.split_once('\n').unwrap();
            let mut whole: Value = serde_json::from_str(first).unwrap();
            whole["report"] = serde_json::from_str(report).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&to_json(&response).unwrap()).unwrap(), whole);
        }
    }
}
