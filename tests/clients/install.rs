//! `hookbox install`: the settings that it writes, and that a client's call is denied through them.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use hookbox_testing::process::fed;
use serde_json::{Value, json};

use crate::machine::{Machine, guard};

/// Clients with project settings in JSON: the file, an event, and a timeout in the client's unit. The client's page has
/// its default timeout.
const CLIENTS: [(&str, &str, &str, u64); 6] = [
    ("claude", ".claude/settings.json", "PreToolUse", 2),
    ("codebuddy", ".codebuddy/settings.json", "PreToolUse", 2),
    ("blade", ".blade/settings.json", "PreToolUse", 2),
    ("codex", ".codex/hooks.json", "PreToolUse", 2),
    ("gemini", ".gemini/settings.json", "BeforeTool", 2000),
    ("copilot", ".github/hooks/hookbox.json", "PreToolUse", 2),
];

fn payload(client: &str, event: &str) -> String {
    let tool = if client == "gemini" { "run_shell_command" } else { "Bash" };
    let stamp = (client == "copilot").then_some("2026-11-22T03:00:00Z");
    json!({ "hook_event_name": event, "session_id": "s", "cwd": "/", "tool_name": tool, "timestamp": stamp,
        "tool_input": { "command": "mkfs.ext4 /dev/sda" } })
    .to_string()
}

/// Returns the command of the only entry.
fn line(settings: &Value, event: &str) -> (String, Value) {
    let group = &settings["hooks"][event][0];
    let handler = if group["hooks"].is_array() { &group["hooks"][0] } else { group };
    let line = handler.get("bash").or(handler.get("command")).unwrap().as_str().unwrap();
    (line.to_owned(), handler.clone())
}

#[test]
fn an_entry_denies_and_is_removed() {
    for (client, file, event, timeout) in CLIENTS {
        let machine = Machine::new(&guard(client, event, timeout));
        let file = machine.project().join(file);
        machine.install(&[client]);
        let text = fs::read_to_string(&file).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        let names: Vec<&String> = settings["hooks"].as_object().unwrap().keys().filter(|k| k.contains('T')).collect();
        assert_eq!(names, [event], "{client}: exactly the events that have hooks");
        let (line, handler) = line(&settings, event);
        let seconds = handler.get("timeoutSec").unwrap_or(&handler["timeout"]).as_u64().unwrap();
        let patience = match client {
            "codex" => 600,
            "copilot" => 30,
            "gemini" => 60_000,
            _ => 60,
        };
        assert_eq!(seconds, patience, "{client}: the timeout that hookbox assumes");
        let mut shell = machine.command("sh");
        for variable in ["CLAUDE", "BLADE", "GEMINI", "COPILOT"] {
            shell.env(format!("{variable}_PROJECT_DIR"), machine.project());
        }
        let output = fed(shell.arg("-c").arg(&line), payload(client, event).as_bytes());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("deny") || said.contains("block"), "{client}: {line}: {said}");

        assert!(machine.install(&[client]).contains("nothing to change"), "{client}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        machine.install(&[client, "--remove"]);
        assert!(!file.exists(), "{client}: nobody else wrote into it");
    }
}

/// Packages and downloads may give the program another name.
#[test]
fn a_program_with_another_name_installs_itself() {
    for name in ["hookbox-0.9", "hb"] {
        for (client, file, event, timeout) in CLIENTS {
            let machine = Machine::new(&guard(client, event, timeout));
            let (file, program) = (machine.project().join(file), machine.path("bin").join(name));
            fs::hard_link(env!("CARGO_BIN_EXE_hookbox"), &program)
                .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_hookbox"), &program).map(drop))
                .unwrap();
            let install = |more: &[&str]| {
                let output = machine.command(&program).args(["install", client, "--yes"]).args(more).output().unwrap();
                assert!(output.status.success(), "{output:?}");
                String::from_utf8_lossy(&output.stdout).into_owned()
            };
            install(&[]);
            let settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            let (line, _) = line(&settings, event);
            assert!(line.contains(name), "{client}: {line}");
            assert!(install(&[]).contains("nothing to change"), "{client}");
            install(&["--remove"]);
            assert!(!file.exists(), "{client}: {}", fs::read_to_string(&file).unwrap());
        }
    }
}

