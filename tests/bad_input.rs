//! Invalid input on stdin: a clear error on stderr, a documented exit code, an empty stdout and no panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use hookbox_testing::process::fed;
use serde_json::json;

fn run(config: &Path, wire: &[u8]) -> Output {
    run_as(&[], config, wire)
}

fn run_as(options: &[&str], config: &Path, wire: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    fed(command.args(["run", "--config"]).arg(config).args(options), wire)
}

fn config(dir: &Path, fail_closed: bool) -> std::path::PathBuf {
    let path = dir.join("hooks.json");
    let mut hook = json!({ "type": "command", "command": "cat >/dev/null; echo '{}'" });
    if !fail_closed {
        // An explicit policy avoids the warning about a missing one.
        hook["onFailure"] = json!("ignore");
    }
    let hooks = json!({ "PreToolUse": [{ "hooks": [hook] }] });
    fs::write(&path, json!({ "dialect": "claude", "failClosed": fail_closed, "hooks": hooks }).to_string()).unwrap();
    path
}

fn pre_tool_use(command: &str) -> String {
    format!(r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":{command}}}}}"#)
}

fn bad_inputs() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let deep = format!(
        r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    vec![
        ("nothing", Vec::new(), "not valid JSON"),
        ("not JSON", b"rm -rf /".to_vec(), "not valid JSON"),
        ("not an object", b"[1]".to_vec(), "expected an object"),
        ("two objects", b"{} {}".to_vec(), "trailing characters"),
        ("no event name", br#"{"tool_name":"Bash"}"#.to_vec(), "/hook_event_name: missing"),
        ("event name of a wrong type", br#"{"hook_event_name":5}"#.to_vec(), "/hook_event_name: expected"),
        (
            "tool name of a wrong type",
            br#"{"hook_event_name":"PreToolUse","tool_name":5,"tool_input":{}}"#.to_vec(),
            "/tool_name: expected a string",
        ),
        ("no tool input", br#"{"hook_event_name":"PreToolUse","tool_name":"Bash"}"#.to_vec(), "/tool_input: missing"),
        ("deep nesting", deep.into_bytes(), "nested deeper than 1,000 levels"),
        (
            "invalid UTF-8",
            pre_tool_use("\"a\"")
                .replace('a', "\u{80}")
                .into_bytes()
                .iter()
                .map(|b| if *b == 0xc2 { 0xff } else { *b })
                .collect(),
            "not UTF-8",
        ),
        (
            "a repeated key",
            br#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Bash","tool_input":{}}"#.to_vec(),
            "`tool_name` appears twice",
        ),
        ("a raw NUL", pre_tool_use("\"a\0b\"").into_bytes(), "control character"),
        ("more than 64 MiB", pre_tool_use(&format!("\"{}\"", "x".repeat(64 << 20))).into_bytes(), "larger than 64 MiB"),
    ]
}

#[test]
fn bad_events_are_refused_clearly() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), false);
    for (name, wire, why) in bad_inputs() {
        let output = run(&config, &wire);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(65), "{name}: {stderr}");
        assert!(output.stdout.is_empty(), "{name}: partial output");
        assert!(
            stderr.starts_with("error: ") && stderr.contains(why) && !stderr.contains("panicked"),
            "{name}: {stderr}"
        );
        assert!(stderr.len() < 2_000, "{name}: {} bytes of error", stderr.len());
    }
}

#[test]
fn bad_events_block_when_the_configuration_is_fail_closed() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), true);
    for (name, wire, why) in bad_inputs() {
        let output = run(&config, &wire);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {stderr}");
        assert!(output.stdout.is_empty() && stderr.contains(why), "{name}: {stderr}");
    }
}

/// blade-observed.md#what-bladeobserved-says: "When hookbox itself fails it exits with 1, and under `failClosed` with 2 and
/// nothing on stdout."
#[test]
fn exit_codes_avoid_those_on_which_the_client_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hooks.json");
    let hooks = r#"{ "PreToolUse": [{ "hooks": [{ "type": "command", "command": "cat" }] }] }"#;
    let event = pre_tool_use("\"ls\"");
    for (name, hooks, wire) in [
        ("a bad event", hooks, "{"),
        ("a bad configuration", "[]", event.as_str()),
        ("a configuration that is not JSON", "{,", event.as_str()),
        (
            "a hook that cannot be loaded",
            &hooks.replace(r#""command", "command": "cat""#, r#""wasm", "component": "no.wasm""#),
            &event,
        ),
    ] {
        for (closed, code) in [(false, 1), (true, 2)] {
            let text = format!(r#"{{ "dialect": "blade@observed", "failClosed": {closed}, "hooks": {hooks} }}"#);
            fs::write(&path, text).unwrap();
            let output = run(&path, wire.as_bytes());
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{name}: {stderr}");
            assert!(output.stdout.is_empty() && !stderr.is_empty(), "{name}: {stderr}");
        }
    }
}

/// A missing configuration does not open the gate.
#[test]
fn the_command_line_can_fail_closed_without_a_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("hooks.json");
    for (options, code) in [(&[][..], 78), (&["--fail-closed"], 2)] {
        let output = run_as(options, &missing, pre_tool_use("\"ls\"").as_bytes());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(output.stdout.is_empty() && stderr.contains("hooks.json"), "{stderr}");
    }
    let config = config(dir.path(), false);
    let output = run_as(&["--fail-closed"], &config, b"{");
    assert_eq!(output.status.code(), Some(2));
    let output = run_as(&["--fail-closed"], &config, pre_tool_use("\"ls\"").as_bytes());
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stdout)), (Some(0), "{}\n"));
}

