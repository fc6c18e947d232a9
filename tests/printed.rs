//! Output for people: text from components, events and files cannot forge hookbox's own lines or reach the terminal as
//! control codes. Output that cannot be printed causes no failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

use hookbox_testing::process::fed;
use serde_json::{Value, json};

/// Moves the cursor up, clears the line, starts a new line and reverses the direction of the text.
const FORGED: &str = "x\u{1b}[1A\u{1b}[2K\r\n  refused   —\n\u{9b}31m\u{202e}";

fn hookbox(dir: &Path, args: &[&str], stdin: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    fed(command.args(args).current_dir(dir).env("XDG_STATE_HOME", dir), stdin.as_bytes())
}

/// Asserts the number of lines, and that they have no control characters.
#[track_caller]
fn assert_plain(bytes: &[u8], lines: usize) -> String {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let bad = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert!(!text.contains(bad), "{text:?}");
    assert_eq!(text.lines().count(), lines, "{text}");
    text
}

fn component(text: &str, producers: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = wat::parse_str(text).unwrap();
    let name = |text: &str| [&leb(text.len())[..], text.as_bytes()].concat();
    let mut section = [name("producers"), leb(1), name("language"), leb(producers.len())].concat();
    for (tool, version) in producers {
        section.extend([name(tool), name(version)].concat());
    }
    bytes.push(0);
    bytes.extend(leb(section.len()));
    bytes.extend(section);
    bytes
}

fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap());
    bytes
}

