//! `hookbox doctor`: what it finds wrong, and that it finds nothing wrong with what `install` wrote.

use std::{fs, os::unix::fs::PermissionsExt};

use hookbox_testing::process::fed;
use serde_json::{Value, json};

use crate::machine::{Machine, guard};

/// Its exit code, and what it says.
fn doctor(machine: &Machine, args: &[&str]) -> (i32, String) {
    let output = machine.hookbox(&[&["doctor"], args].concat());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn has(text: &str, what: &str, words: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(what) && line.contains(words))
}

#[test]
fn what_was_installed_is_well() {
    for (client, event, timeout) in [
        ("claude", "PreToolUse", 2),
        ("gemini", "BeforeTool", 2000),
        ("copilot", "PreToolUse", 2),
        ("blade", "Stop", 2),
        ("opencode", "PreToolUse", 2),
        ("codebuddy", "UserPromptSubmit", 2),
    ] {
        let machine = Machine::new(&guard(client, event, timeout));
        let (code, text) = doctor(&machine, &[client]);
        assert!(code == 78 && has(&text, "PROBLEM", &format!("hookbox install {client}")), "{text}");
        machine.install(&[client]);
        let program = machine.write(&format!("bin/{client}"), "#!/bin/sh\necho the client 9.8.7\n");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        let (code, text) = doctor(&machine, &[client]);
        assert_eq!(code, 0, "{text}");
        assert!(has(&text, "program", "9.8.7; what is told below was measured in"), "{text}");
        assert!(has(&text, "canary", event) && has(&text, "config", "fails closed"), "{text}");
        assert!(has(&text, "fired", "never"), "a canary is not a client: {text}");
        assert!(has(&text, "holds", "deny"), "{text}");
        // All that are there, and no other.
        let (code, all) = doctor(&machine, &[]);
        assert!(code == 0 && all.lines().count() == text.lines().count(), "{all}");
    }
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    assert_eq!(doctor(&machine, &[]), (0, "no client that hookbox knows is on this machine\n0 problems\n".into()));
}

#[test]
fn it_knows_when_a_client_asked() {
    let machine = Machine::new(&guard("codex", "PreToolUse", 2));
    machine.install(&["codex"]);
    let event = json!({ "hook_event_name": "PreToolUse", "turn_id": "t", "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let mut run = machine.command(env!("CARGO_BIN_EXE_hookbox"));
    fed(run.args(["run", "--config", "hooks.json"]), event.to_string().as_bytes());
    let (_, text) = doctor(&machine, &["codex"]);
    assert!(has(&text, "fired", " s ago"), "{text}");
    let kept = machine.path("home/.local/state/hookbox/fired");
    let names: Vec<_> = fs::read_dir(kept).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["codex.PreToolUse"]);
}

#[test]
fn what_is_wrong_is_told() {
    type Edit = (&'static str, fn(&mut Value));
    let edits: [Edit; 7] = [
        ("in milliseconds", |s| s["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] = json!(30)),
        ("waits 5 s, and the hooks may take 12 s", |s| {
            s["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] = json!(5000);
        }),
        ("BeforeTool has hooks, and no entry", |s| {
            let entry = s["hooks"]["BeforeTool"].take();
            s["hooks"] = json!({ "AfterTool": entry });
        }),
        ("`hooksConfig.enabled` is false", |s| s["hooksConfig"] = json!({ "enabled": false })),
        ("cannot be started", |s| {
            s["hooks"]["BeforeTool"][0]["hooks"][0]["command"] = "/gone/hookbox run --config hooks.json".into();
        }),
        ("gone.json is not there", |s| {
            let command = &mut s["hooks"]["BeforeTool"][0]["hooks"][0]["command"];
            *command = command.as_str().unwrap().replace("hooks.json", "gone.json").into();
        }),
        ("is not an array", |s| s["hooks"]["AfterTool"] = json!({})),
    ];
    for (problem, edit) in edits {
        let machine = Machine::new(&guard("gemini", "BeforeTool", 2000));
        machine.install(&["gemini"]);
        let file = machine.project().join(".gemini/settings.json");
        let mut settings = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        edit(&mut settings);
        fs::write(&file, settings.to_string()).unwrap();
        let (code, text) = doctor(&machine, &["gemini"]);
        assert!(code == 78 && has(&text, "PROBLEM", problem), "{problem}: {text}");
    }

    // A matcher for tools of nobody, and a hook that fails.
    let machine = Machine::new(&json!({ "dialect": "claude", "failClosed": true, "hooks": { "PreToolUse": [
        { "matcher": "Bash|Wrte", "hooks": [{ "type": "wasm", "component": "guard.wasm" }] },
        { "matcher": "mcp__.*", "hooks": [{ "type": "wasm", "component": "guard.wasm" }] } ] } }));
    machine.install(&["claude"]);
    let (code, text) = doctor(&machine, &["claude"]);
    assert!(code == 78 && has(&text, "PROBLEM", "\"Wrte\" names no tool") && text.ends_with("1 problem\n"), "{text}");
    fs::write(machine.project().join("guard.wasm"), "no component").unwrap();
    let (_, text) = doctor(&machine, &["claude"]);
    assert!(has(&text, "canary", "blocks: hook guard.wasm failed"), "{text}");
}
