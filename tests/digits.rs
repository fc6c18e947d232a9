//! Numbers keep all their digits on the way through hookbox: the tool gets those of the client or of a hook.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::{fs, path::Path, process::Command};

use hookbox_testing::{
    guest::{GATE, encode, gate},
    process::fed,
};
use serde_json::{Value, json};

/// A number that fits neither 64 bits nor a double.
const BIG: &str = "123456789012345678901234567890";
/// A different number that is the same double.
const OTHER: &str = "123456789012345678901234567891";

/// The arguments of the call. `old` and `kept` are the same double.
const CALLED: &str = r#"{"old":OTHER,"kept":BIG,"changed":BIG,"cut":1.50,"list":[BIG]}"#;
/// The rewrite of a hook in a language with doubles. One number is changed by hand.
const SAID: &str = r#"{"old":1.2345678901234568e+29,"kept":123456789012345680000000000000,"changed":OTHER,"cut":1.5,"list":[1.2345678901234568e29],"new":BIG1}"#;
/// The arguments that the tool gets.
const CALLS: &str = r#"{"old":OTHER,"kept":BIG,"changed":OTHER,"cut":1.50,"list":[BIG],"new":BIG1}"#;

fn filled(text: &str) -> String {
    text.replace("OTHER", OTHER).replace("BIG", BIG)
}

/// A component that allows the call with this rewrite. The offsets are those of `pre-tool-use`'s output.
fn rewriter() -> Vec<u8> {
    let said = filled(SAID);
    let body = format!(
        "(i32.store8 (i32.const 4) (i32.const 1))
         (call $say (i32.const 44) (i32.const 44) (i32.const 4096) (i32.const {}))",
        said.len()
    );
    let data = said.replace('"', "\\22");
    encode(&gate(&body, &format!(r#"(data (i32.const 4096) "{data}")"#)), GATE, "")
}

fn hooks(dialect: &str, event: &str, handlers: &[Value]) -> Value {
    match dialect {
        "picoclaw" => handlers.iter().enumerate().map(|(at, hook)| (format!("hook-{at}"), hook.clone())).collect(),
        "blade-callback" => json!({ event: handlers }),
        _ => json!({ event: [{ "hooks": handlers }] }),
    }
}

fn judged(dir: &Path, dialect: &str, event: &str, wire: &str, handlers: &[Value]) -> String {
    fs::write(dir.join("hook.wasm"), rewriter()).unwrap();
    let config = json!({ "dialect": dialect, "hooks": hooks(dialect, event, handlers) });
    fs::write(dir.join("hooks.json"), config.to_string()).unwrap();
    let mut hookbox = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    hookbox.args(["run", "--config", "hooks.json", "--event", event]).current_dir(dir);
    let output = fed(hookbox.env("XDG_CACHE_HOME", dir).env("XDG_STATE_HOME", dir), wire.as_bytes());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !stderr.contains("refused"), "{dialect}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_rewrite_keeps_the_digits_of_unchanged_numbers() {
    let component = json!({ "type": "wasm", "component": "hook.wasm", "authority": "trusted" });
    let said = filled(SAID);
    let command = |output: &str| json!({ "type": "command", "command": format!("echo '{output}'") });
    let permits = format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{said}}}}}"#
    );
    for (dialect, event, wire) in [
        ("claude", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":INPUT}"#),
        ("codebuddy", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":INPUT}"#),
        ("codebuddy", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","input":INPUT}"#),
        ("blade", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":INPUT}"#),
        ("blade-callback", "PreToolUse", r#"{"event":"PreToolUse","toolName":"T","toolInput":INPUT}"#),
        ("codex", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":INPUT}"#),
        ("copilot", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":INPUT}"#),
        ("gemini", "BeforeTool", r#"{"hook_event_name":"BeforeTool","tool_name":"T","tool_input":INPUT}"#),
        ("opencode", "PreToolUse", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":INPUT}"#),
        (
            "picoclaw",
            "hook.before_tool",
            r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_tool","params":{"tool":"T","arguments":INPUT}}"#,
        ),
    ] {
        let wire = wire.replace("INPUT", &filled(CALLED));
        let dir = tempfile::tempdir().unwrap();
        let told = judged(dir.path(), dialect, event, &wire, std::slice::from_ref(&component));
        assert!(told.contains(&filled(CALLS)), "{dialect}: {told}");
        if matches!(dialect, "claude" | "codebuddy" | "codex") {
            let told = judged(dir.path(), dialect, event, &wire, &[command(&permits)]);
            assert!(told.contains(&filled(CALLS)), "{dialect}, a command: {told}");
        }
    }
}

/// A hook gets these digits in the rewrite of an earlier one, and cannot change those that it has no authority for.
#[test]
fn digits_go_from_hook_to_hook() {
    let dir = tempfile::tempdir().unwrap();
    let component =
        json!({ "type": "wasm", "component": "hook.wasm", "authority": { "decide": ["allow"], "rewrite": ["/new"] } });
    let command = json!({ "type": "command", "command": "cat >seen" });
    let wire = r#"{"event":"PreToolUse","toolName":"T","toolInput":INPUT}"#.replace("INPUT", &filled(CALLED));
    let told = judged(dir.path(), "blade-callback", "PreToolUse", &wire, &[component, command]);
    let kept = format!("{},\"new\":{BIG}1}}", filled(CALLED).trim_end_matches('}'));
    let seen = fs::read_to_string(dir.path().join("seen")).unwrap();
    assert!(told.contains(&kept) && seen.contains(&kept), "{told} {seen}");
}