/// An event that cannot be blocked is not blocked, even if its name comes from the command line.
#[test]
fn fail_closed_does_not_block_unblockable_events() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hooks.json");
    let hooks = json!([{ "hooks": [{ "type": "wasm", "component": "missing.wasm" }] }]);
    let config = json!({ "failClosed": true, "hooks": { "PreToolUse": hooks, "Notification": hooks } });
    fs::write(&path, config.to_string()).unwrap();
    for (name, code) in [("PreToolUse", 2), ("Notification", 78)] {
        let output = run_as(&["--event", name], &path, br#"{"tool_name":"Bash","tool_input":{}}"#);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{name}: {stderr}");
        assert!(stderr.contains("missing.wasm"), "{name}: {stderr}");
    }
}

/// A hook that cannot be loaded does not suppress another hook's decision. It still counts as failed if the other hooks
/// do not object.
#[test]
fn a_load_failure_does_not_open_the_gate() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hooks.json");
    let says = |decision: &str| {
        let output = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": decision } });
        json!({ "type": "command", "command": format!("cat >/dev/null; echo '{output}'") })
    };
    let redacts = {
        let output = json!({ "hookEventName": "PostToolUse", "updatedToolOutput": "redacted" });
        json!({ "type": "command", "command": format!("cat >/dev/null; echo '{}'", json!({ "hookSpecificOutput": output })) })
    };
    let called = |event: &str| {
        format!(r#"{{"hook_event_name":"{event}","tool_name":"Bash","tool_input":{{}},"tool_response":"secret"}}"#)
    };
    for (decision, hook, event, code) in [
        ("deny", says("deny"), "PreToolUse", 0),
        ("ask", says("ask"), "PreToolUse", 0),
        ("allow", says("allow"), "PreToolUse", 78),
        ("redacted", redacts, "PostToolUse", 0),
    ] {
        let hooks = json!([{ "hooks": [{ "type": "wasm", "component": "missing.wasm" }, hook] }]);
        fs::write(&path, json!({ "hooks": { event: hooks } }).to_string()).unwrap();
        let output = run(&path, called(event).as_bytes());
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{decision}: {stderr}");
        assert_eq!(stdout.contains(decision), code == 0, "{decision}: {stdout}");
        assert!(stderr.contains("error: `missing.wasm`: cannot read"), "{decision}: {stderr}");
    }
}

/// decisions.md#failures: "If its configuration says `ignore`, a hook that cannot be loaded counts as no output".
#[test]
fn an_ignored_load_failure_keeps_other_outputs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hooks.json");
    let says = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "allow",
        "permissionDecisionReason": "safe now", "updatedInput": { "command": "ls" } } });
    let rewrites = json!({ "type": "command", "command": format!("cat >/dev/null; echo '{says}'") });
    let missing = |policy: serde_json::Value| {
        let mut hook = json!({ "type": "wasm", "component": "missing.wasm" });
        hook.as_object_mut().unwrap().extend(policy.as_object().unwrap().clone());
        hook
    };
    for (closed, policy, code) in [
        (false, json!({ "onFailure": "ignore" }), 0),
        (true, json!({ "onFailure": "ignore" }), 0),
        (false, json!({}), 78),
        (false, json!({ "onTimeout": "ignore" }), 78),
        (true, json!({}), 2),
    ] {
        let hooks = json!([{ "hooks": [missing(policy.clone()), rewrites] }]);
        fs::write(&path, json!({ "failClosed": closed, "hooks": { "PreToolUse": hooks } }).to_string()).unwrap();
        let output =
            run(&path, br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm"}}"#);
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{policy} {closed}: {stderr}");
        let expected = if code == 0 { format!("{says}\n") } else { String::new() };
        assert_eq!(stdout, expected, "{policy} {closed}");
        assert!(stderr.contains("`missing.wasm`: cannot read"), "{policy} {closed}: {stderr}");
    }
}

#[test]
fn a_large_valid_event_is_decided() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(&config(dir.path(), false), pre_tool_use(&format!("\"{}\"", "x".repeat(60 << 20))).as_bytes());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{}\n");
    assert_eq!(output.status.code(), Some(0));
}

