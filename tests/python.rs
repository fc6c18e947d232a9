//! Hooks in Python, built in their authors' way and run.
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

fn python(folder: &Path, path: &Path, args: &[&str]) -> String {
    let mut python = Command::new("python3");
    python.arg("-B").args(args).current_dir(folder).env("PYTHONPATH", path);
    let output = python.output().expect("`python3` cannot be run: see https://www.python.org/downloads");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "python3 {args:?} in {}\n{said}", folder.display());
    said
}

fn sdk() -> PathBuf {
    root().join("sdk-guest/python/src")
}

/// Builds a folder. Returns the messages.
fn build(hook: &Path, output: &Path) -> String {
    let built = hookbox().arg("build").arg(hook).arg("-o").arg(output).output().unwrap();
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success(), "{said}");
    said
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
fn the_sdk_passes_its_tests() {
    let folder = root().join("sdk-guest/python");
    python(&folder, &sdk(), &["-m", "unittest", "discover", "-s", "tests"]);
}

/// Returns the folder of pytest, which is installed once from the locked requirements.
fn pytest() -> PathBuf {
    let requirements = root().join("sdk-guest/python/requirements-test.txt");
    let (folder, locked) = (target_dir().join("tools/pytest"), fs::read_to_string(&requirements).unwrap());
    let installed = folder.join(".installed-from");
    if fs::read_to_string(&installed).ok().as_ref() != Some(&locked) {
        let _ = fs::remove_dir_all(&folder);
        let [target, requirements] = [&folder, &requirements].map(|path| path.to_str().unwrap());
        let pip =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"];
        let what = ["--require-hashes", "--target", target, "-r", requirements];
        python(&root(), &folder, &[&pip[..], &what].concat());
        fs::write(installed, locked).unwrap();
    }
    folder
}

/// The tests of the SDK and of a new project run under pytest.
#[test]
fn tests_run_under_pytest() {
    let pytest = pytest();
    let both = std::env::join_paths([sdk(), pytest.clone()]).unwrap();
    let under = ["-m", "pytest", "-q", "-p", "no:cacheprovider"];
    let said = python(&root().join("sdk-guest/python"), Path::new(&both), &under);
    assert!(said.contains(" passed"), "{said}");
    let dir = tempfile::tempdir().unwrap();
    let made = hookbox().args(["new", "my-guard", "--lang", "python"]).current_dir(dir.path()).output().unwrap();
    assert!(made.status.success());
    let said = python(&dir.path().join("my-guard"), &pytest, &under);
    assert!(said.contains("1 passed"), "{said}");
}

/// The published files are tested: a source archive, a wheel made from it, and the SDK's tests with the wheel.
#[test]
fn the_sdk_is_a_package() {
    let dir = tempfile::tempdir().unwrap();
    let folder = root().join("sdk-guest/python");
    let tools = target_dir().join("tools/python");
    let sdist = "import sys; from flit_core import buildapi; print(buildapi.build_sdist(sys.argv[1]))";
    let archive = python(&folder, &tools, &["-c", sdist, dir.path().to_str().unwrap()]);
    let archive = dir.path().join(archive.trim());
    let pip = |args: &[&str]| {
        let common = ["-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"];
        python(dir.path(), &tools, &[&common, args].concat())
    };
    let [archive, wheels, installed] = [archive, dir.path().join("wheels"), dir.path().join("installed")]
        .map(|path| path.to_str().unwrap().to_owned());
    pip(&["wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", &wheels, &archive]);
    let wheel = fs::read_dir(&wheels).unwrap().next().unwrap().unwrap().path();
    assert_eq!(wheel.file_name().unwrap(), "hookbox_guest-0.1.0-py3-none-any.whl");
    pip(&["install", "--no-deps", "--no-index", "--target", &installed, wheel.to_str().unwrap()]);
    let installed = Path::new(&installed);
    assert!(installed.join("hookbox/py.typed").is_file(), "type checkers do not read it");
    assert!(!installed.join("tests").exists());
    python(&folder, installed, &["-m", "unittest", "discover", "-s", "tests"]);
}

#[test]
fn examples_pass_their_cases() {
    for (name, of) in [("command-guard-python", "command-guard"), ("prompt-filter-python", "prompt-filter-python")] {
        let folder = root().join("guest-examples").join(name);
        python(&folder, &sdk(), &["-m", "unittest"]);
        let dir = tempfile::tempdir().unwrap();
        let component = dir.path().join("built.wasm");
        build(&folder, &component);
        examples::holds_its_cases(name, &component, of, dir.path());
    }
}

// ---- errors ----

