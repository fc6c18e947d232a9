//! `hookbox new`: its projects build, pass their tests and run without changes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
};

use hookbox::{Dialect, EventKind, dialect};
use hookbox_testing::{node::lend_tools, process::fed};
use serde_json::Value;
use tempfile::TempDir;

/// Each language, with the command of its unit tests.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("rust", &["cargo", "test", "--quiet"]),
    ("go", &["go", "test", "."]),
    ("js", &["npm", "test"]),
    ("python", &["sh", "-c", "PYTHONPATH=hookbox-sdk/src python3 -m unittest"]),
    ("ts", &["sh", "-c", "npm install --ignore-scripts --no-audit --no-fund && npm test"]),
];

fn hookbox(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    // One target folder for all, so that the Rust SDK is compiled once.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new");
    command.current_dir(folder).env("CARGO_TARGET_DIR", target).env("XDG_CACHE_HOME", folder.join("cache"));
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn done(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", said(&output));
    said(&output)
}

#[test]
fn four_commands_make_a_running_hook() {
    for (language, unit_tests) in LANGUAGES {
        let folder = tempfile::tempdir().unwrap();
        done(hookbox(folder.path()).args(["new", "my-guard", "--lang", language]));
        let project = folder.path().join("my-guard");
        let built = done(hookbox(&project).arg("build"));
        for step in ["building ", "my-guard (", "making the component\n", "compiling it for this machine\n"] {
            assert!(built.contains(step), "{language}: {step}\n{built}");
        }
        let tested = done(hookbox(&project).arg("test"));
        assert!(tested.ends_with("2 cases, 0 failed\n"), "{language}\n{tested}");
        under_every_dialect(&folder, language);
        let mut run = hookbox(&project);
        let event = fs::read(project.join("event.json")).unwrap();
        let output = fed(run.args(["run", "--config", "hooks.json"]), &event);
        let verdict: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
        assert_eq!(verdict["hookSpecificOutput"]["permissionDecision"], "deny", "{language}");

        let mut tests = Command::new(unit_tests[0]);
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new");
        done(tests.args(&unit_tests[1..]).current_dir(&project).env("CARGO_TARGET_DIR", target));
    }
}

/// Errors in a hook name the author's line in each language, and never a line of the SDK in the project.
#[test]
fn errors_point_at_the_authors_line() {
    let node = "call.input?.command?.includes(\"rm -rf\")";
    let cases: &[(&str, &str, &str, &str, &str)] = &[
        (
            "go",
            "main.go",
            "return pretooluse.Pass(), nil",
            "var m map[string]int\n\tm[\"x\"] = 1\n\treturn pretooluse.Pass(), nil",
            "(main.go:20)",
        ),
        (
            "go",
            "main.go",
            "return pretooluse.Pass(), nil",
            "hook.JSONOf(func() {})\n\treturn pretooluse.Pass(), nil",
            "(main.go:19)",
        ),
        ("js", "hook.js", node, "setTimeout(7) || false", "(hook.js:5)"),
        ("js", "hook.js", node, "deny(7) && false", "(hook.js:5)"),
        ("js", "hook.js", "deny(\"`rm -rf` is not allowed here\")", "{ decison: \"deny\" }", "(hook.js:4)"),
        ("python", "my_guard.py", "return None", "return deny(7)", "(my_guard.py:11)"),
        ("python", "my_guard.py", "return None", "return deny('x').with_extra({1, 2})", "(my_guard.py:6)"),
        ("rust", "src/lib.rs", "Hook: PreToolUse", "Hook: PreTolUse", "src/lib.rs:16"),
        ("rust", "src/lib.rs", "Hook: PreToolUse", "Hook: PreToolUse, Stop", "src/lib.rs:16"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (language, file, old, new, place) in cases {
        let project = folder.path().join(language).join("my-guard");
        if !project.exists() {
            done(hookbox(folder.path()).args(["new", "my-guard", "--lang", language, "--path", language]));
        }
        let source = fs::read_to_string(project.join(file)).unwrap();
        assert!(source.contains(old), "{source}");
        fs::write(project.join(file), source.replace(old, new)).unwrap();
        let mut told = said(&hookbox(&project).arg("build").output().unwrap());
        if *language != "rust" {
            told = said(&hookbox(&project).arg("test").output().unwrap());
        }
        fs::write(project.join(file), source).unwrap();
        let told = told.lines().filter(|line| !line.contains("Compiling")).collect::<Vec<_>>().join("\n");
        assert!(told.contains(place), "{language}, {new}: not {place}\n{told}");
        let first = told.find("hookbox-sdk").unwrap_or(usize::MAX);
        assert!(told.find(place).unwrap() < first, "{language}, {new}: points into the SDK\n{told}");
    }
}

#[test]
fn an_unknown_event_is_refused_with_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    for (name, near) in [("pre-tol-use", Some("pre-tool-use")), ("PretoolUse", Some("PreToolUse")), ("nothing", None)] {
        let output = hookbox(folder.path()).args(["new", "h", "--lang", "go", "--event", name]).output().unwrap();
        assert_eq!(output.status.code(), Some(64));
        let meant = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        let told = said(&output);
        assert!(
            told.contains(&format!("unknown event `{name}`{meant}\n")) && told.contains("the events are "),
            "{told}"
        );
    }
}

/// Tests the hook that was built for one dialect with the cases of all others.
fn under_every_dialect(folder: &TempDir, language: &str) {
    let component = folder.path().join("my-guard/my-guard.wasm");
    for dialect in dialect::ALL.iter().filter(|dialect| !dialect.spec(EventKind::PreToolUse).name.is_empty()) {
        let place = folder.path().join(dialect.name());
        fs::create_dir(&place).unwrap();
        done(hookbox(&place).args(["new", "my-guard", "--lang", language, "--dialect", dialect.name()]));
        let project = place.join("my-guard");
        fs::copy(&component, project.join("my-guard.wasm")).unwrap();
        let mut test = hookbox(&project);
        let tested = done(test.arg("test").env("XDG_CACHE_HOME", folder.path().join("my-guard/cache")));
        assert!(tested.ends_with("2 cases, 0 failed\n"), "{language} {}\n{tested}", dialect.name());
        fs::remove_dir_all(place).unwrap();
    }
}

#[test]
fn the_sample_event_names_the_shell_tool_as_the_client_does() {
    let shells = [
        ("claude", "Bash"),
        ("gemini", "run_shell_command"),
        ("picoclaw", "exec"),
        ("copilot", "bash"),
        ("opencode", "bash"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (dialect, shell) in shells {
        done(hookbox(folder.path()).args(["new", dialect, "--lang", "go", "--dialect", dialect]));
        for file in ["event.json", "tests/cases.yaml"] {
            let text = fs::read_to_string(folder.path().join(dialect).join(file)).unwrap();
            assert!(text.contains(shell), "{dialect} {file}\n{text}");
        }
    }
}

/// A project can start with every event that a dialect has, and its hook runs. For other events, the error lists those
/// that exist.
#[test]
fn every_event_of_every_dialect() {
    let kinds: Vec<_> = EventKind::ALL.iter().filter(|kind| **kind != EventKind::OtherEvent).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(kind) = kinds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    under_each_dialect_that_has(**kind);
                }
            });
        }
    });
}

