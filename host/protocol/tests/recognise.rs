#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

//! Every recorded line, held against the marks of every dialect.

use std::path::{Path, PathBuf};

use hookbox_protocol::dialect::recognise;
use serde_json::{Value, json};

/// Folders of samples, and the dialects their clients speak.
const FOLDERS: &[(&str, &str)] = &[
    ("claude", "claude"),
    ("claude_sdk_callback", "claude"),
    ("codebuddy", "codebuddy"),
    ("picoclaw", "picoclaw"),
    ("copilot", "copilot"),
    ("opencode", "opencode"),
];

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples")
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(dir).expect("samples are checked in").map(|e| e.expect("readable").path()) {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "json") {
            found.push(path);
        }
    }
    found
}

fn names(wire: &[u8]) -> Vec<&'static str> {
    recognise(wire).iter().map(|dialect| dialect.name()).collect()
}

#[test]
fn a_recorded_line_is_its_own_clients_and_nobody_elses() {
    let mut told = 0;
    for (folder, own) in FOLDERS {
        for path in files(&samples().join(folder)) {
            let found = names(&std::fs::read(&path).expect("readable"));
            assert!(found.contains(own), "{}: {found:?}", path.display());
            // What says too little to be told apart is left open, among clients that share Claude's fields.
            told += usize::from(found == [*own]);
            let shares = |name: &&str| ["claude", "codebuddy", "codex", "opencode"].contains(name);
            assert!(found.len() == 1 || found.iter().all(shares), "{}: {found:?}", path.display());
        }
    }
    assert!(told > 200, "{told}");
}

#[test]
fn what_anybody_can_have_sent_is_left_open() {
    let bare = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let found = names(bare.to_string().as_bytes());
    assert!(found.contains(&"claude") && found.contains(&"codebuddy") && found.len() > 2, "{found:?}");
    for nobodys in [json!({}), json!({ "command": "ls" }), json!([1]), Value::Null] {
        assert!(names(nobodys.to_string().as_bytes()).is_empty(), "{nobodys}");
    }
    assert!(names(b"{").is_empty());
}