#[test]
fn a_component_forges_no_line_of_inspect() {
    let dir = tempfile::tempdir().unwrap();
    let names = [r"wasi:io/x\0a  refused   —@0.2.0", r"wasi:http/x, wasi:io\09@0.2.0", r"\e2\80\ae"];
    let imports: String = names.map(|name| format!("(import \"{name}\" (func))")).concat();
    let bytes = component(&format!("(component {imports})"), &[(FORGED, FORGED), ("WIT hookbox:hooks@9.9.9", "")]);
    fs::write(dir.path().join("evil\n  refused   —.wasm"), bytes).unwrap();
    let output = hookbox(dir.path(), &["inspect", "evil\n  refused   —.wasm"], "");
    assert!(output.status.success(), "{output:?}");
    let text = assert_plain(&output.stdout, 6);
    let refused = text.lines().last().unwrap();
    assert_eq!(refused, r#"  refused   "wasi:http/x, wasi:io\t@0.2.0", "\u{202e}""#);
    assert!(text.contains(r#""WIT hookbox:hooks@9.9.9""#), "{text}");
}

/// Reads a component with 420 KB of producers, which once took 11 s. The test does not measure the time.
#[test]
fn inspect_reads_any_number_of_producers() {
    let dir = tempfile::tempdir().unwrap();
    let tools: Vec<String> = (0..60_000).map(|n| format!("t{n}")).collect();
    let producers: Vec<(&str, &str)> = tools.iter().map(|tool| (tool.as_str(), "1")).collect();
    fs::write(dir.path().join("many.wasm"), component("(component)", &producers)).unwrap();
    let output = hookbox(dir.path(), &["inspect", "many.wasm"], "");
    assert!(assert_plain(&output.stdout, 6).contains("t59999 1"));
}

/// A hook, its reason, its log and the event may contain any text.
#[test]
fn neither_hooks_nor_events_forge_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let said = json!({ "decision": "block", "reason": FORGED });
    fs::write(dir.path().join("said.json"), said.to_string()).unwrap();
    let forged = FORGED.replace('\u{9b}', "");
    let hooks = json!([
        { "type": "command", "command": "cat said.json" },
        { "type": "command", "command": format!(": '{forged}'; printf '{forged}' >&2; exit 1") },
        { "type": "wasm", "component": format!("{forged}.wasm") },
    ]);
    let config = json!({ "hooks": { "Stop": [{ "hooks": hooks }], "x\n\u{1b}[2J": [] }, "y\n\u{1b}[2J": 1 });
    fs::write(dir.path().join("hooks.json"), config.to_string()).unwrap();
    let event = json!({ "hook_event_name": "Stop", "session_id": FORGED, "tool_name": FORGED }).to_string();

    let run = hookbox(dir.path(), &["run", "--config", "hooks.json"], &event);
    // Two lines for a warning, one for the block, one per hook, two of the log, and three for the unusable hook.
    let text = String::from_utf8(run.stderr.clone()).unwrap();
    assert_plain(&run.stderr, text.lines().count());
    assert!(!text.lines().any(|line| line.trim_start().starts_with("refused ")), "{text}");
    let explain = hookbox(dir.path(), &["explain", "--config", "hooks.json"], &event);
    let text = String::from_utf8(explain.stdout.clone()).unwrap();
    assert_plain(&explain.stdout, text.lines().count());
    assert_plain(&explain.stderr, String::from_utf8(explain.stderr.clone()).unwrap().lines().count());
    let check = hookbox(dir.path(), &["check", "hooks.json"], "");
    assert_plain(&check.stdout, String::from_utf8(check.stdout.clone()).unwrap().lines().count());

    let other = json!({ "hook_event_name": "x\n  1  guard.wasm  allow\u{1b}[2J" }).to_string();
    let explain = hookbox(dir.path(), &["explain", "--config", "hooks.json"], &other);
    let text = String::from_utf8(explain.stdout.clone()).unwrap();
    assert_plain(&explain.stdout, text.lines().count());
    assert!(text.starts_with(r"x\n  1  guard.wasm  allow\u{1b}[2J"), "{text}");
}

/// Errors quote parts of their input, such as keys of an event and file names.
#[test]
fn errors_are_plain_text() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hooks.json"), r#"{"hooks":{}}"#).unwrap();
    let event =
        "{\"hook_event_name\":\"Stop\",\"a\u{202e}\\n\\u001b[2Jerror: x\":1,\"a\u{202e}\\n\\u001b[2Jerror: x\":1}";
    let output = hookbox(dir.path(), &["run", "--config", "hooks.json"], event);
    assert_eq!(output.status.code(), Some(65), "{output:?}");
    assert_plain(&output.stderr, 1);
    for args in [&["run", "--config", "\u{1b}[2J\n"][..], &["check", "\u{1b}[2J\n"], &["inspect", "\u{1b}[2J\n"]] {
        let output = hookbox(dir.path(), args, "{}");
        assert_plain(&output.stderr, String::from_utf8(output.stderr.clone()).unwrap().lines().count());
    }
    let output = hookbox(dir.path(), &["run", "--\u{1b}[2J"], "{}");
    assert_eq!(output.status.code(), Some(64));
    assert_plain(&output.stderr, String::from_utf8(output.stderr.clone()).unwrap().lines().count());
}

/// Each line is JSON for a log collector, and plain text for a terminal.
#[test]
fn json_diagnostics_are_json() {
    let dir = tempfile::tempdir().unwrap();
    let said =
        json!({ "hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": FORGED });
    fs::write(dir.path().join("said.json"), json!({ "hookSpecificOutput": said }).to_string()).unwrap();
    let hooks = json!([
        { "type": "command", "command": "cat said.json; echo out of place >&2" },
        { "type": "command", "command": "exit 2" },
        { "type": "wasm", "component": "none.wasm" },
    ]);
    let config = json!({ "hooks": { "PreToolUse": [{ "hooks": hooks }] }, "unknown\n": 1 });
    fs::write(dir.path().join("hooks.json"), config.to_string()).unwrap();
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {} }).to_string();
    let args = ["run", "--config", "hooks.json", "--diagnostics", "json"];
    let output = hookbox(dir.path(), &args, &event);
    assert!(output.status.success(), "{output:?}");
    let text = assert_plain(&output.stderr, 7);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(lines[0]["severity"], "warning");
    assert_eq!(lines[2]["severity"], "error");
    assert_eq!(lines[3]["reason"], FORGED);

    // The warning about the file was already printed.
    let output = hookbox(dir.path(), &args, "no event");
    let text = assert_plain(&output.stderr, 1);
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["severity"], "error");
}

