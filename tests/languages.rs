//! Hooks in languages other than Rust, built in their authors' way and run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::{SystemTime, UNIX_EPOCH},
};

use hookbox_testing::{examples, process::fed};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn target_dir() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

fn hookbox() -> Command {
    Command::new(env!("CARGO_BIN_EXE_hookbox"))
}

/// Builds a folder or a module. Returns the messages.
fn build(hook: &Path, output: &Path) -> String {
    let built = hookbox().arg("build").arg(hook).arg("-o").arg(output).output().unwrap();
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success(), "{said}");
    said
}

fn go(folder: &Path, args: &[&str]) {
    let output = Command::new("go").args(args).current_dir(folder).output();
    let output = output.expect("`go` cannot be run: to install Go 1.24 or later, see https://go.dev/dl");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "go {args:?} in {}\n{stdout}{stderr}", folder.display());
}

fn run(config: &Path, event: &Value, state: &Path) -> (Value, String) {
    let mut command = hookbox();
    command.args(["run", "--config"]).arg(config).env("XDG_STATE_HOME", state).env("ANTHROPIC_API_KEY", "none");
    let output = fed(&mut command, event.to_string().as_bytes());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    (serde_json::from_slice(&output.stdout).unwrap(), stderr)
}

#[test]
fn go_examples_pass_their_cases() {
    for (name, of) in [("rate-limit-go", "rate-limit-go"), ("command-guard-go", "command-guard")] {
        let folder = root().join("guest-examples").join(name);
        go(&folder, &["vet", "./..."]);
        go(&folder, &["test", "./..."]);
        let dir = tempfile::tempdir().unwrap();
        let component = dir.path().join("built.wasm");
        build(&folder, &component);
        examples::holds_its_cases(name, &component, of, dir.path());
    }
}

#[test]
fn the_go_sdk_passes_its_tests() {
    let sdk = root().join("sdk-guest/go");
    go(&sdk, &["vet", "./..."]);
    go(&sdk, &["test", "./..."]);
}

/// Tests and builds a hook with the SDK from a module proxy, which has a zip of its files under its version.
#[test]
fn the_go_sdk_works_as_a_module() {
    let dir = tempfile::tempdir().unwrap();
    let module = "github.com/hookbox/hookbox/sdk-guest/go";
    let versions = dir.path().join("proxy").join(module).join("@v");
    fs::create_dir_all(&versions).unwrap();
    let pack = "import os, sys, zipfile\nsource, archive, prefix = sys.argv[1:]\nwith zipfile.ZipFile(archive, 'w') as z:\n    \
                for folder, _, names in os.walk(source):\n        for name in names:\n            \
                path = os.path.join(folder, name)\n            z.write(path, prefix + '/' + os.path.relpath(path, source))\n";
    let (sdk, archive) = (root().join("sdk-guest/go"), versions.join("v0.1.0.zip"));
    let mut python = Command::new("python3");
    python.args(["-c", pack]).args([&sdk, &archive]).arg(format!("{module}@v0.1.0"));
    assert!(python.status().expect("python3").success());
    fs::copy(sdk.join("go.mod"), versions.join("v0.1.0.mod")).unwrap();
    fs::write(versions.join("v0.1.0.info"), r#"{"Version": "v0.1.0"}"#).unwrap();
    fs::write(versions.join("list"), "v0.1.0\n").unwrap();

    let hook = dir.path().join("hook");
    fs::create_dir(&hook).unwrap();
    let source = format!(
        "package main\n\nimport (\n\t\"{module}/hook\"\n\t\"{module}/stop\"\n)\n\nfunc init() {{ stop.Handle(keep) }}\n\n\
         func main() {{}}\n\nfunc keep(hook.EventContext, stop.Event) (stop.Output, error) {{ return stop.Block(\"go on\"), nil }}\n"
    );
    fs::write(hook.join("main.go"), source).unwrap();
    fs::write(hook.join("go.mod"), format!("module example.com/packed\n\ngo 1.24\n\nrequire {module} v0.1.0\n"))
        .unwrap();
    let environment = [
        ("GOPROXY", format!("file://{}", dir.path().join("proxy").display())),
        ("GONOSUMDB", "*".to_owned()),
        ("GOFLAGS", "-mod=mod -modcacherw".to_owned()),
        ("GOMODCACHE", dir.path().join("modules").display().to_string()),
    ];
    let component = dir.path().join("packed.wasm");
    let mut build = hookbox();
    let made = build.arg("build").arg(&hook).arg("-o").arg(&component).envs(environment).output().unwrap();
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{said}");
    assert!(said.contains(&format!("{module} 0.1.0")) && said.contains("handles   Stop"), "{said}");
}

/// A hook without an SDK: it needs only exports with the contract's names.
#[test]
fn a_hook_in_c_needs_the_contract_alone() {
    let folder = root().join("guest-examples/c-guard");
    let dir = tempfile::tempdir().unwrap();
    let core = dir.path().join("guard.core.wasm");
    let python = target_dir().join("tools/python");
    let zig = Command::new("python3")
        .args(["-m", "ziglang", "cc", "-target", "wasm32-freestanding", "-Os", "-nostdlib", "-Wl,--no-entry", "-o"])
        .arg(&core)
        .arg("guard.c")
        .current_dir(&folder)
        .env("PYTHONPATH", &python)
        .output()
        .expect("python3");
    let (requirements, python) = (folder.join("requirements.txt"), python.display());
    assert!(
        zig.status.success(),
        "{}\nto install it:   python3 -m pip install --require-hashes --target {python} -r {}",
        String::from_utf8_lossy(&zig.stderr),
        requirements.display()
    );
    let component = dir.path().join("built.wasm");
    build(&core, &component);
    examples::holds_its_cases("c-guard", &component, "c-guard", dir.path());
}

#[test]
fn an_error_is_the_compilers_and_leaves_no_component() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("go.mod"), "module broken\n\ngo 1.24\n").unwrap();
    fs::write(dir.path().join("main.go"), "package main\n\nfunc main() { missing() }\n").unwrap();
    let built = hookbox().arg("build").arg(dir.path()).output().unwrap();
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(!built.status.success());
    assert!(said.contains("main.go:3:15: undefined: missing"), "{said}");
    assert!(!dir.path().join("broken.wasm").exists());

    let empty = tempfile::tempdir().unwrap();
    let built = hookbox().arg("build").arg(empty.path()).output().unwrap();
    assert_eq!(built.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&built.stderr).contains("go.mod (Go)"));

    // Without a compiler, the error has advice.
    let built = hookbox().arg("build").arg(dir.path()).env("PATH", "").output().unwrap();
    assert!(String::from_utf8_lossy(&built.stderr).contains("https://go.dev/dl"));
}