/// Returns the message of `hookbox build` for a hook with this source.
fn refused(name: &str, source: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let project = "[project]\nname = \"broken\"\nversion = \"0.1.0\"\n";
    fs::write(dir.path().join("pyproject.toml"), project).unwrap();
    fs::write(dir.path().join(name), source).unwrap();
    let built = hookbox().arg("build").arg(dir.path()).output().unwrap();
    assert!(!built.status.success());
    assert!(!dir.path().join("broken.wasm").exists());
    let place = dir.path().canonicalize().unwrap();
    String::from_utf8_lossy(&built.stderr).replace(place.to_str().unwrap(), "HERE")
}

#[test]
fn errors_have_pythons_message_with_file_and_line() {
    for (source, said) in [
        (
            "def f(:\n    pass\n",
            "  File \"HERE/broken.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax",
        ),
        (
            "def f():\n    raise ValueError('at import')\n\nf()\n",
            "  File \"HERE/broken.py\", line 2, in f\n    raise ValueError('at import')\nValueError: at import",
        ),
        ("import nothing_of_the_kind\n", "line 1, in <module>"),
        ("import nothing_of_the_kind\n", "ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        ("x = 1\n", "broken handles no event: put a decorator such as `@on_pre_tool_use` on a function"),
        (
            "from hookbox import on_stop\n@on_stop\nasync def f(event): pass\n",
            "TypeError: @on_stop: f has to be a plain function, without async or yield",
        ),
        (
            "from hookbox import on_stop\n@on_stop\ndef f(event, context, more): pass\n",
            "TypeError: @on_stop: f is called with (event, context), and asks for more",
        ),
        (
            "from hookbox import state\nstate.get('x')\n",
            "there is no host to ask for state.get: call it in the handler",
        ),
    ] {
        let found = refused("broken.py", source);
        assert!(found.contains(said), "--- expected\n{said}\n--- said\n{found}");
    }
    assert!(
        refused("other.py", "").contains("the hook broken has no module: there is neither broken.py nor src/broken")
    );
    let no_python =
        hookbox().arg("build").arg(root().join("guest-examples/prompt-filter-python")).env("PATH", "").output();
    let said = String::from_utf8(no_python.unwrap().stderr).unwrap();
    assert!(said.contains("https://www.python.org/downloads"), "{said}");
}

/// A module that can be imported here but not in a component.
#[test]
fn a_package_that_needs_sockets_is_reported() {
    let source = "from hookbox import on_stop\nimport ssl\n@on_stop\ndef f(): pass\n";
    let said = refused("broken.py", source);
    for line in ["  File \"HERE/broken.py\", line 2, in <module>", "No module named '_ssl'", "use `hookbox.http`"] {
        assert!(said.contains(line), "{said}");
    }
    assert!(!said.contains("Stack backtrace"), "{said}");
}

// ---- features that work in Python ----

fn probe_event(event: &Value) -> (Value, String) {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let component = BUILT.get_or_init(|| {
        let component = target_dir().join("python-probe.wasm");
        let hook = root().join("tests/guests/python-probe");
        let said = build(&hook, &component);
        assert!(said.contains("asks      state, http, llm"), "{said}");
        assert!(said.contains("refused   —"), "{said}");
        assert!(said.contains("Python 3.14, hookbox-guest 0.1.0"), "{said}");
        assert!(said.contains("componentize-py 0.25.1"), "{said}");
        // A second build of the same source does nothing.
        assert!(build(&hook, &component).contains("nothing changed"));
        component
    });
    let dir = tempfile::tempdir().unwrap();
    let hook = json!({
        "type": "wasm", "component": component, "config": {"greeting": "hello"},
        "permissions": {"state": true, "llm": true, "http": ["https://example.com"]},
        "authority": {"decide": ["deny", "ask", "allow", "abort"], "rewrite": ["/command", "/stdout"],
            "context": true, "systemMessage": true}
    });
    let kind = event["hook_event_name"].as_str().unwrap();
    let config = json!({
        "dialect": event.get("dialect").cloned().unwrap_or_else(|| json!("claude")),
        "host": {"llm": {"provider": "anthropic", "model": "none", "baseUrl": "http://127.0.0.1:1"}},
        "hooks": {kind: [{"hooks": [hook]}]}
    });
    let path = dir.path().join("hooks.json");
    fs::write(&path, config.to_string()).unwrap();
    run(&path, event, dir.path())
}

/// Runs the probe with a tool of this name. Returns its context and stderr.
fn probe(tool: &str) -> (String, String) {
    let (output, stderr) = probe_event(&json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "extra": {"x": 1},
        "tool_name": tool, "tool_input": {"command": "ls"}
    }));
    (output["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned(), stderr)
}

#[test]
fn clocks_and_randomness_are_those_of_the_call() {
    let now: u64 = probe("time").0.parse().unwrap();
    assert!(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().abs_diff(now) < 3600, "{now}");
    let (one, another) = (probe("random").0, probe("random").0);
    for (one, another) in one.split(", ").zip(another.split(", ")) {
        assert_ne!(one, another);
    }
    assert_eq!(probe("sleep").0, "True");
}

#[test]
fn printed_and_logged_text_is_logged_line_by_line() {
    let (_, stderr) = probe("print");
    for line in [
        "log info: to stdout",
        "log warn: to stderr",
        "log info: two\n",
        "log info: lines",
        "log debug: to logging",
        "log error: of a logger",
        "log warn: {'a': 'é'}",
    ] {
        assert!(stderr.contains(line), "{line}\n{stderr}");
    }
}

#[test]
fn exceptions_are_faults_with_their_message_and_place() {
    for (tool, fault) in [
        ("error", "guest-error: LookupError: an error (other.py:5)"),
        ("input", "guest-error: no such event (python_probe.py:"),
        ("exit", "guest-error: SystemExit: over (python_probe.py:"),
        ("wrong", "it returned str; return pass_(…), allow(…), ask(…), deny(…), skip(…) or respond(…), or nothing"),
        ("misplaced", "`block` does not answer it"),
    ] {
        let (_, stderr) = probe(tool);
        assert!(stderr.contains(fault), "{stderr}");
    }
}

#[test]
fn the_standard_library_works_or_raises() {
    for (tool, said) in [
        ("lazy", "(Decimal('0.3'), 2026, b'xn--bcher-kva.de')"),
        ("recursion", "RecursionError: maximum recursion depth exceeded"),
        ("garbage", "5000"),
        ("socket", "PermissionError: a hook has no sockets: use `hookbox.http`"),
        ("file", "FileNotFoundError: "),
        ("thread", "RuntimeError: can't start new thread"),
        ("program", "OSError: "),
    ] {
        let (found, stderr) = probe(tool);
        assert!(found.starts_with(said), "{tool}: {found}\n{stderr}");
    }
}

#[test]
fn capabilities_arrive() {
    let state =
        "('2é', True, None, 1099511627776, 1099511627775, False, ['text'], 'state: the value is not a whole number')";
    assert_eq!(probe("state").0, state);
    assert_eq!(probe("config").0, "('hello', 'claude', 's', None)");
    assert_eq!(probe("raw").0, "{'x': 1}");
    assert!(probe("http").0.starts_with("denied: http: "));
    assert_eq!(probe("llm").0, "failed");
}

#[test]
fn outputs_arrive() {
    let (output, _) = probe_event(&json!({
        "hook_event_name": "PreToolUse", "tool_name": "rewrite", "tool_input": {"command": "ls", "timeout": 5}
    }));
    assert_eq!(output["hookSpecificOutput"]["updatedInput"], json!({"command": "ls -l", "timeout": 5}));
    assert_eq!(output["hookSpecificOutput"]["permissionDecisionReason"], "fine");
    let (output, _) =
        probe_event(&json!({"hook_event_name": "PreToolUse", "tool_name": "surrogate", "tool_input": {}}));
    assert_eq!(output["hookSpecificOutput"]["permissionDecisionReason"], "half a pair: ?");
    let (output, _) =
        probe_event(&json!({"hook_event_name": "PreToolUse", "tool_name": "input again", "tool_input": null}));
    assert_eq!(output["hookSpecificOutput"]["additionalContext"], "({}, None, None)");
    let (output, _) = probe_event(&json!({"hook_event_name": "UserPromptSubmit", "prompt": "please"}));
    assert_eq!(output["reason"], "no please");
    assert_eq!(output["hookSpecificOutput"]["additionalContext"], "one\ntwo");
    assert_eq!(output["systemMessage"], "careful");
    let call = json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t"});
    let with = |name: &str, more: Value| {
        let mut event = call.clone();
        event["hook_event_name"] = json!(name);
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        probe_event(&event).0
    };
    assert_eq!(with("PostToolUse", json!({"tool_response": {"stdout": "x"}}))["reason"], "redacted");
    let failed = with("PostToolUseFailure", json!({"error": "it broke"}));
    assert_eq!(failed["hookSpecificOutput"]["additionalContext"], "it broke");
    let permission = with("PermissionRequest", json!({}));
    assert_eq!(
        permission["hookSpecificOutput"]["decision"],
        json!({"behavior": "deny", "message": "never", "interrupt": true})
    );
    let (output, _) = probe_event(&json!({"hook_event_name": "Stop", "stop_hook_active": false}));
    assert_eq!(output["reason"], "go on");
    let (output, _) = probe_event(&json!({"hook_event_name": "Stop", "stop_hook_active": true}));
    assert_eq!(output, json!({}));
}
