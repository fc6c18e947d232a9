//! A checkout is not trusted: limits of a configuration that was only found, and the record of trust.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use hookbox_testing::process::fed;
use serde_json::{Value, json};

const EVENT: &str =
    r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;

/// A project, and the home of the user who opens it.
struct Checkout {
    dir: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Checkout {
    /// A project with these hooks for a tool call.
    fn new(hooks: &Value) -> Self {
        let checkout = Self { dir: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() };
        checkout.write(&json!({ "hooks": { "PreToolUse": [{ "hooks": hooks }] } }));
        // It denies every tool call.
        let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/frozen/guest-0.2.0.wasm");
        fs::copy(guard, checkout.dir.path().join("guard.wasm")).unwrap();
        checkout
    }

    /// A project with a command that leaves a trace.
    fn marking() -> Self {
        Self::new(&json!([{ "type": "command", "command": "touch ran" }]))
    }

    fn write(&self, config: &Value) {
        fs::write(self.dir.path().join("hooks.json"), config.to_string()).unwrap();
    }

    fn hookbox_in(dir: &Path, home: &Path, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        fed(
            command.args(args).current_dir(dir).env("XDG_STATE_HOME", home).env("XDG_CACHE_HOME", home),
            EVENT.as_bytes(),
        )
    }

    fn hookbox(&self, args: &[&str]) -> Output {
        Self::hookbox_in(self.dir.path(), self.home.path(), args)
    }

    fn trust(&self) -> String {
        let output = self.hookbox(&["trust", "hooks.json"]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns true if the command ran since the last call.
    fn ran(&self) -> bool {
        fs::remove_file(self.dir.path().join("ran")).is_ok()
    }

    /// Replaces the component with another one that behaves in the same way.
    fn replace_component(&self) {
        let path = self.dir.path().join("guard.wasm");
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(*b"\0\x02\x01x");
        fs::write(path, bytes).unwrap();
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn decision(output: &Output) -> Value {
    let wire: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    wire["hookSpecificOutput"]["permissionDecision"].clone()
}

#[test]
fn a_found_configuration_runs_nothing() {
    let checkout = Checkout::marking();
    let output = checkout.hookbox(&["run"]);
    assert_eq!(output.status.code(), Some(78), "{output:?}");
    assert!(stderr(&output).contains("hooks.json was found here and is not trusted"), "{output:?}");
    assert!(stderr(&output).contains("hookbox trust hooks.json"), "{output:?}");
    let explained = checkout.hookbox(&["explain"]);
    assert!(String::from_utf8_lossy(&explained.stdout).contains("failed   load: "), "{explained:?}");
    assert!(!checkout.ran());

    fs::create_dir(checkout.dir.path().join(".claude")).unwrap();
    fs::rename(checkout.dir.path().join("hooks.json"), checkout.dir.path().join(".claude/settings.json")).unwrap();
    let output = checkout.hookbox(&["run"]);
    assert!(stderr(&output).contains("hookbox trust .claude/settings.json"), "{output:?}");
    assert!(!checkout.ran());
    assert!(checkout.hookbox(&["trust"]).status.success());
    assert!(checkout.hookbox(&["run"]).status.success());
    assert!(checkout.ran());
}

#[test]
fn an_untrusted_fail_closed_gate_blocks() {
    let checkout = Checkout::marking();
    checkout.write(&json!({ "failClosed": true, "hooks": { "PreToolUse": [{ "hooks": [
        { "type": "command", "command": "touch ran" }] }] } }));
    assert_eq!(checkout.hookbox(&["run"]).status.code(), Some(2));
    let policies = json!([{ "type": "command", "command": "touch ran", "onFailure": "block" }]);
    checkout.write(&json!({ "hooks": { "PreToolUse": [{ "hooks": policies }] } }));
    let output = checkout.hookbox(&["run"]);
    assert_eq!(decision(&output), "deny");
    assert!(String::from_utf8_lossy(&output.stdout).contains("hookbox trust hooks.json"), "{output:?}");
    assert!(!checkout.ran());
}

#[test]
fn a_file_named_by_the_caller_needs_no_trust() {
    let checkout = Checkout::marking();
    assert!(checkout.hookbox(&["run", "--config", "hooks.json"]).status.success());
    assert!(checkout.ran());
}

#[test]
fn trust_ends_with_any_change() {
    let checkout = Checkout::new(&json!([
        { "type": "command", "command": "touch ran" }, { "type": "wasm", "component": "guard.wasm" }]));
    checkout.trust();
    assert_eq!(decision(&checkout.hookbox(&["run"])), "deny");
    assert!(checkout.ran());

    // The component changes: its hook fails, and the others run.
    checkout.replace_component();
    let output = checkout.hookbox(&["run"]);
    assert!(stderr(&output).contains("guard.wasm"), "{output:?}");
    assert!(stderr(&output).contains("has changed since it was trusted"), "{output:?}");
    assert_eq!(output.status.code(), Some(78), "{output:?}");
    assert!(checkout.ran());
    checkout.trust();
    assert_eq!(decision(&checkout.hookbox(&["run"])), "deny");
    assert!(checkout.ran());

    // The file changes: none of its hooks run.
    let mut text = fs::read_to_string(checkout.dir.path().join("hooks.json")).unwrap();
    text.push('\n');
    fs::write(checkout.dir.path().join("hooks.json"), text).unwrap();
    let output = checkout.hookbox(&["run"]);
    assert!(stderr(&output).contains("hooks.json has changed since it was trusted"), "{output:?}");
    assert!(!checkout.ran());

    // Another dialect reads the same bytes in another way.
    checkout.trust();
    let output = checkout.hookbox(&["run", "--dialect", "codebuddy"]);
    assert!(stderr(&output).contains("is trusted under claude, not under codebuddy"), "{output:?}");
    assert!(!checkout.ran());
}

/// Hooks run as they were trusted, even if a trusted hook changes the files during the run.
#[test]
fn changes_during_a_run_are_not_used() {
    let checkout = Checkout::new(&json!([
        { "type": "command", "command": "printf '\\0\\2\\1x' >> guard.wasm; echo ' ' >> hooks.json" },
        { "type": "wasm", "component": "guard.wasm" }]));
    checkout.trust();
    // The event that changes the files still runs with the trusted ones.
    assert_eq!(decision(&checkout.hookbox(&["run"])), "deny");
    let output = checkout.hookbox(&["run"]);
    assert!(stderr(&output).contains("has changed since it was trusted"), "{output:?}");
}

#[test]
fn trust_is_shown_listed_and_revoked() {
    let checkout = Checkout::new(&json!([
        { "type": "command", "command": "touch ran; echo \u{1b}[2K a long command line, which is shown in full" },
        { "type": "wasm", "component": "guard.wasm", "authority": "gate",
          "permissions": { "http": ["https://example.com"], "write": { "/out": "out" }, "env": ["HOME"] } },
        { "type": "http", "url": "https://example.com/hook" },
        { "type": "prompt", "prompt": "Is this so?" },
    ]));
    let dry = checkout.hookbox(&["trust", "--dry-run"]);
    let shown = String::from_utf8(dry.stdout).unwrap();
    for expected in [
        r"touch ran; echo \u{1b}[2K a long command line, which is shown in full",
        "Scripts and programs that they start are not covered",
        "deny, ask, add context",
        "requests to https://example.com",
        "out as /out",
        "the variables HOME",
        r#"POST of the event to "https://example.com/hook""#,
        r#"prompt "Is this so?""#,
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    assert_eq!(checkout.hookbox(&["run"]).status.code(), Some(78));
    assert!(!checkout.ran());

    checkout.trust();
    let list = || String::from_utf8(checkout.hookbox(&["trust", "--list"]).stdout).unwrap();
    assert_eq!(list().lines().count(), 1);
    assert!(list().trim_end().ends_with("hooks.json   trusted"), "{}", list());
    checkout.replace_component();
    assert!(list().contains("changed components are not trusted"), "{}", list());
    assert!(checkout.hookbox(&["trust", "--revoke"]).status.success());
    assert_eq!(list(), "");
    checkout.hookbox(&["run"]);
    assert!(!checkout.ran());
}

#[test]
fn trust_belongs_to_one_user() {
    let checkout = Checkout::marking();
    checkout.trust();
    let other = tempfile::tempdir().unwrap();
    let output = Checkout::hookbox_in(checkout.dir.path(), other.path(), &["run"]);
    assert_eq!(output.status.code(), Some(78), "{output:?}");
    assert!(!checkout.ran());

    let folder = checkout.home.path().join("hookbox/trust");
    let entry = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(&entry).unwrap().permissions().mode() & 0o777, 0o400);
    assert!(checkout.hookbox(&["run"]).status.success());
    assert!(checkout.ran());
    // Records that other users can write do not count.
    for (path, usual) in [(&entry, 0o400), (&folder, 0o700)] {
        fs::set_permissions(path, PermissionsExt::from_mode(usual | 0o022)).unwrap();
        let output = checkout.hookbox(&["run"]);
        assert!(stderr(&output).contains("others may write to it"), "{output:?}");
        assert!(!checkout.ran());
        fs::set_permissions(path, PermissionsExt::from_mode(usual)).unwrap();
    }
    // Links do not count either.
    let away = checkout.home.path().join("away");
    for path in [&entry, &folder] {
        fs::rename(path, &away).unwrap();
        symlink(&away, path).unwrap();
        let output = checkout.hookbox(&["run"]);
        assert_eq!(output.status.code(), Some(78), "{output:?}");
        assert!(!checkout.ran());
        fs::remove_file(path).unwrap();
        fs::rename(&away, path).unwrap();
    }
    assert!(checkout.hookbox(&["run"]).status.success());
}

/// A link in a repository to a configuration that is trusted elsewhere would run its commands here.
#[test]
fn a_link_is_not_trusted() {
    let checkout = Checkout::marking();
    checkout.trust();
    let hostile = tempfile::tempdir().unwrap();
    symlink(checkout.dir.path().join("hooks.json"), hostile.path().join("hooks.json")).unwrap();
    let output = Checkout::hookbox_in(hostile.path(), checkout.home.path(), &["run"]);
    assert_eq!(output.status.code(), Some(78), "{output:?}");

    let settings = checkout.dir.path().join(".claude");
    fs::create_dir(&settings).unwrap();
    fs::rename(checkout.dir.path().join("hooks.json"), settings.join("settings.json")).unwrap();
    assert!(checkout.hookbox(&["trust"]).status.success());
    fs::remove_file(hostile.path().join("hooks.json")).unwrap();
    symlink(&settings, hostile.path().join(".claude")).unwrap();
    let output = Checkout::hookbox_in(hostile.path(), checkout.home.path(), &["run"]);
    assert_eq!(output.status.code(), Some(78), "{output:?}");
    assert!(!hostile.path().join("ran").exists() && !checkout.ran());

    // The path to the project may contain a link.
    let link = checkout.home.path().join("project");
    symlink(checkout.dir.path(), &link).unwrap();
    assert!(Checkout::hookbox_in(&link, checkout.home.path(), &["run"]).status.success());
    assert!(checkout.ran());
}

#[test]
fn untrusted_runs_only_parts_without_trust() {
    let checkout = Checkout::new(&json!([]));
    let judged = |hook: Value| {
        checkout.write(&json!({
            "host": { "stateFile": "foreign-state.db", "tenant": "another" },
            "hooks": { "PreToolUse": [{ "hooks": [hook] }] }
        }));
        checkout.hookbox(&["run", "--untrusted", "--config", "hooks.json"])
    };
    let guard = |more: Value| {
        let mut hook = json!({ "type": "wasm", "component": "guard.wasm" });
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hook
    };
    assert_eq!(decision(&judged(guard(json!({})))), "deny");
    assert_eq!(decision(&judged(guard(json!({ "permissions": { "state": true } })))), "deny");
    assert!(!checkout.dir.path().join("foreign-state.db").exists());
    for permissions in [
        json!({ "state": { "namespace": "others" } }),
        json!({ "http": ["https://example.com"] }),
        json!({ "llm": true }),
        json!({ "read": { "/": "." } }),
        json!({ "write": { "/": "." } }),
        json!({ "env": ["HOME"] }),
    ] {
        let output = judged(guard(json!({ "permissions": permissions })));
        assert_eq!(output.status.code(), Some(78), "{permissions} {output:?}");
        assert!(stderr(&output).contains("--untrusted"), "{output:?}");
    }
    let blocking = json!({ "type": "command", "command": "touch ran", "onFailure": "block" });
    assert_eq!(decision(&judged(blocking)), "deny");
    assert!(!checkout.ran());
    let without_a_name = checkout.hookbox(&["run", "--untrusted"]);
    assert_eq!(without_a_name.status.code(), Some(64), "{without_a_name:?}");
}

#[test]
fn check_reports_hooks_that_can_write_their_configuration() {
    let grant = |folder: &str| {
        json!([{ "type": "wasm", "component": "hooks/guard.wasm",
                                        "permissions": { "write": { "/out": folder } } }])
    };
    let checkout = Checkout::new(&grant("."));
    for folder in ["hooks", "out"] {
        fs::create_dir(checkout.dir.path().join(folder)).unwrap();
    }
    fs::rename(checkout.dir.path().join("guard.wasm"), checkout.dir.path().join("hooks/guard.wasm")).unwrap();
    symlink("..", checkout.dir.path().join("out/up")).unwrap();
    for (folder, told) in
        [(".", Some("hooks.json")), ("hooks", Some("guard.wasm")), ("out/up", Some("hooks.json")), ("out", None)]
    {
        checkout.write(&json!({ "hooks": { "PreToolUse": [{ "hooks": grant(folder) }] } }));
        let text = String::from_utf8(checkout.hookbox(&["check"]).stdout).unwrap();
        let warning = text.lines().find(|line| line.starts_with("warning: ") && line.contains("may write to"));
        match told {
            Some(name) => assert!(warning.unwrap_or_else(|| panic!("{folder}: {text}")).contains(name), "{text}"),
            None => assert!(warning.is_none(), "{text}"),
        }
    }
}

/// A program that cannot start is reported, which shows every attempt to start it.
#[test]
fn inspecting_commands_start_no_program_of_a_checkout() {
    let checkout = Checkout::marking();
    let started = |output: &Output| {
        String::from_utf8_lossy(&output.stdout).contains("could not be started")
            || stderr(output).contains("No such file")
    };
    let looks = [&["check"][..], &["check", "hooks.json"], &["install", "picoclaw", "--user"], &["doctor", "picoclaw"]];
    let process = |command: &[&str]| {
        let process =
            json!({ "enabled": true, "transport": "stdio", "command": command, "intercept": ["before_tool"] });
        checkout.write(&json!({ "dialect": "picoclaw", "hooks": { "enabled": true, "processes": { "p": process } } }));
    };
    process(&["./gone"]);
    for args in looks {
        let output = checkout.hookbox(args);
        assert!(!started(&output), "{args:?}: {output:?}");
    }
    // The user's trust or an explicit option starts it.
    assert!(started(&checkout.hookbox(&["check", "--config", "hooks.json"])));
    checkout.trust();
    assert!(started(&checkout.hookbox(&["check"])));
    process(&["sh", "-c", "touch ran; exec cat"]);
    for args in looks {
        let output = checkout.hookbox(args);
        assert!(!checkout.ran(), "{args:?}: {output:?}");
    }
}

/// A component with a granted origin that denies but may only ask. The note on its lost denial shows that it ran.
#[test]
fn check_does_not_call_an_untrusted_component_with_grants() {
    for (permissions, reaches) in [
        (json!({ "http": ["https://example.com"] }), true),
        (json!({ "env": ["HOME"] }), true),
        (json!({ "write": { "/out": "." } }), true),
        (json!({}), false),
    ] {
        let guard = json!({ "type": "wasm", "component": "guard.wasm", "permissions": permissions,
            "authority": { "decide": ["ask"] } });
        let checkout = Checkout::new(&json!([guard]));
        fs::write(checkout.dir.path().join("event.json"), EVENT).unwrap();
        let check = || {
            let output = checkout.hookbox(&["check", "--input", "event.json"]);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let reported =
                text.contains("`guard.wasm` is not called with the events") && text.contains("hookbox trust");
            // Lines with ` | ` quote the configuration.
            (text.lines().any(|line| line.contains("authority") && !line.contains(" | ")), reported)
        };
        assert_eq!(check(), (!reaches, reaches), "{permissions}");
        checkout.trust();
        assert_eq!(check(), (true, false), "{permissions}");
    }
}

/// The settings that a colleague's `install` wrote into a project, and changes by an attacker.
#[test]
fn doctor_starts_no_program_of_a_checkout() {
    let own = env!("CARGO_BIN_EXE_hookbox");
    for client in ["claude", "codebuddy", "blade", "codex", "gemini", "copilot", "opencode"] {
        let checkout = Checkout::marking();
        let at = |path: &str| checkout.dir.path().join(path);
        if client == "gemini" {
            let hooks = json!([{ "type": "command", "command": "touch ran" }]);
            checkout.write(&json!({ "dialect": "gemini", "hooks": { "BeforeTool": [{ "hooks": hooks }] } }));
        }
        let colleague = tempfile::tempdir().unwrap();
        let at_home = |home: &Path, args: &[&str]| {
            let mut command = Command::new(own);
            command.args(args).current_dir(checkout.dir.path()).env("HOME", home).env_remove("CODEX_HOME");
            fed(command.env("XDG_STATE_HOME", home).env("XDG_CACHE_HOME", home), b"")
        };
        let output = at_home(colleague.path(), &["install", client, "--project", "--yes"]);
        assert!(output.status.success(), "{client}: {output:?}");
        checkout.ran();
        let doctor = || at_home(checkout.home.path(), &["doctor", client]);
        let not_run = |why: &str| {
            let output = doctor();
            assert!(!checkout.ran(), "{client}: {output:?}");
            let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(stdout.contains("not run: ") && stdout.contains(why), "{client}: {output:?}");
        };
        not_run("is not trusted");
        fs::write(at("hookbox"), "#!/bin/sh\ntouch ran\n").unwrap();
        fs::set_permissions(at("hookbox"), fs::Permissions::from_mode(0o755)).unwrap();
        let mut settings = files_below(checkout.dir.path()).into_iter().filter_map(|path| {
            let text = fs::read_to_string(&path).ok().filter(|text| text.contains(own))?;
            Some((path, text))
        });
        let (path, text) = settings.next_back().unwrap_or_else(|| panic!("{client}: no settings name the program"));
        for (from, to, why) in [
            (own, at("hookbox").display().to_string(), "is a program of the project"),
            (own, "./hookbox".to_owned(), "is a program of the project"),
        ] {
            fs::write(&path, text.replace(from, &to)).unwrap();
            not_run(why);
        }
        symlink("/bin/sh", at("sh")).unwrap();
        fs::write(&path, text.replace(own, &at("sh").display().to_string())).unwrap();
        let output = doctor();
        assert!(!checkout.ran(), "{client}: {output:?}");
        // The user's trust runs it.
        fs::write(&path, &text).unwrap();
        let told = String::from_utf8(doctor().stdout).unwrap();
        let hint = told.lines().find_map(|line| line.split("hookbox trust ").nth(1)).unwrap().to_owned();
        let words: Vec<&str> = std::iter::once("trust").chain(hint.split(' ')).collect();
        assert!(at_home(checkout.home.path(), &words).status.success(), "{client}: {hint}");
        let output = doctor();
        assert!(checkout.ran(), "{client}: {output:?}");
    }
}

/// A shell would start other programs too.
#[test]
fn doctor_runs_no_command_line_that_does_more_than_start_hookbox() {
    let checkout = Checkout::marking();
    fs::create_dir(checkout.dir.path().join(".claude")).unwrap();
    checkout.trust();
    let run = format!("{} run --config hooks.json", env!("CARGO_BIN_EXE_hookbox"));
    for command in [
        format!("{run}; touch ran"),
        format!("{run} && touch ran"),
        format!("{run} | touch ran"),
        format!("{run} $(touch ran)"),
        format!("{run} `touch ran`"),
        format!("{run} > ran"),
        format!("{run}\ntouch ran"),
    ] {
        checkout
            .write(&json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "true" }] }] } }));
        checkout.trust();
        let entry = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": command }] }] } });
        fs::write(checkout.dir.path().join(".claude/settings.json"), entry.to_string()).unwrap();
        let output = checkout.hookbox(&["doctor", "claude"]);
        assert!(!checkout.ran(), "{command}: {output:?}");
    }
}