/// Unusual but valid events, and fields of unexpected types, do not keep hooks from running.
#[test]
fn an_unusual_event_is_decided() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hooks.json");
    let says = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "deny" } });
    let hook = json!({ "type": "command", "command": format!("cat >seen; echo '{says}'") });
    fs::write(&path, json!({ "hooks": { "PreToolUse": [{ "hooks": [hook] }] } }).to_string()).unwrap();
    let deep = format!("{}1{}", "[".repeat(900), "]".repeat(900));
    for (name, wire, note) in [
        ("half a surrogate pair", pre_tool_use(r#""a\ud83d""#), "U+FFFD"),
        ("900 levels", pre_tool_use(&deep), ""),
        ("a numeric timestamp", pre_tool_use("1,\"a\":{}},\"timestamp\":{\"b\":5"), "/timestamp: expected a string"),
    ] {
        let output = run_as(&["--diagnostics", "json"], &path, wire.as_bytes());
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{name}: {stderr}");
        assert!(stdout.contains("deny") && stderr.contains(note), "{name}: {stdout} {stderr}");
        assert!(fs::read_to_string(dir.path().join("seen")).unwrap().len() > 50, "{name}");
    }
}

#[test]
fn an_unknown_event_is_not_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(&config(dir.path(), true), br#"{"hook_event_name":"BrandNew","x":1}"#);
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stdout)), (Some(0), "{}\n"));
}

#[test]
fn an_invalid_configuration_blocks_only_if_fail_closed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hooks.json");
    for (text, code) in [
        ("{ \"failClosed\": true, \"hooks\": ", 2),
        ("{ \"hooks\": ", 78),
        ("{ \"failClosed\": true, \"hooks\": { \"PreToolUse\": [ { \"mathcer\": \"Bash\" } ] } }", 2),
        ("{ \"failClosed\": false, \"hooks\": { \"PreToolUse\": [ { \"mathcer\": \"Bash\" } ] } }", 78),
    ] {
        fs::write(&path, text).unwrap();
        let output = run(&path, pre_tool_use("\"ls\"").as_bytes());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{text}: {stderr}");
        assert!(output.stdout.is_empty() && stderr.contains("hooks.json"), "{text}: {stderr}");
    }
}

#[test]
fn wrong_usage_never_exits_with_a_clients_code() {
    for args in [&["run", "--nonsense"][..], &["nonsense"], &[], &["run", "--diagnostics", "loud"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_hookbox")).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(64), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

/// decisions.md#gemini: "After an internal error that need not block, hookbox exits with code 0 and prints nothing".
#[test]
fn gemini_gets_only_failures_that_block() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("hooks.json");
    let call = br#"{"hook_event_name":"BeforeTool","tool_name":"read_file","tool_input":{}}"#;
    let watched = br#"{"hook_event_name":"Notification","message":"hi"}"#;
    for (options, wire, code) in [
        (&["--dialect", "gemini"][..], &call[..], 0),
        (&["--dialect", "gemini"], b"{", 0),
        (&["--dialect", "gemini", "--fail-closed"], call, 2),
        (&["--dialect", "gemini", "--fail-closed", "--diagnostics", "json"], b"{", 2),
    ] {
        let output = run_as(options, &missing, wire);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{stderr}");
        assert_eq!(stderr.is_empty(), code == 0, "{stderr}");
        assert!(!stderr.starts_with(['{', '[', '"']), "{stderr}");
    }
    let hooks = json!([{ "hooks": [{ "type": "wasm", "component": "missing.wasm" }] }]);
    let config = json!({ "dialect": "gemini", "failClosed": true, "hooks": { "Notification": hooks } });
    fs::write(&missing, config.to_string()).unwrap();
    let output = run(&missing, watched);
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}

/// decisions.md#gemini: "If stdout is empty, stderr is empty too: Gemini CLI would read it."
#[test]
fn gemini_gets_no_output_without_a_decision() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hooks.json");
    let hooks = json!([{ "hooks": [{ "type": "command", "command": "echo '{}'", "async": true }] }]);
    fs::write(&path, json!({ "dialect": "gemini", "hooks": { "BeforeToolSelection": hooks } }).to_string()).unwrap();
    let wire = br#"{"hook_event_name":"BeforeToolSelection","llm_request":{}}"#;
    for diagnostics in ["human", "json", "off"] {
        let output = run_as(&["--diagnostics", diagnostics], &path, wire);
        assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
    }
}

/// decisions.md#codex: "Under `failClosed` hookbox blocks `SessionStart` and `PreCompact` by `{"continue":false}` and exit
/// code 0, because exit code 2 blocks nothing there."
#[test]
fn codex_gets_json_where_exit_code_2_has_no_effect() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("hooks.json");
    for (event, code) in [("PreToolUse", 2), ("SessionStart", 0), ("PreCompact", 0), ("SessionEnd", 78)] {
        let wire = json!({ "hook_event_name": event, "tool_name": "Bash" }).to_string();
        let output = run_as(&["--dialect", "codex", "--fail-closed"], &missing, wire.as_bytes());
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{event} {said}");
        assert_eq!(said.contains(r#""continue":false"#), code == 0, "{event} {said}");
        assert!(!output.stderr.is_empty(), "{event}");
    }
}
