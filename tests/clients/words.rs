//! The hooks of a file get events in its own client's dialect, under any caller.

use std::fs;

use hookbox_testing::process::fed;
use serde_json::{Value, json};

use crate::machine::Machine;

/// A gate for Claude Code, which reads Claude's payload and answers in Claude's form.
const GATE: &str = r#"cat > seen.json; grep -q '"tool_name":"Bash"' seen.json && grep -q '"hook_event_name":"PreToolUse"' seen.json && printf %s '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not here"}}'"#;

fn payloads() -> Vec<(&'static str, Value)> {
    let input = json!({ "command": "mkfs /dev/sda" });
    let snake = |event: &str, tool: &str| json!({ "hook_event_name": event, "session_id": "s", "cwd": "/", "tool_name": tool, "tool_input": input });
    vec![
        ("claude", snake("PreToolUse", "Bash")),
        ("codebuddy", snake("PreToolUse", "Bash")),
        ("codex", snake("PreToolUse", "Bash")),
        ("blade@observed", snake("PreToolUse", "Bash")),
        ("opencode", snake("PreToolUse", "bash")),
        ("gemini", snake("BeforeTool", "run_shell_command")),
        ("copilot", snake("PreToolUse", "Bash")),
        ("copilot", json!({ "sessionId": "s", "timestamp": 1, "cwd": "/", "toolName": "bash", "toolArgs": input })),
    ]
}

#[test]
fn a_command_of_claude_holds_behind_every_client() {
    for (client, payload) in payloads() {
        for closed in [false, true] {
            let config = json!({ "dialect": "claude", "failClosed": closed, "hooks": { "PreToolUse": [
                { "matcher": "Bash", "hooks": [{ "type": "command", "command": GATE }] } ] } });
            let machine = Machine::new(&config);
            // The dialect is the client's name if the file allows that, or else the event determines it.
            let named = if client == "gemini" { "auto" } else { client };
            let mut command = machine.command(env!("CARGO_BIN_EXE_hookbox"));
            let event = payload.get("toolName").map(|_| ["--event", "preToolUse"]);
            command.args(["run", "--config", "hooks.json", "--dialect", named]).args(event.into_iter().flatten());
            let text = match client {
                "gemini" => {
                    let mut payload = payload.clone();
                    payload["timestamp"] = "2026-11-22T03:00:00Z".into();
                    payload["transcript_path"] = "/home/u/.gemini/tmp/p/chats/session.json".into();
                    payload.to_string()
                }
                _ => payload.to_string(),
            };
            let output = fed(&mut command, text.as_bytes());
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{client}: {output:?}"));
            let seen = fs::read_to_string(machine.project().join("seen.json")).unwrap();
            let dialect = hookbox::dialect::by_name(client).unwrap();
            let event = dialect.decode_event(text.as_bytes(), event.map(|[_, name]| name)).unwrap();
            let (read, _) = dialect.decode_output(&event, said.as_object().unwrap()).unwrap();
            assert_eq!(read.decision_kind(), Some(hookbox::DecisionKind::Deny), "{client}: {said} {stderr} {seen}");
            assert!(said.to_string().contains("not here") && !said.to_string().contains("failed"), "{client}: {said}");
        }
    }
}

#[test]
fn a_failure_counts_as_it_does_for_the_client_of_the_file() {
    let (_, payload) = payloads().pop().unwrap();
    for (dialect, event, denies) in [("claude", "PreToolUse", false), ("copilot", "preToolUse", true)] {
        let config = json!({ "dialect": dialect, "hooks": { event: [
            { "hooks": [{ "type": "command", "command": "exit 1" }] } ] } });
        let machine = Machine::new(&config);
        let mut command = machine.command(env!("CARGO_BIN_EXE_hookbox"));
        command.args(["run", "--config", "hooks.json", "--dialect", "copilot", "--event", "preToolUse"]);
        let output = fed(&mut command, payload.to_string().as_bytes());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said.contains("deny"), denies, "{dialect}: {output:?}");
    }
}

#[test]
fn a_matcher_matches_the_tool_under_every_name() {
    for (dialect, event, matcher) in [
        ("claude", "PreToolUse", "Bash"),
        ("gemini", "BeforeTool", "run_shell_command"),
        ("copilot", "preToolUse", "bash"),
        ("codex", "PreToolUse", "Bash"),
    ] {
        for (client, payload) in payloads() {
            let config = json!({ "dialect": dialect, "hooks": { event: [
                { "matcher": matcher, "hooks": [{ "type": "command", "command": "cat > seen.json; echo no >&2; exit 2" }] } ] } });
            let machine = Machine::new(&config);
            let file = machine.project().join("hooks.json");
            let text = fs::read_to_string(&file).unwrap();
            let config = hookbox::config::Config::parse(&text, &file, None).unwrap().config;
            let caller = hookbox::dialect::by_name(client).unwrap();
            let config = config.answering(caller);
            assert_eq!(config.written.name(), dialect);
            let name = payload.get("toolName").map(|_| "preToolUse");
            let wire = payload.to_string();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let verdict = runtime.block_on(async {
                let host = hookbox::HookSet::standalone().config(config).build().await.unwrap();
                match name {
                    Some(name) => host.dispatch_as(name, wire.as_bytes()).await.unwrap(),
                    None => host.dispatch(wire.as_bytes()).await.unwrap(),
                }
            });
            let said = String::from_utf8(verdict.to_bytes()).unwrap();
            assert!(said.contains("no"), "{dialect} {matcher} asked by {client}: {said}");
            assert!(machine.project().join("seen.json").exists());
        }
    }
}
