//! Settings that hookbox can read and the client cannot: seen with the real programs, which then run no hook of the file.

use std::{fs, os::unix::fs::PermissionsExt};

use hookbox_testing::process::fed;
use serde_json::{Value, json};

use crate::machine::{Machine, guard};

const CLIENTS: [(&str, &str, &str, u64); 5] = [
    ("claude", ".claude/settings.json", "PreToolUse", 2),
    ("codebuddy", ".codebuddy/settings.json", "PreToolUse", 2),
    ("codex", ".codex/hooks.json", "PreToolUse", 2),
    ("gemini", ".gemini/settings.json", "BeforeTool", 2000),
    ("copilot", ".github/hooks/hookbox.json", "PreToolUse", 2),
];

/// The forms that differ from strict JSON, and the clients that were seen to read them.
const FORMS: [(&str, &[&str]); 3] =
    [("a comment", &["codebuddy", "gemini"]), ("a trailing comma", &["codebuddy"]), ("a byte order mark", &["claude"])];

fn in_form(form: &str, text: &str) -> String {
    match form {
        "a comment" => format!("// mine\n{text}"),
        "a trailing comma" => format!("{},\n}}\n", text.trim_end().strip_suffix('}').unwrap().trim_end()),
        _ => format!("\u{feff}{text}"),
    }
}

fn doctor(machine: &Machine, client: &str) -> (i32, String) {
    let output = machine.hookbox(&["doctor", client]);
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn problem(text: &str, words: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("PROBLEM") && line.contains(words))
}

fn trusted(machine: &Machine) {
    machine.write("home/.copilot/config.json", &json!({ "trustedFolders": [machine.project()] }).to_string());
}

#[test]
fn a_form_that_the_client_does_not_read_is_refused_and_reported() {
    for (client, file, event, timeout) in CLIENTS {
        for (form, readers) in FORMS {
            let reads = readers.contains(&client);
            let machine = Machine::new(&guard(client, event, timeout));
            trusted(&machine);
            let existing = in_form(form, "{\n  \"hooks\": {}\n}\n");
            let settings = machine.write(&format!("project/{file}"), &existing);
            let output = machine.hookbox(&["install", client, "--yes"]);
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            if reads {
                assert!(output.status.success(), "{client} {form}: {stderr}");
                assert_eq!(doctor(&machine, client).0, 0, "{client} {form}");
                machine.install(&[client, "--remove"]);
            } else {
                assert_eq!(output.status.code(), Some(78), "{client} {form}");
                assert!(stderr.contains("nothing was written") && stderr.contains("does not read it"), "{stderr}");
            }
            assert_eq!(fs::read_to_string(&settings).unwrap(), existing, "{client} {form}");

            // The same after an installation, by an editor.
            fs::remove_file(&settings).unwrap();
            machine.install(&[client]);
            let installed = fs::read_to_string(&settings).unwrap();
            fs::write(&settings, in_form(form, &installed)).unwrap();
            let (code, text) = doctor(&machine, client);
            assert_eq!(code == 0, reads, "{client} {form}: {text}");
            assert_eq!(problem(&text, "does not read it"), !reads, "{client} {form}: {text}");
            // A removal needs no permission of the client.
            machine.install(&[client, "--remove"]);
            assert!(!fs::read_to_string(&settings).unwrap_or_default().contains("hookbox run"), "{client} {form}");
        }
    }
}

#[test]
fn a_switch_in_a_file_that_the_client_does_not_read_has_no_effect() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    machine.install(&["claude"]);
    machine.write("project/.claude/settings.local.json", "{ /* mine */ \"disableAllHooks\": true }");
    let (code, text) = doctor(&machine, "claude");
    assert!(code == 0 && text.contains("settings.local.json: Claude Code does not read it"), "{text}");
}

#[test]
fn a_group_that_spoils_its_event_is_refused_and_reported() {
    let command = json!({ "type": "command", "command": "true" });
    let groups: [(&str, Value, &str); 5] = [
        ("gemini", json!({ "matcher": 1, "hooks": [command] }), "its `matcher` is not a string"),
        ("gemini", json!({ "matcher": { "tools": "a" }, "hooks": [command] }), "its `matcher` is not a string"),
        ("codebuddy", json!({ "matcher": "Bash" }), "it has no array `hooks`"),
        ("codebuddy", json!(null), "it has no array `hooks`"),
        ("codebuddy", json!({ "hooks": [{ "type": "command" }] }), "a command hook without a `command`"),
    ];
    for (client, group, why) in groups {
        let (_, file, event, timeout) = CLIENTS.into_iter().find(|(name, ..)| *name == client).unwrap();
        let other = if client == "gemini" { "AfterTool" } else { "Stop" };
        for (place, spoilt, refused) in [("project", event, true), ("home", event, false), ("project", other, false)] {
            let machine = Machine::new(&guard(client, event, timeout));
            machine.write(&format!("{place}/{file}"), &json!({ "hooks": { spoilt: [group] } }).to_string());
            let output = machine.hookbox(&["install", client, "--yes"]);
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(if refused { 78 } else { 0 }), "{client} {group}: {stderr}");
            if refused {
                assert!(stderr.contains(why) && stderr.contains(&format!("/hooks/{event}/0")), "{stderr}");
                continue;
            }
            let (code, text) = doctor(&machine, client);
            let stuck = spoilt == event;
            assert_eq!(code == 78 && problem(&text, why), stuck, "{client} {place} {group}: {text}");
        }
    }
}

