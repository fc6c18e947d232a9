//! Whole command-line transcripts, as a user sees them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use hookbox_testing::examples;
use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use hookbox_testing::process::fed;
use insta::{assert_snapshot, with_settings};

/// Runs `hookbox` in a folder and shows its exit code and output.
fn transcript(dir: &Path, args: &[&str], stdin: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    let output = fed(command.args(args).current_dir(dir).env("XDG_STATE_HOME", dir), stdin.as_bytes());
    format!(
        "exit code {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap()
    )
}

/// Patterns for output that differs between machines and builds.
const VOLATILE: &[(&str, &str)] = &[
    (r"/[^ ]*/\.tmp\w+/", "[DIR]/"),
    (r"\s+\d+(\.\d+)? (µs|ms|s)\b", " [TIME]"),
    (r#""at":\d+"#, r#""at":[TIME]"#),
    (r#""timeUs":\d+"#, r#""timeUs":[TIME]"#),
    (r"\d+ fuel", "[FUEL] fuel"),
    (r#""componentDigest":"[0-9a-f]+""#, r#""componentDigest":"[DIGEST]""#),
    (r#""fuel":\d+"#, r#""fuel":[FUEL]"#),
    (r"\d+ KB", "[SIZE] KB"),
    (r"sha256:[0-9a-f]+", "sha256:[DIGEST]"),
];

macro_rules! assert_transcript {
    ($name:literal, $transcript:expr) => {
        with_settings!({ filters => VOLATILE.to_vec(), prepend_module_to_snapshot => false, omit_expression => true }, {
            assert_snapshot!($name, $transcript);
        })
    };
}

const RM: &str =
    r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;

/// A folder with the command guard, a command that allows, one that fails, and one that does not match.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(examples::component("command-guard"), dir.path().join("guard.wasm")).unwrap();
    let allow = r#"echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{\"command\":\"true\"}}}'"#;
    let config = format!(
        r#"{{
  "dialect": "claude",
  "hooks": {{
    "PreToolUse": [
      {{ "matcher": "Bash", "hooks": [ {{ "type": "wasm", "component": "guard.wasm" }} ] }},
      {{ "hooks": [
        {{ "type": "command", "command": "{allow}" }},
        {{ "type": "command", "command": "echo oh no >&2; exit 3" }}
      ] }},
      {{ "matcher": "Write|Edit", "hooks": [ {{ "type": "command", "command": "./lint.sh" }} ] }}
    ]
  }}
}}
"#
    );
    fs::write(dir.path().join("hooks.json"), config).unwrap();
    fs::write(dir.path().join("rm.json"), RM).unwrap();
    dir
}

#[test]
fn run_reports_every_hook() {
    let dir = project();
    assert_transcript!("run", transcript(dir.path(), &["run", "--config", "hooks.json"], RM));
    assert_transcript!(
        "run_json",
        transcript(dir.path(), &["run", "--config", "hooks.json", "--diagnostics", "json"], RM)
    );
    assert_transcript!(
        "run_off",
        transcript(dir.path(), &["run", "--config", "hooks.json", "--diagnostics", "off"], RM)
    );
}

/// Clients start hookbox for every event, so warnings about a file are printed only when the file is new.
#[test]
fn warnings_are_printed_once_per_version_of_the_file() {
    let dir = project();
    let warned = |args: &[&str]| {
        let args: Vec<&str> = [&["run", "--config", "hooks.json"], args].concat();
        transcript(dir.path(), &args, RM).matches("no failure policy applies").count()
    };
    assert_eq!(warned(&["--diagnostics", "off"]), 0);
    assert_eq!([warned(&[]), warned(&[]), warned(&["--diagnostics", "json"])], [1, 0, 0]);
    let file = dir.path().join("hooks.json");
    fs::write(&file, fs::read_to_string(&file).unwrap() + "\n").unwrap();
    assert_eq!([warned(&["--diagnostics", "off"]), warned(&["--diagnostics", "json"]), warned(&[])], [0, 1, 0]);
    for _ in 0..2 {
        assert!(transcript(dir.path(), &["check"], "").contains("no failure policy applies"));
    }
}

/// A megabyte of words around `rm -rf /` does not hide it.
#[test]
fn padding_exhausts_no_guard() {
    let dir = project();
    let padded = RM.replace("rm -rf /", &format!("rm -rf / {}", "a b;".repeat(1 << 18)));
    let text = transcript(dir.path(), &["run", "--config", "hooks.json", "--diagnostics", "off"], &padded);
    assert!(text.contains("`rm -rf` is not allowed here"), "{}", &text[..1000.min(text.len())]);
}

/// A record has a line for every verdict, with the digests of the event and the configuration. The digests equal those
/// of `sha256sum`.
#[test]
fn a_record_has_the_hooks_and_their_outputs() {
    let dir = project();
    for _ in 0..2 {
        transcript(
            dir.path(),
            &["run", "--config", "hooks.json", "--record", "records.jsonl", "--diagnostics", "off"],
            RM,
        );
    }
    let records = fs::read_to_string(dir.path().join("records.jsonl")).unwrap();
    assert_eq!(records.lines().count(), 2);
    assert_transcript!("record", records.lines().next().unwrap());

    let into_a_folder =
        transcript(dir.path(), &["run", "--config", "hooks.json", "--record", ".", "--diagnostics", "off"], RM);
    assert_transcript!("record_unwritable", into_a_folder);
}

/// A link in a project may point to any file of the user.
#[test]
fn a_record_is_not_written_through_a_link() {
    let dir = project();
    for target in ["existing", "not-there"] {
        fs::write(dir.path().join("existing"), "existing").unwrap();
        let _ = fs::remove_file(dir.path().join("records.jsonl"));
        std::os::unix::fs::symlink(dir.path().join(target), dir.path().join("records.jsonl")).unwrap();
        let told = transcript(dir.path(), &["run", "--config", "hooks.json", "--record", "records.jsonl"], RM);
        assert!(told.contains("deny") && told.contains("it is a link"), "{told}");
        assert_eq!(fs::read_to_string(dir.path().join("existing")).unwrap(), "existing");
        assert!(!dir.path().join("not-there").exists());
    }
}

/// A new record starts on its own line even if a full disk cut off the one before it.
#[test]
fn a_record_is_private_and_one_line() {
    let dir = project();
    let file = dir.path().join("records.jsonl");
    let run = || transcript(dir.path(), &["run", "--config", "hooks.json", "--record", "records.jsonl"], RM);
    run();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    run();
    run();
    let text = fs::read_to_string(&file).unwrap();
    let readable: Vec<bool> = text.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).is_ok()).collect();
    assert_eq!(readable, [false, true, true], "{text}");
}

