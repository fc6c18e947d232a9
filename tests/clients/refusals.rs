//! The reports of `hookbox install` before it writes, its refusals, and the files that it leaves behind.

use std::fs;

use serde_json::json;

use crate::machine::{Machine, guard};

#[test]
fn a_gate_that_would_never_be_called_is_refused() {
    for (client, event, help) in [
        ("claude", "PreTooluse", "did you mean `PreToolUse`"),
        ("claude", "BeforeTool", "the name under gemini"),
        ("gemini", "PreToolUse", "here the name is `BeforeTool`"),
        ("codex", "BeforeShell", "use the client's name of the event"),
        ("copilot", "preToolUze", "did you mean `preToolUse`"),
        ("opencode", "PreToolUses", "did you mean `PreToolUse`"),
    ] {
        let machine = Machine::new(&guard(client, event, 2000));
        let output = machine.hookbox(&["install", client, "--yes"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(78), "{client} {event}: {output:?}");
        assert!(text.contains(event) && text.contains(help), "{client} {event}: {text}");
        assert_eq!(fs::read_dir(machine.project()).unwrap().count(), 2, "{client} {event}: nothing is written");
    }
    // A gate for an event that only its own client has does not guard other clients.
    let machine = Machine::new(&guard("claude", "PermissionRequest", 2));
    let output = machine.hookbox(&["install", "gemini", "--yes"]);
    assert_eq!(output.status.code(), Some(78), "{output:?}");
    // New events of Claude Code are accepted, and problems are only reported without `failClosed`.
    let machine = Machine::new(&guard("claude", "WorktreeCreate", 2));
    assert!(machine.install(&["claude"]).contains("unknown event WorktreeCreate"));
    let mut config = guard("claude", "PreTooluse", 2);
    config["failClosed"] = false.into();
    let told = Machine::new(&config).install(&["claude"]);
    assert!(told.contains("warning: claude has no event `PreTooluse`") && told.contains("did you mean"), "{told}");
}

#[test]
fn problems_of_check_are_shown() {
    let mut config = guard("claude", "PreToolUse", 2);
    config["hooks"]["PreToolUse"][0]["matcher"] = "bash".into();
    config["hooks"]["PreToolUse"][0]["hooks"][0]["async"] = true.into();
    let machine = Machine::new(&config);
    let checked = machine.hookbox(&["check"]);
    let checked = String::from_utf8(checked.stdout).unwrap();
    let warnings: Vec<&str> = checked.lines().filter(|line| line.starts_with("warning:")).collect();
    assert!(!warnings.is_empty(), "{checked}");
    let told = machine.install(&["claude"]);
    for warning in warnings {
        assert!(told.contains(warning), "{warning}: {told}");
    }
}

#[test]
fn nothing_is_left_behind() {
    for (client, folder, event) in [
        ("claude", ".claude", "PreToolUse"),
        ("codex", ".codex", "PreToolUse"),
        ("copilot", ".github", "PreToolUse"),
        ("opencode", ".opencode", "PreToolUse"),
        ("blade", ".blade", "PreToolUse"),
    ] {
        let machine = Machine::new(&guard(client, event, 2));
        machine.install(&[client]);
        // The second install has another timeout and another configuration.
        machine.write("project/hooks.json", &guard(client, event, 900).to_string());
        machine.install(&[client]);
        machine.install(&[client, "--remove"]);
        assert!(!machine.project().join(folder).exists(), "{client}");
        machine.install(&[client, "--user"]);
        machine.install(&[client, "--user", "--remove"]);
        let home = fs::read_dir(machine.path("home")).map(|entries| entries.map(|entry| entry.unwrap().file_name()));
        let left: Vec<_> = home.into_iter().flatten().filter(|name| name != ".cache" && name != ".local").collect();
        assert!(left.is_empty(), "{client}: {left:?}");
    }
    // A file that was empty of settings is restored.
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    let file = machine.write("project/.claude/settings.json", "{}\n");
    machine.install(&["claude"]);
    machine.install(&["claude", "--remove"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}\n");
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_plugin_is_shown_in_one_line() {
    let machine = Machine::new(&guard("opencode", "PreToolUse", 2));
    let told = machine.install(&["opencode"]);
    assert!(told.lines().count() < 6 && told.contains("hookbox's plugin of") && told.contains("hooks.json"), "{told}");
    let told = machine.install(&["opencode", "--remove"]);
    assert!(told.lines().count() < 4, "{told}");
    // hookbox shows the user's change before it removes it.
    machine.install(&["opencode"]);
    let file = machine.project().join(".opencode/plugin/hookbox.ts");
    fs::write(&file, fs::read_to_string(&file).unwrap() + "// mine\n").unwrap();
    let told = machine.install(&["opencode"]);
    assert!(told.contains("-// mine"), "{told}");
}

#[test]
fn a_project_file_for_all_projects_is_reported() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    let told = machine.install(&["claude", "--user"]);
    assert!(told.contains("all your projects will use") && told.contains("a file of this project"), "{told}");
    let own = machine.write("home/own/hooks.json", &json!({ "dialect": "claude", "hooks": {} }).to_string());
    let told = machine.install(&["claude", "--user", "--config", own.to_str().unwrap()]);
    assert!(!told.contains("a file of this project"), "{told}");
}
