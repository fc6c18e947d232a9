#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

//! Recognition of every recorded line by the marks of all dialects.

use std::path::{Path, PathBuf};

use hookbox_protocol::dialect::{self, Caller, caller, recognise, recognised};
use serde_json::{Value, json};

/// Folders of samples, with the dialects of their clients.
const FOLDERS: &[(&str, &str)] = &[
    ("claude", "claude"),
    ("claude_sdk_callback", "claude"),
    ("codebuddy", "codebuddy"),
    ("picoclaw", "picoclaw"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("copilot", "copilot"),
    ("opencode", "opencode"),
    ("blade/command", "blade"),
    ("blade/callback", "blade-callback"),
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
fn a_recorded_line_is_recognised_as_its_client_only() {
    let mut told = 0;
    for (folder, own) in FOLDERS {
        for path in files(&samples().join(folder)) {
            let found = names(&std::fs::read(&path).expect("readable"));
            assert!(found.contains(own), "{}: {found:?}", path.display());
            // An ambiguous line may fit several clients, if they share Claude's fields.
            told += usize::from(found == [*own]);
            let shares = |name: &&str| ["claude", "codebuddy", "codex", "opencode"].contains(name);
            assert!(found.len() == 1 || found.iter().all(shares), "{}: {found:?}", path.display());
        }
    }
    assert!(told > 200, "{told}");
}

#[test]
fn an_ambiguous_payload_is_not_recognised() {
    let bare = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let found = names(bare.to_string().as_bytes());
    assert!(found.contains(&"claude") && found.contains(&"codebuddy") && found.len() > 2, "{found:?}");
    for nobodys in [json!({}), json!({ "command": "ls" }), json!([1]), Value::Null] {
        assert!(names(nobodys.to_string().as_bytes()).is_empty(), "{nobodys}");
    }
    assert!(names(b"{").is_empty());
}

fn told(configured: &str, wire: &[u8], variables: &[&str]) -> String {
    let configured = dialect::by_name(configured).expect("a dialect");
    word(recognised(configured, wire, None, |name| variables.contains(&name)))
}

fn word(caller: Caller) -> String {
    match caller {
        Caller::Own => "own".into(),
        Caller::Foreign(dialect) => dialect.name().trim_end_matches("@observed").into(),
        Caller::Unclear(several) => several.iter().map(|d| d.name()).collect::<Vec<_>>().join("|"),
    }
}

#[test]
fn every_recorded_line_is_recognised_under_every_dialect() {
    for (folder, own) in FOLDERS {
        for path in files(&samples().join(folder)) {
            let wire = std::fs::read(&path).expect("readable");
            let marked = names(&wire) == [*own];
            for configured in dialect::ALL {
                let base = configured.name().split('@').next().expect("a name");
                let found = told(configured.name(), &wire, &[]);
                let place = format!("{} under {}", path.display(), configured.name());
                if base == *own {
                    assert_eq!(found, "own", "{place}");
                } else if marked {
                    assert_eq!(found, *own, "{place}");
                }
            }
        }
    }
}

#[test]
fn a_line_is_never_mistaken_for_another_clients() {
    let mut foreign = 0;
    for (folder, own) in FOLDERS {
        for path in files(&samples().join(folder)) {
            let wire = std::fs::read(&path).expect("readable");
            for configured in dialect::ALL {
                let found = word(caller(*configured, &wire));
                let place = format!("{} under {}: {found}", path.display(), configured.name());
                let base = configured.name().split('@').next().expect("a name");
                assert!(found == "own" || found == *own && base != *own, "{place}");
                foreign += usize::from(found == *own);
            }
        }
    }
    assert!(foreign > 1000, "{foreign}");
}

#[test]
fn a_dialect_yields_only_to_proof() {
    let own = [
        (
            "blade-callback",
            json!({ "event": "PreToolUse", "sessionId": "s", "timestamp": 1, "cwd": "/p", "toolName": "Bash" }),
        ),
        ("blade-callback", json!({ "sessionId": "s", "toolName": "Bash", "toolInput": {} })),
        ("codebuddy", json!({ "hook_event_name": "PreToolUse", "session_id": "s", "timestamp": 1, "cwd": "/p" })),
        ("blade", json!({ "hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "t", "cwd": "/p" })),
        ("claude", json!({ "hook_event_name": "Stop", "session_id": "s", "timestamp": "t", "cwd": "/p" })),
        ("gemini", json!({ "hook_event_name": "BeforeTool", "turn": 1 })),
        (
            "claude",
            json!({ "hook_event_name": "Stop", "turn_id": "t", "transcript_path": "/h/.claude/projects/p/s.jsonl" }),
        ),
        // Proof of two clients is no proof.
        ("codebuddy", json!({ "hook_event_name": "Stop", "turn_id": "t", "prompt_id": "p" })),
    ];
    for (configured, payload) in own {
        let configured = dialect::by_name(configured).expect("a dialect");
        assert_eq!(word(caller(configured, payload.to_string().as_bytes())), "own", "{} {payload}", configured.name());
    }
    let others = [
        (
            "claude",
            "codex",
            json!({ "hook_event_name": "SessionStart", "transcript_path": "/h/.codex/sessions/r.jsonl" }),
        ),
        (
            "codex",
            "claude",
            json!({ "hook_event_name": "SessionStart", "transcript_path": "C:\\u\\.claude\\projects\\s.jsonl" }),
        ),
        (
            "claude",
            "codebuddy",
            json!({ "hook_event_name": "Stop", "transcript_path": "/h/.codebuddy/projects/s.jsonl" }),
        ),
        ("claude", "gemini", json!({ "hook_event_name": "SessionEnd", "transcript_path": "/h/.gemini/tmp/s.jsonl" })),
        (
            "claude",
            "copilot",
            json!({ "sessionId": "s", "timestamp": 1, "cwd": "/p", "toolName": "bash", "toolArgs": {} }),
        ),
        ("claude", "picoclaw", json!({ "jsonrpc": "2.0", "id": 1, "method": "hook.before_tool", "params": {} })),
    ];
    for (configured, calling, payload) in others {
        let configured = dialect::by_name(configured).expect("a dialect");
        let found = word(caller(configured, payload.to_string().as_bytes()));
        assert!(found.starts_with(calling), "{} {payload}: {found}", configured.name());
    }
}

#[test]
fn the_environment_breaks_ties_only() {
    let bare = br#"{"hook_event_name":"PreCompact","session_id":"s","cwd":"/p"}"#;
    assert_eq!(told("claude", bare, &["CODEBUDDY_PROJECT_DIR"]), "own");
    assert_eq!(told("blade", bare, &["CODEBUDDY_PROJECT_DIR"]), "codebuddy");
    assert!(told("blade", bare, &["CODEBUDDY_PROJECT_DIR", "CLAUDECODE"]).contains('|'));
    assert!(told("blade", bare, &[]).contains("claude|codebuddy"));
    let nobodys = br#"{"hook_event_name":"BrandNewEvent","session_id":"s","cwd":"/p"}"#;
    assert_eq!(told("blade", nobodys, &["CODEBUDDY_PROJECT_DIR"]), "own");
    // A nested agent inherits the environment, but its payload identifies it.
    let copilot = br#"{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"bash","toolArgs":{}}"#;
    assert_eq!(told("claude", copilot, &["CLAUDECODE"]), "copilot");
}

#[test]
fn an_unmarked_event_belongs_to_the_configured_client() {
    let bare = br#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash"}"#;
    for configured in ["claude", "claude@observed", "codebuddy", "blade", "copilot", "opencode"] {
        assert_eq!(told(configured, bare, &[]), "own", "{configured}");
    }
    for nobodys in [&b"{"[..], b"[]", b"{}", b"{\"hook_event_name\":1}"] {
        assert_eq!(told("picoclaw", nobodys, &[]), "own");
    }
}
