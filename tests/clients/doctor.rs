//! `hookbox doctor`: the problems that it finds, and none in the settings that `install` wrote.

use std::{fs, os::unix::fs::PermissionsExt};

use hookbox_testing::process::fed;
use serde_json::{Value, json};

use crate::machine::{Machine, guard};

/// Returns the exit code and the output.
fn doctor(machine: &Machine, args: &[&str]) -> (i32, String) {
    let output = machine.hookbox(&[&["doctor"], args].concat());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn has(text: &str, what: &str, words: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(what) && line.contains(words))
}

#[test]
fn an_installed_entry_works() {
    for (client, event, timeout) in [
        ("claude", "PreToolUse", 2),
        ("gemini", "BeforeTool", 2000),
        ("copilot", "PreToolUse", 2),
        ("blade", "PreToolUse", 2),
        ("opencode", "PreToolUse", 2),
        ("codebuddy", "PreToolUse", 2),
    ] {
        let machine = Machine::new(&guard(client, event, timeout));
        let (code, text) = doctor(&machine, &[client]);
        assert!(code == 78 && has(&text, "PROBLEM", &format!("hookbox install {client}")), "{text}");
        machine.install(&[client]);
        if client == "copilot" {
            trusted(&machine);
        }
        let program = machine.write(&format!("bin/{client}"), "#!/bin/sh\necho the client 9.8.7\n");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        let (code, text) = doctor(&machine, &[client]);
        assert_eq!(code, 0, "{text}");
        assert!(has(&text, "program", "9.8.7; the facts below were measured in"), "{text}");
        assert!(has(&text, "canary", event) && has(&text, "config", "fails closed"), "{text}");
        assert!(has(&text, "fired", "never"), "a canary is not a client: {text}");
        assert!(has(&text, "holds", "deny"), "{text}");
        // Without arguments, it checks exactly the clients that exist.
        let (code, all) = doctor(&machine, &[]);
        assert!(code == 0 && all.lines().count() == text.lines().count(), "{all}");
    }
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    assert_eq!(doctor(&machine, &[]), (0, "no supported client is installed on this machine\n0 problems\n".into()));
}