#[test]
fn existing_settings_are_preserved() {
    let lenient = "{\r\n  // mine\r\n  \"theme\": \"dark\",\r\n  \"hooks\": {\r\n    \"Stop\": [], /* empty */\r\n    \"PreToolUse\": [\r\n      { \"matcher\": \"Read\", \"hooks\": [ { \"type\": \"command\", \"command\": \"./mine.sh\" } ] },\r\n    ]\r\n  },\r\n}\r\n";
    for (client, file, event, timeout) in CLIENTS {
        if event != "PreToolUse" {
            continue;
        }
        // The others read no comments and no trailing commas.
        let comments = ["codebuddy", "blade"].contains(&client);
        let strict =
            lenient.replace("  // mine\r\n", "").replace(" /* empty */", "").replace(",\r\n    ]", "\r\n    ]");
        let strict = strict.replace("  },\r\n}", "  }\r\n}");
        let existing = if comments { lenient } else { &strict };
        let machine = Machine::new(&guard(client, event, timeout));
        let file = machine.write(&format!("project/{file}"), existing);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        machine.install(&[client]);
        let with = fs::read_to_string(&file).unwrap();
        for kept in ["// mine\r\n", "/* empty */", "./mine.sh", "\"matcher\": \"Read\""] {
            let is_comment = kept.starts_with('/');
            assert!(with.contains(kept) || is_comment && !comments, "{client}: {kept} is gone from\n{with}");
        }
        assert_eq!(with.matches('\n').count(), with.matches("\r\n").count(), "{client}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            fs::read_to_string(file.with_file_name(format!("{}.hookbox-backup", name(&file)))).unwrap(),
            existing
        );
        machine.install(&[client, "--remove"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), existing, "{client}: as it was, to the byte");

        // The user's edits in between are kept, and hookbox's entries are removed.
        machine.install(&[client]);
        let edited = fs::read_to_string(&file).unwrap().replace("dark", "light");
        fs::write(&file, edited).unwrap();
        machine.install(&[client, "--remove"]);
        let left = fs::read_to_string(&file).unwrap();
        assert!(left.contains("light") && left.contains("./mine.sh") && !left.contains("guard"), "{client}: {left}");
        assert!(!left.contains("hookbox run"), "{client}: {left}");
    }
}

fn name(file: &Path) -> String {
    file.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn unreadable_settings_are_not_changed() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    for text in [
        "{ \"hooks\": { }",
        "[]",
        "{ \"hooks\": [] }",
        "{ \"hooks\": { \"PreToolUse\": {} } }",
        "{ 'a': 1 }",
        "{ \"hooks\": {}, \"hooks\": {} }",
    ] {
        let file = machine.write("project/.claude/settings.json", text);
        let output = machine.hookbox(&["install", "claude", "--yes"]);
        assert_eq!(output.status.code(), Some(78), "{text}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("was not changed"), "{text}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        fs::remove_file(file).unwrap();
    }
    // Nothing is written for unusable hooks, or if the user says no.
    machine
        .write("project/hooks.json", &guard("claude", "PreToolUse", 2).to_string().replace("guard.wasm", "gone.wasm"));
    assert_eq!(machine.hookbox(&["install", "claude", "--yes"]).status.code(), Some(78));
    machine.write("project/hooks.json", &guard("claude", "PreToolUse", 2).to_string());
    assert_eq!(machine.answering("n\n", &["install", "claude"]).status.code(), Some(1));
    assert_eq!(machine.answering("", &["install", "claude"]).status.code(), Some(64));
    assert!(!machine.project().join(".claude/settings.json").exists());
    assert_eq!(machine.answering("y\n", &["install", "claude"]).status.code(), Some(0));
    assert!(machine.project().join(".claude/settings.json").exists());
}

/// One component serves every client: other clients call hooks of a file for Claude Code too.
#[test]
fn one_file_serves_all() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    for (client, file, event, ..) in CLIENTS {
        machine.install(&[client]);
        let settings: Value = serde_json::from_str(&fs::read_to_string(machine.project().join(file)).unwrap()).unwrap();
        let (line, handler) = line(&settings, event);
        let dialect = match client {
            // Copilot reads Claude Code's settings too.
            "gemini" | "claude" => "auto",
            "blade" => "blade@observed",
            other => other,
        };
        assert!(line.contains(&format!("--dialect {dialect} --fail-closed")), "{line}");
        let fails_closed = match client {
            "claude" => handler["onFailure"] == "block",
            "blade" => settings["hooks"]["failureBehavior"] == "deny" && settings["hooks"]["enabled"] == true,
            _ => true,
        };
        assert!(fails_closed, "{client}: {settings}");
    }
}

