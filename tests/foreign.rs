//! A client that runs the hooks of another client's settings sends its own payloads. A hook that denies still blocks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use hookbox::{
    DecisionKind, Dialect,
    dialect::{self, ConfigShape, recognise},
};
use hookbox_testing::process::fed;
use serde_json::{Value, json};

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())).map(|e| e.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "json") {
            found.push(path);
        }
    }
    found
}

/// A configuration in which every event that can be blocked has a hook that fails and blocks: its command does not exist.
fn blocks_everything(dialect: &dyn Dialect) -> Value {
    let handler = json!({ "type": "command", "command": "./no-such-command", "args": [], "onFailure": "block" });
    let blockable = dialect.specs().iter().filter(|spec| spec.blockable).map(|spec| spec.name);
    let hooks: Value = match dialect.shape() {
        ConfigShape::Groups => blockable.map(|name| (name.to_owned(), json!([{ "hooks": [handler] }]))).collect(),
        ConfigShape::Flat => blockable.map(|name| (name.to_owned(), json!([handler]))).collect(),
        ConfigShape::Named => {
            let mut named = handler;
            named["intercept"] = blockable.map(|name| name.trim_start_matches("hook.")).collect();
            json!({ "h": named })
        }
    };
    json!({ "dialect": dialect.name(), "hooks": hooks })
}

fn run(config: &Path, wire: &[u8], args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    for name in ["CLAUDECODE", "CODEBUDDY_PROJECT_DIR", "COPILOT_PROJECT_DIR", "GEMINI_PROJECT_DIR"] {
        command.env_remove(name);
    }
    fed(command.args(["run", "--config"]).arg(config).args(args), wire)
}

/// Returns true if the client takes the output for a refusal. The output is in the configured profile, or in the one
/// that the program obeys.
fn holds(configured: &dyn Dialect, client: &dyn Dialect, wire: &[u8], output: &Output) -> bool {
    let base = client.name();
    if configured.name().split('@').next() == Some(base) {
        return refuses(configured, wire, output);
    }
    refuses(dialect::by_name(&format!("{base}@observed")).unwrap_or(client), wire, output)
}

fn refuses(client: &dyn Dialect, wire: &[u8], output: &Output) -> bool {
    let event = client.decode_event(wire, None).unwrap();
    let Ok(Value::Object(printed)) = serde_json::from_slice(&output.stdout) else { return false };
    // PicoClaw's answer is in the result of a reply.
    let printed = printed.get("result").and_then(Value::as_object).cloned().unwrap_or(printed);
    client.decode_output(&event, &printed).is_ok_and(|(said, _)| {
        let refused = matches!(said.decision_kind(), Some(DecisionKind::Deny | DecisionKind::Skip));
        output.status.code() == Some(0) && (refused || said.halt.is_some())
    })
}

#[test]
fn a_recorded_payload_never_turns_a_deny_into_an_allow() {
    let dir = tempfile::tempdir().unwrap();
    let samples = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples"));
    let mut work = Vec::new();
    for path in samples {
        let wire = fs::read(&path).unwrap();
        // A payload without marks counts as one of the configured client.
        let [client] = recognise(&wire)[..] else { continue };
        let event = client.decode_event(&wire, None).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        // Not all dialects have all events that can be blocked, but all have these.
        let gate = ["PreToolUse", "UserPromptSubmit"].contains(&event.kind().name());
        if gate && client.spec_of(&event).blockable {
            work.extend(dialect::ALL.iter().map(|configured| (path.clone(), wire.clone(), client, *configured)));
        }
    }
    for configured in dialect::ALL {
        let config = dir.path().join(format!("{}.json", configured.name()));
        fs::write(config, blocks_everything(*configured).to_string()).unwrap();
    }
    let (next, open) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((path, wire, client, configured)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // A client without such an event has no hook for it.
                    let kind = client.decode_event(wire, None).unwrap().kind();
                    if !configured.specs().iter().any(|spec| spec.kind == kind) {
                        continue;
                    }
                    let output =
                        run(&dir.path().join(format!("{}.json", configured.name())), wire, &["--dialect", "auto"]);
                    if !holds(*configured, *client, wire, &output) {
                        open.lock().unwrap().push(format!(
                            "{} under {}: {output:?}",
                            path.display(),
                            configured.name()
                        ));
                    }
                }
            });
        }
    });
    let open = open.into_inner().unwrap();
    assert!(open.is_empty(), "{} of {}\n{}", open.len(), work.len(), open.join("\n"));
    assert!(work.len() > 300, "{}", work.len());
}

const COPILOT: &[u8] = br#"{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"bash","toolArgs":{"command":"ls"}}"#;

#[test]
fn copilot_in_claudes_settings_gets_the_copilot_dialect() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("settings.json");
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#;
    let command = format!("cat >/dev/null; echo '{deny}'; echo why >&2; exit 2");
    let hooks = json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": command }] }] });
    fs::write(&config, json!({ "hooks": hooks }).to_string()).unwrap();
    for args in [&[][..], &["--dialect", "auto"]] {
        let output = run(&config, COPILOT, args);
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(printed, json!({ "permissionDecision": "deny", "permissionDecisionReason": "why" }));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("the caller is copilot, not claude"), "{stderr}");
    }
}

/// decisions.md#who-is-calling: "`--dialect` and `--event` override the payload".
#[test]
fn an_explicit_dialect_and_event_override_recognition() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hooks.json");
    let skip = json!({ "type": "command", "command": "cat >/dev/null; echo why >&2; exit 2" });
    let call =
        json!({ "sessionId": "s", "timestamp": 1, "cwd": "/p", "toolName": "Bash", "toolArgs": {}, "toolInput": {} });
    let hooks = json!({ "dialect": "blade-callback", "hooks": { "PreToolUse": [skip] } });
    fs::write(&config, hooks.to_string()).unwrap();
    for args in [&["--event", "PreToolUse"][..], &["--dialect", "blade-callback", "--event", "PreToolUse"]] {
        let output = run(&config, call.to_string().as_bytes(), args);
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(printed, json!({ "action": "skip", "reason": "why" }), "{args:?}");
    }
    let call = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "timestamp": 1, "cwd": "/p", "turn_id": "t",
        "tool_name": "Bash", "tool_input": {} });
    let hooks = json!({ "dialect": "codebuddy", "hooks": { "PreToolUse": [{ "hooks": [skip] }] } });
    fs::write(&config, hooks.to_string()).unwrap();
    let output = run(&config, call.to_string().as_bytes(), &["--dialect", "codebuddy"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["decision"], "block");
}

#[test]
fn an_ambiguous_client_is_refused_under_fail_closed() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hooks.json");
    fs::write(&config, json!({ "dialect": "blade", "hooks": {} }).to_string()).unwrap();
    let wire = br#"{"hook_event_name":"PreCompact","session_id":"s"}"#;
    for (args, code) in [(&["--dialect", "auto"][..], 65), (&["--dialect", "auto", "--fail-closed"], 2)] {
        let output = run(&config, wire, args);
        assert_eq!(output.status.code(), Some(code));
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8(output.stderr).unwrap().contains("one of claude, codebuddy"));
    }
}