fn under_each_dialect_that_has(kind: EventKind) {
    let (folder, event) = (tempfile::tempdir().unwrap(), kind.interface());
    let mut built: Option<Vec<u8>> = None;
    // The languages take turns with the dialects, because they are independent. JavaScript comes first, because it
    // builds quickly.
    let languages = ["js"].into_iter().chain(LANGUAGES.iter().map(|(language, _)| *language).cycle());
    let has = |dialect: &&&dyn Dialect| !dialect.spec(kind).name.is_empty();
    for dialect in dialect::ALL.iter().filter(|dialect| !has(dialect)) {
        let name = dialect.name();
        let mut new = hookbox(folder.path());
        let output = new.args(["new", "h", "--lang", "go", "--event", event, "--dialect", name]).output().unwrap();
        assert_eq!(output.status.code(), Some(64), "{}", said(&output));
        assert!(said(&output).contains(&format!("{name} has no event `{event}`; it has ")), "{}", said(&output));
    }
    for (dialect, language) in dialect::ALL.iter().filter(has).zip(languages) {
        let (place, name) = (format!("{} {kind:?}", dialect.name()), dialect.name());
        done(hookbox(folder.path()).args(["new", "h", "--lang", language, "--event", event, "--dialect", name]));
        let project = folder.path().join("h");
        let command = |args: &[&str]| {
            let mut command = hookbox(&project);
            done(command.args(args).env("XDG_CACHE_HOME", folder.path().join("cache")))
        };
        is_as_its_language_has_it(&project, language);
        let component = project.join("h.wasm");
        if let Some(built) = &built {
            fs::write(component, built).unwrap();
        } else {
            lend_tools(&project);
            command(&["build"]);
            built = Some(fs::read(component).unwrap());
        }
        assert!(command(&["check", "hooks.json"]).contains("0 errors, 0 warnings"), "{place}");
        let cases = fs::read_to_string(project.join("tests/cases.yaml")).unwrap();
        assert!(cases.contains(&format!("dialect: {name}\n")), "{place}: {cases}");
        assert!(command(&["test"]).ends_with(" 0 failed\n"), "{place}");
        // The command of the README.
        let named = fs::read_to_string(project.join("README.md")).unwrap();
        let named = named.split_once(" --event ").map(|(_, rest)| rest.split(' ').next().unwrap().to_owned());
        let named: Vec<_> = named.iter().flat_map(|name| ["--event", name]).collect();
        let told = command(&[&["explain", "--config", "hooks.json", "--input", "event.json"], &named[..]].concat());
        assert!(told.contains("\n  1  h") && !told.contains("failed"), "{place}: it is not asked\n{told}");
        fs::remove_dir_all(project).unwrap();
    }
}