/// The gate also blocks if the loader, a signal or the system ends hookbox early, or if hookbox is missing.
#[test]
fn a_gate_blocks_when_hookbox_is_killed() {
    for (client, file, event, _) in CLIENTS.into_iter().filter(|(client, ..)| *client != "copilot") {
        let mut config = guard(client, event, 2);
        let stop = if client == "gemini" { "AfterAgent" } else { "Stop" };
        config["hooks"][stop] = config["hooks"][event].clone();
        let machine = Machine::new(&config);
        machine.install(&[client]);
        let settings: Value = serde_json::from_str(&fs::read_to_string(machine.project().join(file)).unwrap()).unwrap();
        let (written, _) = line(&settings, event);
        let program = written.split(" run ").next().unwrap();
        for (instead, code, stdout, stderr) in [
            ("/nowhere/hookbox", 2, "", "without a verdict"),
            ("sh -c 'kill -SEGV $$'", 2, "", "without a verdict"),
            ("sh -c 'exit 70'", 2, "", "without a verdict"),
            ("sh -c 'echo no >&2; exit 2'", 2, "", "no\n"),
            ("sh -c 'echo {}'", 0, "{}\n", ""),
        ] {
            let output = Command::new("sh").args(["-c", &written.replacen(program, instead, 1)]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                (output.status.code(), &*output.stdout),
                (Some(code), stdout.as_bytes()),
                "{client} {instead} {said}"
            );
            assert!(said.ends_with(&format!("{stderr}\n")) || said == stderr, "{client} {instead} {said}");
        }
        // A hook on an event that must not block has no fallback.
        assert!(!line(&settings, stop).0.contains("||"), "{settings}");
    }
}

#[test]
fn existing_hooks_are_moved() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    let existing = json!({ "hooks": {
        "PreToolUse": [{ "matcher": "Bash", "hooks": [
            { "type": "command", "command": "./mine.sh", "timeout": 5 },
            { "type": "mcp_tool", "server": "s", "tool": "t" } ] }],
        "Stop": [{ "hooks": [{ "type": "command", "command": "./stop.sh" }] }] } });
    let file = machine.write("project/.claude/settings.json", &existing.to_string());
    let told = machine.install(&["claude", "--import"]);
    assert!(told.contains("stays with Claude Code"), "{told}");
    let settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let ours: Value = serde_json::from_str(&fs::read_to_string(machine.project().join("hooks.json")).unwrap()).unwrap();
    assert_eq!(
        settings["hooks"]["PreToolUse"][0]["hooks"],
        json!([{ "type": "mcp_tool", "server": "s", "tool": "t" }])
    );
    assert!(!settings.to_string().contains(".sh"), "{settings}");
    assert!(settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().contains("hookbox"), "{settings}");
    assert_eq!(
        ours["hooks"]["PreToolUse"][1],
        json!({ "matcher": "Bash", "hooks": [
        { "type": "command", "command": "./mine.sh", "timeout": 5 }] })
    );
    assert_eq!(ours["hooks"]["Stop"][0]["hooks"][0]["command"], "./stop.sh");
    assert!(machine.install(&["claude", "--import"]).contains("nothing to change"));
}

/// The stub behaves like `codex app-server` 0.169.0: it lists the user's `hooks.json` with a hash of each command, and
/// trusts the hashes in `config.toml`.
#[test]
fn codex_trusts_recorded_hooks() {
    let machine = Machine::new(&guard("codex", "PreToolUse", 2));
    let script = r#"#!/bin/sh
read _; echo '{"id":1,"result":{}}'; read _; read _
hooks="$HOME/.codex/hooks.json"; key="$hooks:pre_tool_use:0:0"
command=$(sed -n 's/.*"command": "\(.*\)",.*/\1/p' "$hooks"); hash="sha256:$(printf %s "$command" | sha256sum | cut -d' ' -f1)"
grep -qs "$hash" "$HOME/.codex/config.toml" && status=trusted || status=untrusted
printf '{"method":"noise"}\n{"id":2,"result":{"data":[{"cwd":".","hooks":[{"key":"%s","command":"%s","enabled":true,"sourcePath":"%s","currentHash":"%s","trustStatus":"%s"}]}]}}\n' "$key" "$command" "$hooks" "$hash" "$status"
cat >/dev/null
"#;
    let codex = machine.write("bin/codex", script);
    fs::set_permissions(codex, fs::Permissions::from_mode(0o755)).unwrap();
    let toml = machine.write("home/.codex/config.toml", "# mine\nmodel = \"m\"\n");
    let told = machine.install(&["codex", "--user"]);
    assert!(told.contains("Codex trusts 1 of 1 hooks"), "{told}");
    let recorded = fs::read_to_string(&toml).unwrap();
    assert!(
        recorded.starts_with("# mine\nmodel = \"m\"\n") && recorded.contains("trusted_hash = \"sha256:"),
        "{recorded}"
    );
    assert!(machine.install(&["codex", "--user"]).contains("nothing to change"));
    machine.install(&["codex", "--user", "--remove"]);
    assert_eq!(fs::read_to_string(&toml).unwrap(), "# mine\nmodel = \"m\"\n");
    assert!(!machine.path("home/.codex/hooks.json").exists());

    // Without consent, nothing is recorded, and the exit code reports it.
    let output = machine.answering("y\nn\n", &["install", "codex", "--user"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&toml).unwrap(), "# mine\nmodel = \"m\"\n");
}