/// decisions.md#codex: "After eight blocks in a row a stop is no longer blocked: Codex has no limit of its own."
#[test]
fn a_stop_that_is_always_blocked_ends() {
    let dir = tempfile::tempdir().unwrap();
    let hook = r#"{"hooks":[{"type":"command","command":"echo go on >&2; exit 2"}]}"#;
    let config = format!(r#"{{"dialect":"codex","hooks":{{"Stop":[{hook}]}}}}"#);
    fs::write(dir.path().join("hooks.json"), config).unwrap();
    let stop = |active: bool| {
        let event =
            format!(r#"{{"hook_event_name":"Stop","session_id":"s","turn_id":"t","stop_hook_active":{active}}}"#);
        transcript(dir.path(), &["run", "--config", "hooks.json"], &event).contains("\"decision\":\"block\"")
    };
    let blocked: Vec<bool> = (0..10).map(|time| stop(time > 0)).collect();
    assert_eq!(blocked, [true, true, true, true, true, true, true, true, false, false]);
    assert!(stop(false), "another turn");
}

#[test]
fn explain_names_the_clause() {
    let dir = project();
    assert_transcript!(
        "explain",
        transcript(dir.path(), &["explain", "--config", "hooks.json", "--input", "rm.json"], "")
    );
}

/// `--event` is always a name. It is also a file where only a value makes sense, as in older versions.
#[test]
fn event_options_mean_the_same_in_every_command() {
    let dir = project();
    let told =
        |args: &[&str]| transcript(dir.path(), args, r#"{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#);
    let unnamed = r#"{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;
    fs::write(dir.path().join("unnamed.json"), unnamed).unwrap();
    for command in [&["explain"][..], &["check"], &["bench", "guard.wasm", "--runs", "1"], &["inspect", "guard.wasm"]] {
        let with = |rest: &[&str]| told(&[command, rest].concat());
        let named = with(&["--input", "unnamed.json", "--event", "PreToolUse"]);
        assert!(named.starts_with("exit code 0\n"), "{command:?}\n{named}");
        let missing = with(&["--input", "unnamed.json"]);
        assert!(missing.contains("/hook_event_name: missing"), "{command:?}\n{missing}");
        let misspelt = with(&["--input", "unnamed.json", "--event", "PreTolUse"]);
        let error = "error: unknown event `PreTolUse` (did you mean `PreToolUse`?)";
        assert!(misspelt.contains(error) && misspelt.starts_with("exit code 65\n"), "{command:?}\n{misspelt}");
        let older = with(&["--event", "rm.json"]);
        assert!(older.starts_with("exit code 0\n"), "{command:?}\n{older}");
    }
    let older = told(&["explain", "--event", "./unnamed.json", "--name", "PreToolUse"]);
    assert!(older.starts_with("exit code 0\n"), "{older}");
    let two = told(&["explain", "--input", "rm.json", "--event", "unnamed.json"]);
    assert!(two.starts_with("exit code 64\n") && two.contains("two event files"), "{two}");
    let judged = told(&["run", "--config", "hooks.json", "--event", "PreToolUse"]);
    assert!(judged.contains("\"permissionDecision\":\"deny\""), "{judged}");
    let misspelt = told(&["run", "--config", "hooks.json", "--event", "pretolUse"]);
    assert!(misspelt.starts_with("exit code 65\n") && misspelt.contains("did you mean `PreToolUse`?"), "{misspelt}");
    let shut = told(&["run", "--config", "hooks.json", "--event", "pretolUse", "--fail-closed"]);
    assert!(shut.starts_with("exit code 2\n") && shut.contains("unknown event `pretolUse`"), "{shut}");
    let new = told(&["run", "--config", "hooks.json", "--event", "ModelChanged"]);
    assert!(new.starts_with("exit code 0\n"), "a name that resembles none: {new}");
}

#[test]
fn inspect_shows_three_groups() {
    let dir = project();
    assert_transcript!("inspect", transcript(dir.path(), &["inspect", "guard.wasm"], ""));
    fs::write(dir.path().join("core.wasm"), b"\0asm\x01\0\0\0").unwrap();
    fs::write(dir.path().join("text.wasm"), b"not wasm").unwrap();
    assert_transcript!("inspect_core", transcript(dir.path(), &["inspect", "core.wasm"], ""));
    assert_transcript!("inspect_text", transcript(dir.path(), &["inspect", "text.wasm"], ""));
}

#[test]
fn check_reports_all_errors_at_once() {
    let dir = project();
    assert_transcript!("check_good", transcript(dir.path(), &["check"], ""));
    fs::copy(examples::component("rate-limit"), dir.path().join("rate-limit.wasm")).unwrap();
    let config = r#"{
  "dialect": "claude",
  "hooks": {
    "PreToolUse": [
      { "mathcer": "Bash", "hooks": [ { "type": "wasm", "component": "guard.wasm", "timeout": -1 } ] },
      { "matcher": "(", "hooks": [ { "type": "wasm" }, { "type": "comand", "command": "x" } ] }
    ]
  }
}
"#;
    fs::write(dir.path().join("hooks.json"), config).unwrap();
    assert_transcript!("check_bad", transcript(dir.path(), &["check"], ""));
    let config = r#"{
  "hooks": {
    "PreToolUse": [ { "hooks": [
      { "type": "wasm", "component": "rate-limit.wasm" },
      { "type": "wasm", "component": "missing.wasm" },
      { "type": "mcp_tool", "server": "x", "tool": "y" }
    ] } ],
    "Stop": [ { "hooks": [ { "type": "wasm", "component": "guard.wasm" } ] } ]
  }
}
"#;
    fs::write(dir.path().join("hooks.json"), config).unwrap();
    assert_transcript!("check_components", transcript(dir.path(), &["check"], ""));
}

/// A missing component is reported together with the errors of the file.
#[test]
fn check_reports_missing_components_beside_other_errors() {
    let dir = project();
    let config = r#"{ "hooks": { "PreToolUse": [ { "mathcer": "Bash", "hooks": [
      { "type": "wasm", "component": "guard.wasm" },
      { "type": "wasm", "component": "gone/missing.wasm" } ] } ] }, "failclosed": true }"#;
    fs::write(dir.path().join("hooks.json"), config).unwrap();
    let told = transcript(dir.path(), &["check"], "");
    for part in ["unknown key `mathcer`", "`missing.wasm`: cannot read ", "/hooks/PreToolUse/0/hooks/1", "3 errors, "] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    assert!(told.starts_with("exit code 78\n") && !told.contains("`guard.wasm`: cannot"), "{told}");
}