/// Asserts that the project has the format of its language's formatter and, if that needs no compiler, that its tests pass.
fn is_as_its_language_has_it(project: &Path, language: &str) {
    let (program, args): (_, &[&str]) = match language {
        "rust" => ("rustfmt", &["--check", "--edition", "2024", "src/lib.rs"]),
        "go" => ("gofmt", &["-l", "main.go", "main_test.go"]),
        "js" => ("node", &["--test"]),
        "python" => ("python3", &["-m", "unittest"]),
        _ => return,
    };
    let said = done(Command::new(program).args(args).current_dir(project).env("PYTHONPATH", "hookbox-sdk/src"));
    assert!(matches!(language, "js" | "python") || said.is_empty(), "{language}: {said}");
}

#[test]
fn existing_files_are_preserved_and_names_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/notes"), "mine").unwrap();
    let long = "a".repeat(65);
    for (language, name, words) in [
        ("go", "mine", "was not changed"),
        ("go", "../up", "`--path FOLDER` sets"),
        ("go", "Big  Hook", "\n   try `big-hook`\n"),
        ("go", "9lives", "is not a valid hook name"),
        ("go", "é", "is not a valid hook name"),
        ("go", "..", "is not a valid hook name"),
        ("go", "end-", "\n   try `end`\n"),
        ("go", "", "is not a valid hook name"),
        ("go", &long, "use at most 64"),
        ("go", "internal", "is not a valid hook name in Go: it is reserved"),
        ("ts", "con", "is not a valid hook name in TypeScript"),
        ("rust", "self", "is not a valid hook name in Rust"),
        ("python", "import", "is not a valid hook name in Python"),
        ("python", "json", "is not a valid hook name in Python"),
        ("go", "-x", ""),
    ] {
        let output = hookbox(folder.path()).args(["new", "--lang", language, name]).output().unwrap();
        assert_eq!(output.status.code(), Some(64), "{}", said(&output));
        assert!(said(&output).contains(words), "{}", said(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The SDK's manifest in a project is the repository's, with the workspace's settings inlined.
#[test]
fn the_sdk_of_rust_is_the_same_in_a_project() {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (workspace, sdk) = (read("Cargo.toml"), read("sdk-guest/rust/Cargo.toml"));
    let laid = read("host/cli/src/commands/new/rust/sdk.toml");
    let own = sdk.split("[dev-dependencies]").next().unwrap();
    for line in own.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let expected = match line.strip_suffix(".workspace = true") {
            Some("repository") => continue,
            Some(key) => {
                let found = workspace.lines().find(|line| line.split(" = ").next() == Some(key));
                found.unwrap_or_else(|| panic!("no {key} in the workspace")).split(" #").next().unwrap()
            }
            None => line,
        };
        assert!(laid.lines().any(|line| line == expected), "host/cli/src/commands/new/rust/sdk.toml lacks {expected}");
    }
}