#[test]
fn opencode_gets_the_plugin_and_picoclaw_a_process() {
    let machine = Machine::new(&guard("opencode", "PreToolUse", 20));
    machine.install(&["opencode"]);
    let file = machine.project().join(".opencode/plugin/hookbox.ts");
    let plugin = fs::read_to_string(&file).unwrap();
    assert!(plugin.contains("config: \"hooks.json\", timeout: 30000 };"), "{plugin}");
    assert!(machine.install(&["opencode"]).contains("nothing to change"));
    machine.install(&["opencode", "--remove"]);
    assert!(!file.exists());
    assert!(!machine.project().join(".opencode").exists());
    machine.write("project/.opencode/plugin/hookbox.ts", "export const Other = 1\n");
    assert_eq!(machine.hookbox(&["install", "opencode", "--yes"]).status.code(), Some(78));

    machine.write(
        "project/hooks.json",
        &json!({ "dialect": "picoclaw", "hooks": {
        "guard": { "intercept": ["before_tool", "approve_tool"], "type": "wasm", "component": "guard.wasm" },
        "audit": { "observe": ["tool_exec_start"], "type": "command", "command": "cat" } } })
        .to_string(),
    );
    let existing = "{\"hooks\": {\"defaults\": {\"interceptor_timeout_ms\": 2500}}}\n";
    let file = machine.write("home/.picoclaw/config.json", existing);
    assert_eq!(machine.hookbox(&["install", "picoclaw", "--project", "--yes"]).status.code(), Some(64));
    machine.install(&["picoclaw"]);
    let settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let process = &settings["hooks"]["processes"]["hookbox"];
    assert_eq!(
        (&process["intercept"], &process["observe"]),
        (&json!(["approve_tool", "before_tool"]), &json!(["tool_exec_start"]))
    );
    let command: Vec<&str> = process["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!((command[1], command[4], command[5]), ("stdio", "--interceptor-timeout", "2.5"), "{command:?}");
    assert_eq!(settings["hooks"]["enabled"], true);
    assert!(machine.install(&["picoclaw"]).contains("nothing to change"));
    machine.install(&["picoclaw", "--remove"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), existing);
}

#[test]
fn picoclaws_processes_move() {
    let machine = Machine::new(&json!({ "dialect": "picoclaw", "hooks": {} }));
    let gate = json!({ "enabled": true, "priority": 7, "transport": "stdio", "command": ["sh", "-c", "exit 0"],
        "dir": machine.project(), "observe": ["tool_exec_start"], "intercept": ["before_tool"] });
    let off = json!({ "command": ["sh"], "intercept": ["approve_tool"] });
    let existing = json!({ "hooks": { "enabled": true, "processes": { "gate": gate, "off": off } } });
    let file = machine.write("home/.picoclaw/config.json", &existing.to_string());
    let told = machine.install(&["picoclaw", "--import"]);
    assert!(told.contains("stays with PicoClaw: it is not enabled"), "{told}");
    let settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let processes = &settings["hooks"]["processes"];
    assert_eq!(processes.as_object().unwrap().keys().collect::<Vec<_>>(), ["off", "hookbox"]);
    assert_eq!(
        (&processes["hookbox"]["intercept"], &processes["hookbox"]["observe"]),
        (&json!(["after_tool", "before_tool"]), &json!(["tool_exec_start"]))
    );
    let config = machine.project().join("hooks.json");
    let ours: Value = serde_json::from_str(&fs::read_to_string(&config).unwrap()).unwrap();
    assert_eq!(ours["hooks"], json!({ "processes": { "gate": gate } }));
    assert!(machine.install(&["picoclaw", "--import"]).contains("nothing to change"));

    // A hook whose name is taken is not imported.
    fs::write(&file, existing.to_string()).unwrap();
    let told = machine.install(&["picoclaw", "--import"]);
    assert!(told.contains("has another hook of that name"), "{told}");
    let settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(settings["hooks"]["processes"]["gate"], gate);
}