// ---- features that work in Go ----

/// Runs the probe with a tool of this name. Returns its context and stderr.
fn probe(tool: &str) -> (String, String) {
    let (output, stderr) = probe_event(&json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_input": {"command": "ls"}
    }));
    let context = output["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    (context.to_owned(), stderr)
}

fn probe_event(event: &Value) -> (Value, String) {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let component = BUILT.get_or_init(|| {
        let component = target_dir().join(format!("go-probe.{}.wasm", std::process::id()));
        build(&root().join("tests/guests/go-probe"), &component);
        component
    });
    let dir = tempfile::tempdir().unwrap();
    let hook = json!({
        "type": "wasm", "component": component, "config": {"greeting": "hello"},
        "permissions": {"state": true, "llm": true, "http": ["https://example.com"]},
        "authority": {"decide": ["deny", "ask", "allow"], "rewrite": ["/command"], "context": true}
    });
    let kind = event["hook_event_name"].as_str().unwrap();
    let config = json!({
        "dialect": "claude",
        "host": {"llm": {"provider": "anthropic", "model": "none", "baseUrl": "http://127.0.0.1:1"}},
        "hooks": {kind: [{"hooks": [hook]}]}
    });
    let path = dir.path().join("hooks.json");
    fs::write(&path, config.to_string()).unwrap();
    run(&path, event, dir.path())
}

#[test]
fn clocks_and_randomness_are_those_of_the_call() {
    let now: u64 = probe("time").0.parse().unwrap();
    assert!(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().abs_diff(now) < 3600, "{now}");
    assert_ne!(probe("random").0, probe("random").0);
    assert_eq!(probe("sleep").0, "true");
}

#[test]
fn goroutines_and_garbage_collection_work() {
    assert_eq!(probe("goroutines").0, "45");
    assert_eq!(probe("garbage").0, "2000000");
}

#[test]
fn printed_text_is_logged_line_by_line() {
    let (_, stderr) = probe("print");
    for line in
        ["log info: to stdout", "log warn: bad ? byte, good é", "log warn: to slog key=\"a value\"", "log debug: 100%"]
    {
        assert!(stderr.contains(line), "{line}\n{stderr}");
    }
}

#[test]
fn errors_and_panics_are_faults_with_their_message() {
    for (tool, fault) in [
        ("error", "guest-error: an error"),
        ("input", "cannot unmarshal string into Go struct field .Command of type int"),
        ("panic", "guest-error: panic: a panic"),
        ("nil", "guest-error: panic: assignment to entry in nil map"),
    ] {
        let (_, stderr) = probe(tool);
        assert!(stderr.contains(fault), "{stderr}");
    }
}

#[test]
fn capabilities_arrive() {
    assert_eq!(probe("state").0, "2étrue <nil> false true [n text] true <nil>");
    assert_eq!(probe("config").0, "helloconfigclaudes");
    assert_eq!(probe("http").0, "true");
    assert_eq!(probe("llm").0, "true");
}

#[test]
fn outputs_arrive() {
    let (output, _) = probe_event(&json!({
        "hook_event_name": "PreToolUse", "tool_name": "rewrite", "tool_input": {"command": "ls", "timeout": 5}
    }));
    assert_eq!(output["hookSpecificOutput"]["updatedInput"], json!({"command": "ls -l", "timeout": 5}));
    assert_eq!(output["hookSpecificOutput"]["permissionDecisionReason"], "fine");
    let (output, _) = probe_event(&json!({"hook_event_name": "UserPromptSubmit", "prompt": "please"}));
    assert_eq!(output["reason"], "no please");
    assert_eq!(output["hookSpecificOutput"]["additionalContext"], "one\ntwo");
    let (output, _) = probe_event(&json!({"hook_event_name": "Stop", "stop_hook_active": false}));
    assert_eq!(output["reason"], "go on");
    let (output, _) = probe_event(&json!({"hook_event_name": "Stop", "stop_hook_active": true}));
    assert_eq!(output, json!({}));
}
