//! Components of earlier releases, checked in as binaries, still load and decide (docs/contract.md).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{fs, path::PathBuf, process::Command};

use hookbox::EventKind;
use hookbox_testing::process::fed;
use serde_json::{Value, json};

fn frozen() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/frozen");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "wasm")).collect()
}

#[test]
fn every_frozen_component_handles_every_event_of_its_contract() {
    assert!(!frozen().is_empty());
    for guest in frozen() {
        let output = Command::new(env!("CARGO_BIN_EXE_hookbox")).arg("inspect").arg(&guest).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let missing: Vec<_> = EventKind::ALL.iter().filter(|kind| !text.contains(kind.name())).collect();
        assert!(output.status.success() && missing.is_empty(), "{}: {missing:?}\n{text}", guest.display());
    }
}

#[test]
fn every_frozen_component_decides_as_it_did() {
    for guest in frozen() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("hooks.json");
        let handler = json!({ "type": "wasm", "component": guest, "config": { "a": 1 } });
        let hooks = json!({ "dialect": "claude", "hooks": { "PreToolUse": [{ "hooks": [handler] }] } });
        fs::write(&config, hooks.to_string()).unwrap();
        let mut run = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        run.args(["run", "--config"]).arg(&config).env("XDG_CACHE_HOME", folder.path());
        let event = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
                            "tool_input": { "command": "rm -rf /" } });
        let output = fed(&mut run, event.to_string().as_bytes());
        let wire: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(wire["hookSpecificOutput"]["permissionDecision"], "deny", "{wire}");
        assert_eq!(wire["hookSpecificOutput"]["permissionDecisionReason"], "Bash: rm -rf /", "{wire}");
        assert_eq!(wire["hookSpecificOutput"]["additionalContext"], "frozen", "{wire}");
    }
}
