#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

//! Decoding and encoding returns every line that was recorded from a real client.

use std::path::Path;

use hookbox_protocol::dialect;
use serde_json::Value;

fn files(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("samples are checked in").map(|e| e.expect("readable")) {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "json") {
            found.push(path);
        }
    }
}

fn lossless(folder: &str, dialect: &str, at_least: usize) {
    let dialect = dialect::by_name(dialect).expect("a dialect");
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples").join(folder), &mut found);
    assert!(found.len() >= at_least, "{folder}: {} samples", found.len());
    for path in found {
        let wire = std::fs::read(&path).expect("readable");
        let event = dialect.decode_event(&wire, None).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let original: Value = serde_json::from_slice(&wire).expect("JSON");
        assert_eq!(dialect.encode_event(&event), original, "{}", path.display());
        // Hooks find all fields, some of them under a second name too.
        let found = event.raw.as_object().expect("an object");
        let all = original.as_object().expect("an object");
        assert!(all.iter().all(|(key, value)| found.get(key) == Some(value)), "{}", path.display());
    }
}

#[test]
fn claude() {
    lossless("claude", "claude", 75);
    lossless("claude_sdk_callback", "claude", 30);
}

#[test]
fn blade() {
    for dialect in ["blade", "blade@observed"] {
        lossless("blade/command", dialect, 60);
    }
    for dialect in ["blade-callback", "blade-callback@observed"] {
        lossless("blade/callback", dialect, 20);
    }
}

#[test]
fn picoclaw() {
    lossless("picoclaw", "picoclaw", 30);
}

#[test]
fn codex() {
    lossless("codex", "codex", 29);
}

#[test]
fn gemini() {
    lossless("gemini", "gemini", 30);
}

#[test]
fn codebuddy() {
    for dialect in ["codebuddy", "codebuddy@observed"] {
        lossless("codebuddy/command", dialect, 45);
        lossless("codebuddy/sdk_callback", dialect, 20);
    }
}

#[test]
fn copilot() {
    lossless("copilot", "copilot", 56);
}

#[test]
fn opencode() {
    lossless("opencode", "opencode", 18);
}
