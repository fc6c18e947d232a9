//! Every example passes its cases through `hookbox test`, with its shipped configuration.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use hookbox_testing::examples;
use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

fn run(config: &Path, event: &Value, state: &Path) -> (Value, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .args(["run", "--config"])
        .arg(config)
        .env("XDG_STATE_HOME", state)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    (serde_json::from_slice(&output.stdout).unwrap_or_default(), stderr)
}

#[test]
fn every_example_passes_its_cases() {
    let names = examples::names();
    assert!(names.len() >= 5, "the examples are gone: {names:?}");
    for name in names {
        let dir = tempfile::tempdir().unwrap();
        examples::holds_its_cases(&name, &examples::component(&name), &name, dir.path());
        assert!(examples::examples_dir().join(&name).join("README.md").is_file(), "{name} has no README.md");
    }
}

#[test]
fn a_hook_for_wasip2_runs_too() {
    let target = examples::target_dir();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--profile", "guest", "--target", "wasm32-wasip2", "--package", "command-guard"]);
    cargo.arg("--target-dir").arg(&target).env_remove("CARGO_ENCODED_RUSTFLAGS").current_dir(examples::examples_dir());
    assert!(cargo.status().unwrap().success());
    let dir = tempfile::tempdir().unwrap();
    let component = target.join("wasm32-wasip2/guest/command_guard.wasm");
    fs::copy(component, dir.path().join("command-guard.wasm")).unwrap();
    let config = dir.path().join("hooks.json");
    fs::copy(examples::examples_dir().join("command-guard/hooks.json"), &config).unwrap();
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "rm -rf /" }
    });
    let (found, stderr) = run(&config, &event, dir.path());
    assert_eq!(found["hookSpecificOutput"]["permissionDecision"], "deny", "{stderr}");
}