/// Cases and explanations are files of the checkout too.
#[test]
fn no_other_command_starts_programs_of_a_checkout() {
    let checkout = Checkout::marking();
    fs::create_dir(checkout.dir.path().join("tests")).unwrap();
    let case = format!("- name: a call\n  event: {EVENT}\n  expect: {{}}\n");
    fs::write(checkout.dir.path().join("tests/cases.yaml"), case).unwrap();
    fs::write(checkout.dir.path().join("event.json"), EVENT).unwrap();
    let commands = [
        &["test"][..],
        &["test", "."],
        &["test", "--update"],
        &["explain"],
        &["explain", "--input", "event.json"],
        &["check", "--input", "event.json"],
        &["inspect", "guard.wasm"],
        &["run"],
        &["run", "--fail-closed"],
        &["install", "claude"],
        &["doctor"],
        &["install", "claude", "--yes"],
        &["init", "--yes", "--client", "claude"],
        &["init", "--undo", "--yes", "--client", "claude"],
        &["add", "command-guard", "--yes"],
    ];
    for args in commands {
        let output = checkout.hookbox(args);
        assert!(!checkout.ran(), "{args:?}: {output:?}");
    }
    for args in [&["test", "--config", "hooks.json"][..], &["explain", "--config", "hooks.json"]] {
        let output = checkout.hookbox(args);
        assert!(checkout.ran(), "{args:?}: {output:?}");
    }
    checkout.trust();
    for args in [&["test"][..], &["explain"], &["run"]] {
        let output = checkout.hookbox(args);
        assert!(checkout.ran(), "{args:?}: {output:?}");
    }
}

