//! Hooks in JavaScript and TypeScript, built in their authors' way and run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::{SystemTime, UNIX_EPOCH},
};

use hookbox_testing::{
    examples,
    node::{self, ci, lend_tools, npm, project},
    process::fed,
};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn hookbox() -> Command {
    Command::new(env!("CARGO_BIN_EXE_hookbox"))
}

/// Builds a folder. Returns true if that succeeded, and the messages.
fn build(hook: &Path, output: &Path) -> (bool, String) {
    let built = hookbox().arg("build").arg(hook).arg("-o").arg(output).output().unwrap();
    assert_eq!(built.stdout, b"", "stdout is kept free");
    (built.status.success(), String::from_utf8_lossy(&built.stderr).into_owned())
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
    npm(node::sdk_installed(), &["test"]);
}

/// The SDK works from a packed archive, without the other files of the repository.
#[test]
fn the_sdk_works_from_its_package() {
    let dir = tempfile::tempdir().unwrap();
    npm(&node::sdk(), &["pack", "--pack-destination", dir.path().to_str().unwrap()]);
    let hook = r#"import { deny } from "@hookbox/guest";
        export const onPreToolUse = () => deny("from a package");"#;
    let test = r#"import assert from "node:assert"; import { host } from "@hookbox/guest/testing";
        import { log } from "@hookbox/guest"; const { logs } = host(); log.info("x"); assert.equal(logs.length, 1);"#;
    let folder = dir.path().join("hook");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("package.json"), r#"{ "name": "packed", "type": "module" }"#).unwrap();
    fs::write(folder.join("hook.js"), hook).unwrap();
    fs::write(folder.join("hook.test.js"), test).unwrap();
    npm(&folder, &["install", "--ignore-scripts", "../hookbox-guest-0.1.0.tgz"]);
    lend_tools(&folder);
    let tested = Command::new("node").arg("--test").current_dir(&folder).output().unwrap();
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
    let (ok, said) = build(&folder, &folder.join("packed.wasm"));
    assert!(ok, "{said}");
    assert!(said.contains("JavaScript, @hookbox/guest 0.1.0, WIT hookbox:hooks@0.2.0"), "{said}");
    assert!(said.contains("asks      —"), "{said}");
    assert!(said.contains("componentize-qjs 0.4.5, esbuild 0."), "{said}");
    let (_, said) = build(&folder, &folder.join("packed.wasm"));
    assert!(said.contains("nothing changed"), "{said}");
}

/// Each example passes its own tests, and the cases of the example that it is a version of.
#[test]
fn examples_pass_their_cases() {
    for (name, of) in [
        ("command-guard-js", "command-guard"),
        ("secret-redactor-js", "secret-redactor"),
        ("http-notifier-ts", "http-notifier-ts"),
    ] {
        let folder = root().join("guest-examples").join(name);
        ci(&folder);
        npm(&folder, &["test"]);
        lend_tools(&folder);
        let dir = tempfile::tempdir().unwrap();
        let component = dir.path().join("built.wasm");
        let (ok, said) = build(&folder, &component);
        assert!(ok, "{said}");
        examples::holds_its_cases(name, &component, of, dir.path());
    }
}

