//! Hooks that `hookbox install` moves come back, and other hooks keep their approvals.

use std::fs;

use serde_json::{Value, json};

use crate::machine::{Machine, guard};

fn read(file: &std::path::Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Hooks of a user before and after hookbox's, both approved.
fn approved(machine: &Machine) -> (std::path::PathBuf, std::path::PathBuf, String) {
    let hook = |name: &str| json!({ "hooks": [{ "type": "command", "command": name }] });
    let hooks = json!({ "hooks": { "PreToolUse": [hook("./first.sh"), hook("./second.sh")] } });
    let hooks = machine.write("project/.codex/hooks.json", &hooks.to_string());
    let state = |place: usize, hash: &str| {
        format!("[hooks.state.\"{}:pre_tool_use:{place}:0\"]\ntrusted_hash = \"sha256:{hash}\"\n", hooks.display())
    };
    let text = format!("{}\n{}", state(0, "aa"), state(1, "bb"));
    let toml = machine.write("home/.codex/config.toml", &text);
    (hooks, toml, text)
}

#[test]
fn codex_keeps_other_approvals() {
    let machine = Machine::new(&guard("codex", "PreToolUse", 2));
    let (hooks, toml, text) = approved(&machine);
    machine.install(&["codex"]);
    assert_eq!(fs::read_to_string(&toml).unwrap(), text);

    // A changed entry of hookbox is replaced in its place.
    let mut settings = read(&hooks);
    let groups = settings["hooks"]["PreToolUse"].as_array_mut().unwrap();
    let ours = groups.pop().unwrap();
    groups.insert(0, ours);
    fs::write(&hooks, settings.to_string()).unwrap();
    let moved = text.replace("use:1:0", "use:2:0").replace("use:0:0", "use:1:0");
    fs::write(
        &toml,
        format!("{moved}\n[hooks.state.\"{}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:cc\"\n", hooks.display()),
    )
    .unwrap();
    machine.write("project/hooks.json", &guard("codex", "PreToolUse", 1200).to_string());
    let told = machine.install(&["codex"]);
    let settings = read(&hooks);
    let commands: Vec<&str> = settings["hooks"]["PreToolUse"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["hooks"][0]["command"].as_str().unwrap())
        .collect();
    assert!(commands[0].contains("hookbox run") && commands[1..] == ["./first.sh", "./second.sh"], "{commands:?}");
    assert_eq!(settings["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"], 1210, "{told}");
    assert!(fs::read_to_string(&toml).unwrap().starts_with(&moved));

    // Hooks behind a removed entry move up and keep their approvals.
    let told = machine.install(&["codex", "--remove"]);
    assert!(told.contains("2 other hooks move to another position"), "{told}");
    let left = fs::read_to_string(&toml).unwrap();
    for (place, hash) in [(0, "aa"), (1, "bb")] {
        let record = format!("{}:pre_tool_use:{place}:0\"]\ntrusted_hash = \"sha256:{hash}\"", hooks.display());
        assert!(left.contains(&record), "{left}");
    }
    assert!(!left.contains("sha256:cc") && !left.contains("use:2:0"), "{left}");
}

#[test]
fn a_picoclaw_process_moves_with_its_timeouts_and_back() {
    let machine = Machine::new(&json!({}));
    fs::remove_file(machine.project().join("hooks.json")).unwrap();
    let gate = json!({ "enabled": true, "transport": "stdio", "command": ["sh", "-c", "exit 0"], "intercept": ["before_tool"] });
    let before = json!({ "version": 2, "model_list": [], "hooks": { "enabled": true,
        "defaults": { "interceptor_timeout_ms": 20000 }, "processes": { "gate": gate } } });
    let before = format!("{before:#}\n");
    let file = machine.write("home/.picoclaw/config.json", &before);
    let told = machine.install(&["picoclaw", "--import"]);
    assert!(
        told.contains("gate: PicoClaw gave them its whole environment") && told.contains("allowedEnvVars"),
        "{told}"
    );
    let config = machine.project().join("hooks.json");
    assert_eq!(read(&config)["hooks"]["defaults"], json!({ "interceptor_timeout_ms": 20000 }));
    let command = read(&file)["hooks"]["processes"]["hookbox"]["command"].to_string();
    assert!(command.contains("\"--interceptor-timeout\",\"20\""), "{command}");
    let told = machine.install(&["picoclaw", "--remove"]);
    assert!(told.contains("gate: its hooks move back to PicoClaw"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert!(!config.exists(), "it was made for what moved");

    // The user may edit the file in between, and the configuration may have hooks of its own.
    machine.write(
        "project/hooks.json",
        &json!({ "dialect": "picoclaw", "hooks": {
        "guard": { "intercept": ["before_tool"], "type": "wasm", "component": "guard.wasm" } } })
        .to_string(),
    );
    machine.install(&["picoclaw", "--import"]);
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("20000", "30000")).unwrap();
    machine.install(&["picoclaw", "--remove"]);
    let settings = read(&file);
    assert_eq!(settings["hooks"]["processes"], json!({ "gate": gate }));
    assert_eq!(settings["hooks"]["defaults"]["interceptor_timeout_ms"], 30000);
    assert!(read(&config)["hooks"]["guard"].is_object() && !read(&config).to_string().contains("exit 0"));
}

#[test]
fn picoclaws_file_has_the_version_without_which_it_is_emptied() {
    let config = json!({ "dialect": "picoclaw", "hooks": {
        "guard": { "intercept": ["before_tool"], "type": "wasm", "component": "guard.wasm" } } });
    let machine = Machine::new(&config);
    machine.install(&["picoclaw"]);
    let file = machine.path("home/.picoclaw/config.json");
    assert_eq!(read(&file)["version"], 2);
    machine.install(&["picoclaw", "--remove"]);
    assert!(!machine.path("home/.picoclaw").exists(), "nothing is left");
    // PicoClaw itself must migrate an old file.
    let old = r#"{"model_list": [], "agents": {}}"#;
    machine.write("home/.picoclaw/config.json", old);
    let output = machine.hookbox(&["install", "picoclaw", "--yes"]);
    assert_eq!(output.status.code(), Some(78));
    assert!(String::from_utf8_lossy(&output.stderr).contains("start PicoClaw once"), "{output:?}");
    assert_eq!(fs::read_to_string(file).unwrap(), old);
}

#[test]
fn imported_hooks_are_restored() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    let ours = fs::read_to_string(machine.project().join("hooks.json")).unwrap();
    let before = json!({ "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./mine.sh" }, { "type": "mcp_tool", "server": "s", "tool": "t" }] },
            { "matcher": "Wri(te", "hooks": [{ "type": "command", "command": "./never.sh" }] } ],
        "Stop": [{ "hooks": [{ "type": "command", "command": "./stop.sh" }] }] } });
    let before = format!("{before:#}\n");
    let file = machine.write("project/.claude/settings.json", &before);
    let told = machine.install(&["claude", "--import"]);
    assert!(told.contains("./never.sh\"} stays with Claude Code"), "{told}");
    assert!(read(&machine.project().join("hooks.json")).to_string().contains("./mine.sh"));
    machine.install(&["claude", "--remove"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert_eq!(fs::read_to_string(machine.project().join("hooks.json")).unwrap(), ours);
    let names: Vec<_> = fs::read_dir(machine.project()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "no backup stays: {names:?}");
}