/// Log lines contain names of hooks, which can be command lines.
#[test]
fn a_log_line_is_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let config =
        json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": format!(": '{FORGED}'") }] }] } });
    fs::write(dir.path().join("hooks.json"), config.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.args(["run", "--config", "hooks.json", "--diagnostics", "off"]).current_dir(dir.path());
    let output = fed(command.env("HOOKBOX_LOG", "trace"), br#"{"hook_event_name":"Stop"}"#);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_plain(&output.stderr, text.lines().count());
}

/// The terminal is gone, or the disk is full.
#[test]
#[cfg(target_os = "linux")]
fn unprintable_output_causes_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let hook = json!({ "type": "command", "command": "echo why >&2; exit 2" });
    let config = json!({ "hooks": { "PreToolUse": [{ "hooks": [hook] }] }, "unknown": 1 });
    fs::write(dir.path().join("hooks.json"), config.to_string()).unwrap();
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {} }).to_string();
    let full = || Stdio::from(OpenOptions::new().write(true).open("/dev/full").unwrap());
    let start = |args: &[&str], stdout: Stdio, stderr: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command.args(args).current_dir(dir.path()).stdin(Stdio::piped()).stdout(stdout).stderr(stderr);
        let mut child = command.spawn().unwrap();
        // A hook that does not read stdin breaks the pipe.
        let _ = child.stdin.take().unwrap().write_all(event.as_bytes());
        child.wait_with_output().unwrap()
    };
    for diagnostics in ["human", "json", "off"] {
        let args = ["run", "--config", "hooks.json", "--diagnostics", diagnostics];
        let output = start(&args, Stdio::piped(), full());
        assert!(output.status.success(), "{output:?}");
        let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(verdict["hookSpecificOutput"]["permissionDecision"], "deny");
    }
    for args in [&["--help"][..], &["schema"], &["completions", "bash"], &["check", "hooks.json"]] {
        assert!(start(args, full(), full()).status.success(), "{args:?}");
    }
    assert_eq!(start(&["check", "missing.json"], full(), full()).status.code(), Some(78));
}

/// A megabyte of stderr, with very long lines or escape codes, becomes a few lines of diagnostics.
#[test]
fn a_flood_on_stderr_is_a_few_lines() {
    let dir = tempfile::tempdir().unwrap();
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {} }).to_string();
    for flood in [
        "yes '' | head -c 1000000 >&2",
        "yes \u{1b}[2J | tr -d '\\n' | head -c 1000000 >&2; exit 2",
        "yes | head -c 1000000 >&2; exit 2",
    ] {
        let hooks = json!([{ "type": "command", "command": flood }]);
        let config = json!({ "hooks": { "PreToolUse": [{ "hooks": hooks }] } });
        fs::write(dir.path().join("hooks.json"), config.to_string()).unwrap();
        for diagnostics in ["human", "json"] {
            let args = ["run", "--config", "hooks.json", "--diagnostics", diagnostics];
            let output = hookbox(dir.path(), &args, &event);
            assert!(output.status.success(), "{output:?}");
            assert!(output.stderr.len() < 128 << 10, "{flood}: {} bytes", output.stderr.len());
        }
    }
}

/// The result must not depend on which ends first, the command or its output. It once failed 17 times out of 40.
#[test]
fn too_much_output_is_too_much_every_time() {
    let dir = tempfile::tempdir().unwrap();
    let hooks: Vec<Value> =
        (0..40).map(|_| json!({ "type": "command", "command": "head -c 1048600 /dev/zero >&2" })).collect();
    let config = json!({ "hooks": { "Stop": [{ "hooks": hooks }] } });
    fs::write(dir.path().join("hooks.json"), config.to_string()).unwrap();
    let args = ["run", "--config", "hooks.json", "--diagnostics", "json"];
    let output = hookbox(dir.path(), &args, r#"{"hook_event_name":"Stop"}"#);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.matches(r#""cause":"output-too-large""#).count(), 40, "{text}");
}

/// Hooks with the same name or path in two projects are different hooks, unless the files name the same tenant.
#[test]
fn projects_do_not_share_state() {
    let home = tempfile::tempdir().unwrap();
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/frozen/guest-0.2.0.wasm");
    let owners = |tenant: Value| {
        let config = |dir: &Path| {
            let text = json!({ "host": { "tenant": tenant }, "hooks": { "Stop": [{ "hooks": [
                { "type": "wasm", "component": "./hooks/guard.wasm", "permissions": { "state": true } }] }] } });
            hookbox::config::Config::parse(&text.to_string(), &dir.join("hooks.json"), None).unwrap().config
        };
        let (one, other) = (home.path().join("one"), home.path().join("other"));
        for dir in [&one, &other] {
            fs::create_dir_all(dir.join("hooks")).unwrap();
            fs::copy(&guest, dir.join("hooks/guard.wasm")).unwrap();
        }
        [config(&one), config(&one), config(&other)].map(|config| match &config.hooks[0].handler {
            hookbox::config::Handler::Wasm(wasm) => config.owner(wasm),
            handler => panic!("{handler:?}"),
        })
    };
    let [one, again, other] = owners(Value::Null);
    assert_eq!(one, again);
    assert_ne!(one, other);
    let [one, _, other] = owners("team".into());
    assert_eq!(one, other);
    assert_eq!(one, "hooks/guard.wasm");
}