/// The author gets the language's own error with file and line, and advice. There is no component.
#[test]
fn errors_name_their_position_and_leave_no_component() {
    let typed = r#"{"compilerOptions": {"module": "nodenext", "strict": true, "noEmit": true}}"#;
    let compiler = node::sdk_installed().join("node_modules/typescript");
    let hook = |text: &str| vec![("hook.js", text.to_owned())];
    for (files, expected) in [
        (hook("export const onStop = (call => {\n"), vec!["hook.js:2:0", "Unexpected end of file"]),
        (
            hook("\nfunction f() {\n  throw new Error('boom');\n}\nf();\nexport const onStop = () => {};"),
            vec!["Error: boom", "at f (hook.js:3)", "(hook.js:5)"],
        ),
        (
            hook("import net from 'node:net';\nexport const onStop = () => net;"),
            vec!["hook.js:1:16", "Could not resolve \"node:net\"", "no sockets", "`http` of @hookbox/guest"],
        ),
        (
            hook("import pad from 'left-pad';\nexport const onStop = () => pad;"),
            vec!["hook.js:1:16", "npm install --ignore-scripts left-pad"],
        ),
        (
            hook("export const onStopp = () => {};"),
            vec!["hook.js exports `onStopp`, which is not an event (did you mean `onStop`?)", "onSubagentStop"],
        ),
        (hook("export const onPretoolUse = () => {};"), vec!["(did you mean `onPreToolUse`?)"]),
        (hook("export const onposttooluse = () => {};"), vec!["(did you mean `onPostToolUse`?)"]),
        (
            hook("export const onEverything = () => {};"),
            vec!["`onEverything`, which is not an event\n", "the events are"],
        ),
        (hook("export const stop = () => {};"), vec!["hook.js handles no event", "onPreToolUse"]),
        (hook("export const onStop = 5;"), vec!["onStop is 5; it must be a function"]),
        (
            hook("import { state } from '@hookbox/guest';\nstate.get('x');\nexport const onStop = () => {};"),
            vec!["the hook calls state.get while it is imported", "Call it in the handler"],
        ),
        (
            hook("await 1;\nexport const onStop = () => {};"),
            vec!["hook.js:1:0", "Top-level await", "await in the handler"],
        ),
        (
            vec![
                ("tsconfig.json", typed.to_owned()),
                (
                    "hook.ts",
                    "import type { OnStop } from '@hookbox/guest';\nexport const onStop: OnStop = () => 'deny';".into(),
                ),
            ],
            vec!["hook.ts", "is not assignable to type", "the types of"],
        ),
        (vec![("package.json", "{".into())], vec!["package.json: "]),
        (vec![("readme", String::new())], vec!["has no hook.ts, hook.js"]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        project(dir.path(), &files);
        std::os::unix::fs::symlink(&compiler, dir.path().join("node_modules/typescript")).unwrap();
        let output = dir.path().join("hook.wasm");
        let (ok, said) = build(dir.path(), &output);
        assert!(!ok, "{files:?}\n{said}");
        assert!(expected.iter().all(|text| said.contains(text)), "{files:?}\n{expected:?}\n{said}");
        assert!(!output.exists());
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("package.json"), "{}").unwrap();
    let built = hookbox().arg("build").arg(dir.path()).env("PATH", "").output().unwrap();
    assert!(String::from_utf8_lossy(&built.stderr).contains("https://nodejs.org"));
}

/// Types are checked even if the hook was built before without the compiler.
#[test]
fn types_are_checked_early() {
    let dir = tempfile::tempdir().unwrap();
    let config = r#"{"compilerOptions": {"module": "nodenext", "strict": true, "noEmit": true}}"#;
    let hook = "import type { OnStop } from '@hookbox/guest';\nexport const onStop: OnStop = () => 'deny';";
    project(dir.path(), &[("tsconfig.json", config), ("hook.ts", hook)]);
    let output = dir.path().join("hook.wasm");
    let (ok, said) = build(dir.path(), &output);
    assert!(ok && said.contains("types are not checked: TypeScript is not installed"), "{said}");
    let compiler = node::sdk_installed().join("node_modules/typescript");
    std::os::unix::fs::symlink(compiler, dir.path().join("node_modules/typescript")).unwrap();
    let (ok, said) = build(dir.path(), &output);
    assert!(!ok && said.contains("is not assignable to type"), "{said}");
    let right = hook.replace("'deny'", "undefined");
    fs::write(dir.path().join("hook.ts"), right).unwrap();
    let (ok, said) = build(dir.path(), &output);
    assert!(ok && !said.contains("types are"), "{said}");
    assert!(build(dir.path(), &output).1.contains("nothing changed"));
}

#[test]
fn missing_packages_are_requested() {
    let dir = tempfile::tempdir().unwrap();
    project(dir.path(), &[("hook.js", "import { deny } from '@hookbox/guest';\nexport const onStop = () => deny();")]);
    fs::remove_dir_all(dir.path().join("node_modules")).unwrap();
    let (_, said) = build(dir.path(), &dir.path().join("hook.wasm"));
    assert!(said.contains("to install them:   npm install --ignore-scripts"), "{said}");
    fs::create_dir(dir.path().join("node_modules")).unwrap();
    let (_, said) = build(dir.path(), &dir.path().join("hook.wasm"));
    assert!(said.contains("to install it:   npm install --ignore-scripts @hookbox/guest"), "{said}");
}

/// A changed file is built again. Errors in it and updates of hookbox do not end the watch.
#[test]
fn a_hook_is_built_again_when_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    project(dir.path(), &[("hook.js", "export const onStop = () => {};")]);
    let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hookbox-{}", std::process::id()));
    fs::hard_link(env!("CARGO_BIN_EXE_hookbox"), &installed).unwrap();
    let mut watching = Command::new(&installed);
    let mut watching =
        watching.args(["build", "--watch"]).current_dir(dir.path()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stderr.take().unwrap()).lines();
    let mut until = |end: &str| -> String {
        let mut said = String::new();
        while !said.contains(end) {
            said += &lines.next().unwrap_or_else(|| panic!("it ended: {said}")).unwrap();
            said.push('\n');
        }
        said
    };
    assert!(until("watching .").contains("handles   Stop"));
    fs::remove_file(installed).unwrap();
    fs::write(dir.path().join("hook.js"), "export const onStop = (").unwrap();
    assert!(until("watching .").contains("hook.js:1:"));
    fs::write(dir.path().join("hook.js"), "export const onSessionEnd = () => {};").unwrap();
    assert!(until("watching .").contains("handles   SessionEnd"));
    watching.kill().unwrap();
    watching.wait().unwrap();
}