#[test]
fn check_reports_outputs_beyond_authority() {
    let dir = project();
    fs::copy(examples::component("path-rewriter"), dir.path().join("path-rewriter.wasm")).unwrap();
    let config = r#"{ "hooks": { "PreToolUse": [ { "hooks": [
      { "type": "wasm", "component": "path-rewriter.wasm", "config": { "prefix": "/sandbox" } },
      { "type": "command", "command": "touch ran" } ] } ] } }"#;
    fs::write(dir.path().join("hooks.json"), config).unwrap();
    let event = r#"{ "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": { "file_path": "/etc/x" } }"#;
    fs::write(dir.path().join("write.json"), event).unwrap();
    let args = ["check", "--input", "write.json", "--input", "rm.json"];
    assert_transcript!("check_beyond", transcript(dir.path(), &args, ""));
    assert!(!dir.path().join("ran").exists(), "commands are not run");
}

#[test]
fn check_asks_about_the_events_beside_a_configuration() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(examples::component("path-rewriter"), dir.path().join("path-rewriter.wasm")).unwrap();
    let config = |authority: &str| {
        format!(
            r#"{{ "failClosed": true, "hooks": {{ "PreToolUse": [ {{ "hooks": [ {{ "type": "wasm",
            "component": "path-rewriter.wasm", "config": {{ "prefix": "/sandbox" }}, "authority": {authority} }} ] }} ] }} }}"#
        )
    };
    let event = r#"{ "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": { "file_path": "/etc/x" } }"#;
    let check = |authority: &str| {
        fs::write(dir.path().join("hooks.json"), config(authority)).unwrap();
        transcript(dir.path(), &["check"], "")
    };
    let beyond = "on PreToolUse exceeds its authority: this hook may not rewrite this";
    assert!(!check("\"gate\"").contains(beyond), "no event stands there");
    fs::write(dir.path().join("event.json"), event).unwrap();
    let told = check(r#"{ "decide": ["allow"] }"#);
    assert!(
        told.contains(beyond) && told.contains(r#"add "authority": {"decide":["allow"],"rewrite":["/file_path"]"#),
        "{told}"
    );
    assert!(check("\"rewriter\"").contains("0 errors, 0 warnings"));

    fs::remove_file(dir.path().join("event.json")).unwrap();
    fs::create_dir(dir.path().join("tests")).unwrap();
    let cases =
        |more: &str| format!("- name: a write\n{more}  event: {event}\n- name: again\n{more}  event: {event}\n");
    fs::write(dir.path().join("tests/cases.yaml"), cases("")).unwrap();
    assert_eq!(check(r#"{ "decide": ["allow"] }"#).matches(beyond).count(), 1, "once for each hook");
    for other in [
        "  dialect: gemini\n",
        "  config: { prefix: / }\n",
        "  permissions: {}\n",
        "  configuration: { mode: monitor }\n",
    ] {
        fs::write(dir.path().join("tests/cases.yaml"), cases(other)).unwrap();
        assert!(!check(r#"{ "decide": ["allow"] }"#).contains(beyond), "another configuration: {other}");
    }
}

#[test]
fn every_help_has_an_example() {
    let dir = tempfile::tempdir().unwrap();
    let help = transcript(dir.path(), &["--help"], "");
    let commands = help.split("Commands:\n").nth(1).unwrap().lines().map_while(|line| line.trim().split(' ').next());
    let commands: Vec<&str> = commands.take_while(|name| !name.is_empty()).filter(|name| *name != "help").collect();
    assert!(commands.len() >= 16, "{commands:?}");
    for command in commands {
        let help = transcript(dir.path(), &[command, "--help"], "");
        let example = |title: &str| help.contains(&format!("{title}:\n  hookbox {command}"));
        assert!(example("Example") || example("Examples"), "{help}");
    }
}

#[test]
fn help_reads_well() {
    let dir = tempfile::tempdir().unwrap();
    for command in ["", "run", "explain", "check", "trust", "install", "doctor", "inspect", "build"] {
        let args: Vec<&str> = [command, "--help"].into_iter().filter(|arg| !arg.is_empty()).collect();
        let text = transcript(dir.path(), &args, "");
        let name = format!("help_{command}");
        with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, { assert_snapshot!(name, text); });
    }
}