#[test]
fn the_time_of_the_last_event_is_known() {
    let machine = Machine::new(&guard("codex", "PreToolUse", 2));
    machine.install(&["codex"]);
    let event = json!({ "hook_event_name": "PreToolUse", "turn_id": "t", "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let mut run = machine.command(env!("CARGO_BIN_EXE_hookbox"));
    fed(run.args(["run", "--config", "hooks.json"]), event.to_string().as_bytes());
    let (_, text) = doctor(&machine, &["codex"]);
    assert!(has(&text, "fired", " s ago"), "{text}");
    let kept = machine.path("home/.local/state/hookbox/fired");
    let names: Vec<_> = fs::read_dir(kept).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].to_str().unwrap().starts_with("codex.PreToolUse."), "{names:?}");
    // Another project of the same user is independent.
    fs::create_dir_all(machine.path("other")).unwrap();
    fs::copy(machine.project().join("hooks.json"), machine.path("other/hooks.json")).unwrap();
    fs::copy(machine.project().join("guard.wasm"), machine.path("other/guard.wasm")).unwrap();
    let mut command = machine.command(env!("CARGO_BIN_EXE_hookbox"));
    fed(command.current_dir(machine.path("other")).args(["install", "codex", "--yes"]), b"");
    let mut command = machine.command(env!("CARGO_BIN_EXE_hookbox"));
    let output = fed(command.current_dir(machine.path("other")).args(["doctor", "codex"]), b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(has(&text, "fired", "never"), "{text}");
    assert!(text.ends_with("1 event never came from this project: try one that your hooks deny\n"), "{text}");
}

#[test]
fn problems_are_reported() {
    type Edit = (&'static str, fn(&mut Value));
    let edits: [Edit; 7] = [
        ("in milliseconds", |s| s["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] = json!(30)),
        ("waits 5 s, but the hooks may take 12 s", |s| {
            s["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] = json!(5000);
        }),
        ("BeforeTool has hooks, but no entry", |s| {
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

    // A matcher for a tool that no client has, and a hook that fails.
    let machine = Machine::new(&json!({ "dialect": "claude", "failClosed": true, "hooks": { "PreToolUse": [
        { "matcher": "Bash|Wrte", "hooks": [{ "type": "wasm", "component": "guard.wasm" }] },
        { "matcher": "mcp__.*", "hooks": [{ "type": "wasm", "component": "guard.wasm" }] } ] } }));
    machine.install(&["claude"]);
    let (code, text) = doctor(&machine, &["claude"]);
    assert!(
        code == 78
            && has(&text, "PROBLEM", "\"Wrte\" names no tool")
            && text.contains("\n1 problem; 1 event never came"),
        "{text}"
    );
    fs::write(machine.project().join("guard.wasm"), "no component").unwrap();
    let (_, text) = doctor(&machine, &["claude"]);
    assert!(has(&text, "PROBLEM", "blocks: hook guard.wasm failed"), "{text}");
}

/// Writes Copilot's own list of folders that its user trusts.
fn trusted(machine: &Machine) {
    let folders = json!({ "trustedFolders": [machine.project()] });
    machine.write("home/.copilot/config.json", &format!("// Copilot's own\n{folders}\n"));
}

#[test]
fn a_gate_that_is_off_is_a_problem() {
    type Break = (&'static str, &'static str, fn(&Machine));
    let breaks: [Break; 9] = [
        ("claude", "settings.local.json: `disableAllHooks` is true", |m| {
            m.write("project/.claude/settings.local.json", r#"{ "disableAllHooks": true }"#);
        }),
        ("claude", "settings.json: `disableAllHooks` is true", |m| {
            m.write("home/.claude/settings.json", r#"{ "disableAllHooks": true }"#);
        }),
        ("claude", "cannot read", |m| fs::remove_file(m.project().join("guard.wasm")).unwrap()),
        ("claude", "every call is blocked", |m| fs::remove_file(m.project().join("guard.wasm")).unwrap()),
        ("opencode", "line 50 differs from the plugin of this version", |m| {
            edit(m, 50, "}}}} this does not parse");
        }),
        ("opencode", "differs from the plugin of this version", |m| {
            edit(m, 1, "// something else");
        }),
        ("opencode", "differs from the plugin of this version", |m| {
            edit(m, 46, "const INSTALLED = {};");
        }),
        ("copilot", "Copilot does not trust", |_| ()),
        ("copilot", "`disableAllHooks` is true", |m| {
            m.write("home/.copilot/settings.json", r#"{ "disableAllHooks": true }"#);
        }),
    ];
    for (client, problem, breaks) in breaks {
        let machine = Machine::new(&guard(client, "PreToolUse", 2));
        machine.install(&[client]);
        breaks(&machine);
        let (code, text) = doctor(&machine, &[client]);
        assert!(code == 78 && has(&text, "PROBLEM", problem), "{client} {problem}: {text}");
    }
    // The most local settings win.
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    machine.install(&["claude"]);
    machine.write("home/.claude/settings.json", r#"{ "disableAllHooks": true }"#);
    machine.write("project/.claude/settings.local.json", r#"{ "disableAllHooks": false }"#);
    assert_eq!(doctor(&machine, &["claude"]).0, 0);
}

fn edit(machine: &Machine, line: usize, instead: &str) {
    let file = machine.project().join(".opencode/plugin/hookbox.ts");
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[line - 1] = instead;
    fs::write(file, lines.join("\n") + "\n").unwrap();
}

#[test]
fn entries_in_local_settings_are_found_and_so_are_those_above() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    machine.install(&["claude"]);
    let folder = machine.project().join(".claude");
    fs::rename(folder.join("settings.json"), folder.join("settings.local.json")).unwrap();
    let (code, text) = doctor(&machine, &["claude"]);
    assert!(code == 0 && has(&text, "entry", "settings.local.json") && has(&text, "canary", "PreToolUse"), "{text}");
    fs::create_dir_all(machine.project().join("src/deep")).unwrap();
    let mut command = machine.command(env!("CARGO_BIN_EXE_hookbox"));
    let output = fed(command.current_dir(machine.project().join("src/deep")).args(["doctor", "claude"]), b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(has(&text, "project", "in a parent folder") && has(&text, "canary", "PreToolUse"), "{text}");
}

/// Measured with the programs in `coverage.json`: a client that starts below its settings does not read them, except
/// OpenCode, and Codex in a repository.
#[test]
fn settings_above_that_the_client_does_not_read_are_a_problem() {
    let below = |client: &str, event: &str, in_repository: bool| {
        let machine = Machine::new(&guard(client, event, 5000));
        machine.install(&[client]);
        if in_repository {
            fs::create_dir(machine.project().join(".git")).unwrap();
        }
        let folder = machine.project().join("src/deep");
        fs::create_dir_all(&folder).unwrap();
        let mut command = machine.command(env!("CARGO_BIN_EXE_hookbox"));
        let output = fed(command.current_dir(folder).args(["doctor", client]), b"");
        has(&String::from_utf8(output.stdout).unwrap(), "PROBLEM", "when it is started in this folder")
    };
    for (client, event) in
        [("claude", "PreToolUse"), ("codebuddy", "PreToolUse"), ("gemini", "BeforeTool"), ("copilot", "PreToolUse")]
    {
        assert!(below(client, event, true), "{client}");
    }
    assert_eq!([below("codex", "PreToolUse", false), below("codex", "PreToolUse", true)], [true, false]);
    assert!(!below("opencode", "PreToolUse", false));
}

#[test]
fn nothing_makes_it_wait_for_ever() {
    let files = [".claude/settings.json", ".claude/settings.local.json", "hooks.json", "guard.wasm"];
    for (place, command) in files.into_iter().flat_map(|file| [(file, "mkfifo"), (file, "ln -s /dev/zero")]) {
        let machine = Machine::new(&guard("claude", "PreToolUse", 2));
        machine.install(&["claude"]);
        let file = machine.project().join(place);
        let script = format!("rm -f {0}; {command} {0}", file.display());
        assert!(machine.command("sh").args(["-c", &script]).status().unwrap().success());
        let output =
            machine.command("timeout").args(["100", env!("CARGO_BIN_EXE_hookbox"), "doctor", "claude"]).output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() == Some(78) && has(&text, "PROBLEM", place), "{place} {command}: {text}");
    }
}

#[test]
fn it_reports_the_effect_of_a_missing_hookbox() {
    for (closed, then) in [(true, "every call is blocked"), (false, "the gate is open")] {
        let mut config = guard("codex", "PreToolUse", 2);
        config["failClosed"] = closed.into();
        let machine = Machine::new(&config);
        machine.install(&["codex"]);
        let file = machine.project().join(".codex/hooks.json");
        let text = fs::read_to_string(&file).unwrap().replace(env!("CARGO_BIN_EXE_hookbox"), "/gone/hookbox");
        fs::write(&file, text).unwrap();
        let (code, text) = doctor(&machine, &["codex"]);
        assert!(code == 78 && has(&text, "PROBLEM", "cannot be started") && has(&text, "PROBLEM", then), "{text}");
    }
    // The command's fallback, which `install` writes, blocks. It is missing here.
    let machine = Machine::new(&guard("codex", "PreToolUse", 2));
    machine.install(&["codex"]);
    let file = machine.project().join(".codex/hooks.json");
    let text = fs::read_to_string(&file).unwrap();
    let (line, _) = text.split_once(" || ").unwrap();
    fs::write(&file, format!("{line}\" }} ] }} ] }} }}")).unwrap();
    let (_, text) = doctor(&machine, &["codex"]);
    assert!(has(&text, "note", "missing or killed, the gate is open"), "{text}");
}

#[test]
fn a_canary_bears_the_marks_of_its_client() {
    for (client, event, timeout) in [
        ("claude", "PreToolUse", 2),
        ("claude", "Stop", 2),
        ("codebuddy", "PreToolUse", 2),
        ("blade", "PreToolUse", 2),
        ("codex", "PreToolUse", 2),
        ("codex", "UserPromptSubmit", 2),
        ("gemini", "BeforeTool", 2000),
        ("copilot", "PreToolUse", 2),
    ] {
        let mut config = guard(client, event, timeout);
        config["hooks"][event][0]["hooks"][0] = json!({ "type": "command", "command": "cat > seen.json" });
        let machine = Machine::new(&config);
        machine.install(&[client]);
        doctor(&machine, &[client]);
        let seen = fs::read(machine.project().join("seen.json")).unwrap();
        let callers: Vec<&str> = hookbox::dialect::recognise(&seen).iter().map(|dialect| dialect.name()).collect();
        assert_eq!(callers, [client], "{}", String::from_utf8_lossy(&seen));
    }
}

#[test]
fn a_hook_that_fails_on_the_canary_is_a_problem() {
    let mut config = guard("claude", "PreToolUse", 2);
    config["hooks"]["PreToolUse"][0]["hooks"][0] = json!({ "type": "command", "command": "exit 7" });
    for closed in [true, false] {
        config["failClosed"] = closed.into();
        let machine = Machine::new(&config);
        machine.install(&["claude"]);
        let (code, text) = doctor(&machine, &["claude"]);
        assert!(code == 78 && has(&text, "PROBLEM", "hook exit failed: exit code 7"), "{text}");
    }
}