/// `init` runs the hooks to see that the client asks them.
#[test]
fn init_rejects_an_untrusted_found_configuration() {
    let checkout = Checkout::marking();
    let before = fs::read(checkout.dir.path().join("hooks.json")).unwrap();
    let init = |more: &[&str]| checkout.hookbox(&[&["init", "--yes", "--client", "claude"], more].concat());
    let output = init(&[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(78), "{said}");
    assert!(said.contains("is not trusted") && said.contains("hookbox trust") && !checkout.ran(), "{said}");
    assert_eq!(fs::read(checkout.dir.path().join("hooks.json")).unwrap(), before);
    // A caller who names the file has looked at it.
    let output = init(&["--config", "hooks.json"]);
    assert!(checkout.ran(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("PreToolUse starts, as you, the command \"touch ran\""), "{told}");
}

/// A checkout may have anything in the place of a file.
#[test]
fn no_command_waits_for_a_pipe_in_the_place_of_a_configuration() {
    let checkout = Checkout::marking();
    let path = checkout.dir.path().join("hooks.json");
    for make in ["mkfifo hooks.json", "ln -s /dev/zero hooks.json"] {
        fs::remove_file(&path).unwrap();
        let made = Command::new("sh").args(["-c", make]).current_dir(checkout.dir.path()).status();
        assert!(made.unwrap().success());
        let bench = ["bench", "guard.wasm", "--event", "PreToolUse", "--against", "hooks.json"];
        for args in [&["test"][..], &["add", "command-guard", "--yes"], &bench] {
            let output = checkout.hookbox(args);
            assert!(!output.status.success() && stderr(&output).contains("regular file"), "{args:?}: {output:?}");
        }
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
