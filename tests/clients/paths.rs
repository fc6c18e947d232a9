//! Projects whose path a shell would change, and events that come and go.

use std::{fs, path::PathBuf, process::Output};

use hookbox_testing::process::fed;
use serde_json::{Value, json};

use crate::machine::{Machine, guard};

/// A project with a name that needs quotes, and a gate in it.
fn odd(machine: &Machine, dialect: &str, event: &str) -> PathBuf {
    let project = machine.path("my $HOME 'project'");
    fs::rename(machine.project(), &project).unwrap();
    fs::write(project.join("hooks.json"), guard(dialect, event, 2).to_string()).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_hookbox"), machine.path("bin/hookbox")).unwrap();
    project
}

fn hookbox(machine: &Machine, project: &PathBuf, args: &[&str]) -> (Option<i32>, String) {
    let output = fed(machine.command(env!("CARGO_BIN_EXE_hookbox")).current_dir(project).args(args), b"");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command line of Gemini as Gemini 0.61 does: the variable becomes a quoted path before the shell gets the line.
fn as_gemini(machine: &Machine, project: &PathBuf, line: &str, event: &Value) -> Output {
    let path = project.to_string_lossy().replace('\'', r"'\''");
    let line = line.replace("$GEMINI_PROJECT_DIR", &format!("'{path}'"));
    let mut command = machine.command("sh");
    command.args(["-c", &line]).current_dir(project).env("GEMINI_PROJECT_DIR", project);
    fed(&mut command, event.to_string().as_bytes())
}

#[test]
fn gemini_finds_the_configuration_of_a_project_with_an_odd_path() {
    let machine = Machine::new(&guard("gemini", "BeforeTool", 2));
    let project = odd(&machine, "gemini", "BeforeTool");
    let (code, text) = hookbox(&machine, &project, &["install", "gemini", "--yes"]);
    assert_eq!(code, Some(0), "{text}");
    let file = project.join(".gemini/settings.json");
    let settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let line = settings["hooks"]["BeforeTool"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let call = |command: &str| {
        json!({
            "hook_event_name": "BeforeTool", "session_id": "1", "cwd": project, "timestamp": "2026-01-01T00:00:00Z",
            "tool_name": "run_shell_command", "tool_input": { "command": command },
        })
    };
    let said = |command: &str| {
        let output = as_gemini(&machine, &project, &line, &call(command));
        (
            output.status.code(),
            serde_json::from_slice::<Value>(&output.stdout).ok().map(|said| said["decision"].clone()),
        )
    };
    assert_eq!(said("rm -rf /"), (Some(0), Some(json!("deny"))));
    assert_eq!(said("ls"), (Some(0), Some(Value::Null)));
    let (code, text) = hookbox(&machine, &project, &["doctor", "gemini"]);
    assert_eq!(code, Some(0), "{text}");

    // An entry of an earlier version blocks every call there, which the canary finds.
    let earlier = line.replace("${GEMINI_PROJECT_DIR}", "$GEMINI_PROJECT_DIR");
    assert_ne!(earlier, line);
    assert_eq!(as_gemini(&machine, &project, &earlier, &call("ls")).status.code(), Some(2));
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("${GEMINI", "$GEMINI").replace("DIR}", "DIR")).unwrap();
    let (code, text) = hookbox(&machine, &project, &["trust", "--dialect", "gemini", "hooks.json"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = hookbox(&machine, &project, &["doctor", "gemini"]);
    assert!(code == Some(78) && text.contains("quotes around the project's path"), "{text}");
}

#[test]
fn an_event_that_goes_leaves_no_empty_array() {
    for (client, first, second) in [("claude", "PreToolUse", "PostToolUse"), ("gemini", "BeforeTool", "AfterTool")] {
        let machine = Machine::new(&guard(client, first, 2));
        machine.install(&[client]);
        let file = machine.project().join(format!(".{client}/settings.json"));
        let before = fs::read_to_string(&file).unwrap();
        let mut both = guard(client, first, 2);
        both["hooks"][second] = both["hooks"][first].clone();
        machine.write("project/hooks.json", &both.to_string());
        machine.install(&[client]);
        assert!(fs::read_to_string(&file).unwrap().contains(second));
        machine.write("project/hooks.json", &guard(client, first, 2).to_string());
        machine.install(&[client]);
        assert_eq!(fs::read_to_string(&file).unwrap(), before, "{client}");
    }
}