/// Lock files pin every package to its hash.
#[test]
fn npm_installs_only_packages_with_a_known_hash() {
    let folders = ["host/cli/src/commands/build/javascript", "sdk-guest/js", "tests/sdk/js", "tests/guests/js-probe"];
    let examples =
        ["command-guard-js", "secret-redactor-js", "http-notifier-ts"].map(|name| format!("guest-examples/{name}"));
    for folder in folders.map(str::to_owned).iter().chain(&examples) {
        let lock: Value =
            serde_json::from_slice(&fs::read(root().join(folder).join("package-lock.json")).unwrap()).unwrap();
        for (name, package) in lock["packages"].as_object().unwrap() {
            // Names with `../` are folders of this project, and links point to them.
            let ours = name.is_empty() || name.starts_with("../") || package["link"] == true;
            assert!(ours || package["integrity"].is_string(), "{folder}: {name}");
        }
    }
}

// ---- features that work in JavaScript ----

/// Runs the probe with a tool of this name. Returns its context and stderr.
fn probe(tool: &str) -> (String, String) {
    probe_with(tool, &json!({"command": "ls"}))
}

fn probe_with(tool: &str, input: &Value) -> (String, String) {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let component = BUILT.get_or_init(|| {
        let folder = root().join("tests/guests/js-probe");
        ci(&folder);
        lend_tools(&folder);
        let component = folder.join(format!(".hookbox/{}.wasm", std::process::id()));
        let (ok, said) = build(&folder, &component);
        assert!(ok, "{said}");
        assert!(said.contains("asks      http, llm, state"), "{said}");
        component
    });
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_input": input});
    let dir = tempfile::tempdir().unwrap();
    let hook = json!({
        "type": "wasm", "component": component,
        "permissions": {"state": true, "llm": true, "http": ["https://example.com"]},
        "authority": {"decide": ["deny", "ask", "allow"], "context": true}
    });
    let config = json!({
        "dialect": "claude",
        "host": {"llm": {"provider": "anthropic", "model": "none", "baseUrl": "http://127.0.0.1:1"}},
        "hooks": {"PreToolUse": [{"hooks": [hook]}]}
    });
    let path = dir.path().join("hooks.json");
    fs::write(&path, config.to_string()).unwrap();
    let (output, stderr) = run(&path, &event, dir.path());
    let context = output["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    (context.to_owned(), stderr)
}

#[test]
fn clocks_and_randomness_are_those_of_the_call() {
    let (said, _) = probe("time");
    let (now, rest) = said.split_once(' ').unwrap();
    let now: u64 = now.parse().unwrap();
    assert!(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().abs_diff(now) < 3600, "{now}");
    assert_eq!(rest, "1970-01-01T00:00:00.000Z true");
    let (first, second) = (probe("random").0, probe("random").0);
    for (first, second) in first.split(' ').zip(second.split(' ')).take(2) {
        assert_ne!(first, second);
    }
    // Random numbers that a module takes on import are fixed by the build.
    assert_eq!(first.split(' ').nth(2), second.split(' ').nth(2));
}

#[test]
fn promises_timers_and_generators_work_within_the_call() {
    assert_eq!(probe("sleep").0, "true true");
    assert_eq!(probe("order").0, "microtask timer first second 1,2,3");
    assert!(probe("rejection").1.contains("log error: unhandled rejection: Error: floating"));
    assert!(probe("never").1.contains("guest-error: onPreToolUse waits for a promise that nothing settles"));
}

#[test]
fn expected_globals_exist() {
    assert_eq!(probe("text").0, "é😀 text 1");
    assert_eq!(probe("url").0, "https://xn--bcher-kva.example/c?x=1&y=+&z=%C3%A9#f true a=1");
    assert_eq!(probe("http").0, "denied");
    assert_eq!(probe("llm").0, "failed");
    assert_eq!(probe("ttl").0, "1");
}

#[test]
fn console_is_the_log() {
    let (_, stderr) = probe("print");
    for line in ["log info: imported", "log info: to log { a: [1] }", "log error: Error: shown", "log debug: 100%"] {
        assert!(stderr.contains(line), "{line}\n{stderr}");
    }
}

#[test]
fn errors_are_faults_with_their_message_and_place() {
    for (tool, fault) in [
        ("error", "guest-error: an error (hook.ts:"),
        ("deep", "guest-error: TypeError: cannot read property 'missing' of null (broken.js:4)"),
        ("rejected", "guest-error: RangeError: later (hook.ts:"),
        ("bad", "odd"),
        ("wrong", "onPreToolUse returned `decison`, which is unknown here"),
        ("fetch", "use `http` of @hookbox/guest"),
        ("recursion", "its stack overflowed"),
        ("loop", "out-of-fuel"),
    ] {
        let (_, stderr) = probe(tool);
        assert!(stderr.contains(fault), "{tool}: {stderr}");
    }
}

#[test]
fn a_large_input_is_read() {
    let text = "é".repeat(20_000);
    let (said, stderr) = probe_with("large", &json!({ "text": text }));
    assert_eq!(said, "20000 20011", "{stderr}");
}