fn program(machine: &Machine, name: &str, script: &str) {
    let file = machine.write(&format!("bin/{name}"), script);
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The stub prints what `claude doctor` 2.1.330 printed, for other reasons and files.
#[test]
fn claude_code_checks_its_settings() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    let file = machine.project().join(".claude/settings.json");
    let says = |items: &[String]| {
        let items = items.iter().fold(String::new(), |text, item| text + "- " + item + "\n");
        machine.write(
            "said",
            &format!("Claude Code doctor\n\nInvalid settings\n{items}\nRemote Control\n- Not signed in\n"),
        );
        program(&machine, "claude", "#!/bin/sh\n[ \"$1\" = doctor ] && cat \"$HOME/../said\" || echo 2.1.330\n");
    };
    let model = format!("{} \u{203a} model: Expected string, but received number", file.display());
    let event = format!("{} \u{203a} hooks.Zork: Unknown hook event \"Zork\" was ignored", file.display());
    let other = "/elsewhere/settings.json: Invalid or malformed JSON".to_owned();
    says(std::slice::from_ref(&model));
    let output = machine.hookbox(&["install", "claude", "--yes"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(78) && text.contains("does not load") && text.contains("model:"), "{text}");
    let (code, text) = doctor(&machine, "claude");
    assert!(code == 78 && problem(&text, "model: Expected string"), "{text}");
    says(&[event, other]);
    let (code, text) = doctor(&machine, "claude");
    assert!(code == 0 && text.contains("hooks.Zork") && text.contains("/elsewhere"), "{text}");
    assert!(!text.contains("Not signed in"), "{text}");
}

/// Claude Code writes its state and starts npm, which writes a log. Neither may stay in a home that never ran it.
#[test]
fn asking_claude_code_leaves_nothing_in_the_home() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    let user = machine.path("home/.claude/settings.json");
    let said = "Invalid settings\\n- $CLAUDE_CONFIG_DIR/settings.json: from a copy: $(cat $CLAUDE_CONFIG_DIR/settings.json)\\n";
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = doctor ] || {{ echo 2.1.330; exit; }}\nstate=${{CLAUDE_CONFIG_DIR:-$HOME/.claude}}\n\
         mkdir -p $state/backups ${{NPM_CONFIG_CACHE:-$HOME/.npm}}/_logs\nprintf \"{said}\"\n"
    );
    program(&machine, "claude", &script);
    machine.install(&["claude"]);
    let names = |folder: &std::path::Path| {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    assert!(!names(&machine.path("home")).iter().any(|name| name == ".claude" || name == ".npm"));
    machine.write("home/.claude/settings.json", "{ }");
    let (_, text) = doctor(&machine, "claude");
    assert!(text.contains(&format!("{}: from a copy: {{ }}", user.display())), "{text}");
    assert_eq!(names(&machine.path("home/.claude")), ["settings.json"]);
}

/// The stub answers as `codex app-server` 0.169.0 does for a file that it cannot parse.
#[test]
fn the_reason_of_codex_is_shown() {
    let machine = Machine::new(&guard("codex", "PreToolUse", 2));
    let script = r#"#!/bin/sh
read _; echo '{"id":1,"result":{}}'; read _; read _
echo '{"id":2,"result":{"data":[{"cwd":".","hooks":[],"warnings":["failed to parse hooks config: unknown field `name`"],"errors":[]}]}}'
cat >/dev/null
"#;
    program(&machine, "codex", script);
    let output = machine.hookbox(&["install", "codex", "--yes"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(78) && text.contains("unknown field `name`"), "{text}");
    let (code, text) = doctor(&machine, "codex");
    assert!(code == 78 && problem(&text, "unknown field `name`"), "{text}");
}

#[test]
fn a_gate_that_denies_a_harmless_call_is_a_problem() {
    let mut config = guard("copilot", "PreToolUse", 2);
    config["hooks"]["PreToolUse"][0] = json!({ "type": "command", "command": "sh gone.sh" });
    let machine = Machine::new(&config);
    trusted(&machine);
    machine.install(&["copilot"]);
    let (code, text) = doctor(&machine, "copilot");
    assert!(code == 78 && problem(&text, "the canary is denied"), "{text}");
}

#[test]
fn removal_restores_empty_files_and_leaves_nothing() {
    for (client, file, event, timeout) in CLIENTS {
        for existing in ["", "\n\n", "// nothing yet\n"] {
            if existing.starts_with('/') && !["codebuddy", "gemini"].contains(&client) {
                continue;
            }
            let machine = Machine::new(&guard(client, event, timeout));
            trusted(&machine);
            let file = machine.write(&format!("project/{file}"), existing);
            let before = tree(&machine);
            machine.install(&[client]);
            let call = json!({ "hook_event_name": event, "tool_name": "Bash", "tool_input": { "command": "ls" } });
            let mut run = machine.command(env!("CARGO_BIN_EXE_hookbox"));
            fed(run.args(["run", "--config", "hooks.json"]), call.to_string().as_bytes());
            assert!(tree(&machine).iter().any(|name| name.contains(".local/state/hookbox/fired/")), "{client}");
            machine.install(&[client, "--remove"]);
            assert_eq!(fs::read_to_string(&file).unwrap(), existing, "{client}");
            assert_eq!(tree(&machine), before, "{client}");
        }
    }
}

/// Every path of the user and the project, without the cache.
fn tree(machine: &Machine) -> Vec<String> {
    let mut folders = vec![machine.path("home"), machine.project()];
    let mut names = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().map(Result::unwrap) {
            if entry.file_name() == ".cache" {
                continue;
            }
            names.push(entry.path().display().to_string());
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    names.sort();
    names
}
