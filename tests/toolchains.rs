//! `hookbox build` and the languages' compilers: the same component on every machine, the compiler's own error
//! messages, advice on missing or old compilers, and never a partial component.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    env, fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use hookbox_testing::{examples::target_dir, guest::gate, node::lend_tools, process::fed};

fn hookbox(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.current_dir(folder).env_remove("CARGO_TARGET_DIR").env_remove("CARGO_ENCODED_RUSTFLAGS");
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

/// A project of `hookbox new` in this folder.
fn new(place: &Path, language: &str) -> PathBuf {
    fs::create_dir_all(place).unwrap();
    done(hookbox(place).args(["new", "my-guard", "--lang", language]));
    place.join("my-guard")
}

/// A folder of the user from an environment variable, or its default.
fn home_of(variable: &str, name: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| env::home_dir().unwrap().join(name), PathBuf::from)
}

/// Builds a project as a user with this home and the compilers.
fn build_at_home(project: &Path, home: &Path) -> String {
    let cargo = home.join("cargo");
    fs::create_dir_all(cargo.join("registry")).unwrap();
    // `registry/src` is empty, as in a home that never built anything.
    for part in ["registry/cache", "registry/index", "config.toml", "bin"] {
        let own = home_of("CARGO_HOME", ".cargo").join(part);
        if own.exists() && !cargo.join(part).exists() {
            symlink(own, cargo.join(part)).unwrap();
        }
    }
    let go = Command::new("go").args(["env", "GOCACHE"]).output().expect("go");
    done(
        hookbox(project)
            .arg("build")
            .env("HOME", home)
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("CARGO_HOME", cargo)
            .env("RUSTUP_HOME", home_of("RUSTUP_HOME", ".rustup"))
            .env("GOCACHE", String::from_utf8(go.stdout).unwrap().trim()),
    )
}

// ---- the same component everywhere ----

/// The component is identical byte for byte, for any folder, home and time.
#[test]
fn the_same_source_gives_the_same_component_anywhere() {
    let dir = tempfile::tempdir().unwrap();
    for language in ["rust", "go", "js", "ts"] {
        let component = |place: &str, home: &str| {
            let project = new(&dir.path().join(language).join(place), language);
            if matches!(language, "js" | "ts") {
                lend_tools(&project);
            }
            let home = dir.path().join(language).join(home);
            assert!(!build_at_home(&project, &home).contains("nothing changed"));
            assert!(build_at_home(&project, &home).contains("nothing changed"), "{language}");
            fs::read(project.join("my-guard.wasm")).unwrap()
        };
        let (here, there) = (component("here", "home"), component("some/where/else", "another/home"));
        assert!(here == there, "{language}: the folder, the home or the moment is in the component");
        let machine = [dir.path(), Path::new(env!("CARGO_MANIFEST_DIR")), &env::home_dir().unwrap()];
        for path in machine.map(|path| path.to_str().unwrap().as_bytes()) {
            assert!(!here.windows(path.len()).any(|bytes| bytes == path), "{language}: a path of this machine");
        }
    }
}

/// Two builds of Python differ in some bytes, because componentize-py does not fix its interpreter's start state
/// (`docs/hooks/python.md`). All other files are the same, so a build in one folder is reused in another.
#[test]
fn python_is_built_once_for_any_place() {
    let dir = tempfile::tempdir().unwrap();
    let places = ["here", "some/where/else"].map(|place| new(&dir.path().join(place), "python"));
    build_at_home(&places[0], &dir.path().join("home"));
    fs::copy(places[0].join("my-guard.wasm"), places[1].join("my-guard.wasm")).unwrap();
    let built = build_at_home(&places[1], &dir.path().join("another/home"));
    assert!(built.contains("nothing changed"), "{built}");
}

// ---- errors ----

/// Returns the error of a Rust or Go project with this source. The build leaves no component.
fn refused(language: &str, file: &str, source: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let project = new(dir.path(), language);
    fs::write(project.join(file), source).unwrap();
    fs::write(project.join("my-guard.wasm"), "what was there").unwrap();
    let target = target_dir().join("toolchains");
    let output = hookbox(&project).arg("build").env("CARGO_TARGET_DIR", target).output().unwrap();
    assert!(!output.status.success(), "{language}");
    assert_eq!(fs::read(project.join("my-guard.wasm")).unwrap(), b"what was there", "{language}");
    said(&output)
}

#[test]
fn rust_errors_name_problem_and_position() {
    let hook = |body: &str| {
        format!(
            "use hookbox_guest::prelude::*;\n\nstruct Hook;\n\nimpl Stop for Hook {{\n    \
             fn handle(_: &EventContext, _: &stop::Event) -> Result<stop::Output> {{\n        {body}\n    }}\n}}\n\n\
             hookbox_guest::export!(Hook: Stop);\n"
        )
    };
    for (source, words) in [
        (hook("Ok(pass()"), vec!["src/lib.rs:7:", "unclosed delimiter"]),
        (hook("5"), vec!["src/lib.rs:7:9", "mismatched types"]),
        // A decision that the event does not have.
        (hook("Ok(deny(\"no\"))"), vec!["src/lib.rs:7:12", "`deny` do not answer `hookbox_guest::stop::Event`"]),
        ("pub fn nothing() {}\n".into(), vec!["it handles no event"]),
    ] {
        let found = refused("rust", "src/lib.rs", &source);
        assert!(words.iter().all(|word| found.contains(word)), "{words:?}\n{found}");
    }
}

#[test]
fn go_errors_name_problem_and_position() {
    let hook = |body: &str| {
        let sdk = "github.com/hookbox/hookbox/sdk-guest/go";
        format!("package main\n\nimport (\n\t\"{sdk}/hook\"\n\t\"{sdk}/stop\"\n)\n\nfunc main() {{}}\n\n{body}\n")
    };
    let handler = "func handle(hook.EventContext, stop.Event) (stop.Output, error) { return stop.Pass(), nil }";
    for (source, words) in [
        (hook("func init() { stop.Handle( }"), vec!["main.go:10:", "syntax error"]),
        (
            hook("func init() { stop.Handle(handle) }\n\nfunc handle(hook.EventContext, stop.Event) int { return 1 }"),
            vec!["main.go:10:27", "cannot use handle"],
        ),
        (
            hook(&format!("func init() {{\n\tstop.Handle(handle)\n\tpanic(\"at import\")\n}}\n\n{handler}")),
            vec!["panic: at import", "main.go:12", "`func init` fails"],
        ),
    ] {
        let found = refused("go", "main.go", &source);
        assert!(words.iter().all(|word| found.contains(word)), "{words:?}\n{found}");
    }
}

// ---- compilers ----

/// A folder with a program that prints this for any arguments.
fn pretended(program: &str, prints: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(program);
    fs::write(&file, format!("#!/bin/sh\necho '{prints}'\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

/// The error has advice for a compiler that is missing, too old, or without the target.
#[test]
fn missing_compilers_have_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = tempfile::tempdir().unwrap();
    let [rustc, go, node, python] =
        [("rustc", "/nowhere/lib"), ("go", "go1.20"), ("node", "v18.0.0"), ("python3", "Python 3.9.18")]
            .map(|(program, prints)| pretended(program, prints));
    for (language, path, words) in [
        ("rust", nothing.path(), vec!["`rustc` is not installed", "https://rustup.rs"]),
        ("go", nothing.path(), vec!["`go` is not installed", "https://go.dev/dl"]),
        ("js", nothing.path(), vec!["`node` is not installed", "https://nodejs.org"]),
        ("ts", nothing.path(), vec!["`node` is not installed", "https://nodejs.org"]),
        ("python", nothing.path(), vec!["`python3` is not installed", "https://www.python.org/downloads"]),
        ("rust", rustc.path(), vec!["no target", "rustup target add wasm32-unknown-unknown"]),
        ("go", go.path(), vec!["Go 1.20 cannot export", "https://go.dev/dl"]),
        ("js", node.path(), vec!["Node.js v18.0.0 is too old", "https://nodejs.org"]),
        ("python", python.path(), vec!["Python 3.9.18 is too old", "https://www.python.org/downloads"]),
    ] {
        let place = dir.path().join(language);
        let project = place.join("my-guard");
        if !project.exists() {
            new(&place, language);
        }
        let output = hookbox(&project).arg("build").env("PATH", path).output().unwrap();
        let found = said(&output);
        assert!(!output.status.success() && words.iter().all(|word| found.contains(word)), "{words:?}\n{found}");
        assert!(found.contains("\n   to install"), "what to do stands on a line of its own\n{found}");
    }
}

// ---- features that no hook has ----

/// A Rust package that opens sockets, and imports that packages for browsers leave in a module.
#[test]
fn unsupported_rust_packages_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let project = new(dir.path(), "rust");
    let (manifest, source) = (project.join("Cargo.toml"), project.join("src/lib.rs"));
    let [own, hook] = [&manifest, &source].map(|file| fs::read_to_string(file).unwrap());
    let build = || {
        let target = target_dir().join("toolchains");
        let output = hookbox(&project).arg("build").env("CARGO_TARGET_DIR", target).output().unwrap();
        assert!(!output.status.success());
        said(&output)
    };
    let needs = "[dependencies]\nmio = { version = \"=1.2.4\", features = [\"net\", \"os-poll\"] }";
    fs::write(&manifest, own.replace("[dependencies]", needs)).unwrap();
    let found = build();
    for words in [
        "could not compile `mio`",
        "error: `mio` does not compile for a hook, because hooks have no sockets",
        "\n   dependents:   cargo tree --target wasm32-unknown-unknown --invert mio",
        "use `http` of hookbox_guest",
    ] {
        assert!(found.contains(words), "{words}\n{found}");
    }

    fs::write(&manifest, own).unwrap();
    let browser = "#[link(wasm_import_module = \"__wbindgen_placeholder__\")]\nunsafe extern \"C\" {\n    \
                   fn __wbindgen_describe(what: u32);\n}\n";
    let calls = hook.replace("match call.input", "unsafe { __wbindgen_describe(1) };\n        match call.input");
    fs::write(&source, format!("{calls}\n{browser}")).unwrap();
    let found = build();
    assert!(found.contains("only in browsers") && found.contains("--invert wasm-bindgen"), "{found}");
}

/// The error has Go's own message and hookbox's alternative. Such a program has more data segments than a module may have.
#[test]
fn a_go_hook_that_connects_gets_the_alternative() {
    let dir = tempfile::tempdir().unwrap();
    let project = new(dir.path(), "go");
    let source = fs::read_to_string(project.join("main.go")).unwrap();
    let source = source.replace("\"strings\"", "\"net/http\"").replace(
        "if strings.Contains(call.Input.String(\"/command\"), \"rm -rf\") {",
        "if _, err := http.Get(\"http://127.0.0.1:1/\"); err != nil {\n\t\treturn pretooluse.Pass(), err\n\t}\n\tif call.Name == \"\" {",
    );
    fs::write(project.join("main.go"), source).unwrap();
    done(hookbox(&project).arg("build"));
    let mut run = hookbox(&project);
    let event = fs::read(project.join("event.json")).unwrap();
    let found = said(&fed(run.args(["run", "--config", "hooks.json"]), &event));
    for words in ["dial tcp 127.0.0.1:1", "a hook has no sockets: package http of the SDK sends requests"] {
        assert!(found.contains(words), "{words}\n{found}");
    }
}

// ---- compiled components are cached ----

/// Returns the compiled components, with their inode, which changes when a component is written again.
fn cached(home: &Path) -> Vec<(PathBuf, u64)> {
    let files = fs::read_dir(home.join("hookbox")).unwrap().map(|entry| entry.unwrap());
    let files = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "cwasm"));
    let mut files: Vec<_> = files.map(|file| (file.path(), file.metadata().unwrap().ino())).collect();
    files.sort();
    files
}

#[test]
fn build_check_and_test_fill_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let event = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}"#;
    write("hooks.json", r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "wasm", "component": "guard.wasm"}]}]}}"#);
    fs::create_dir(dir.path().join("tests")).unwrap();
    write("tests/cases.yaml", &format!("- name: passes\n  event: {event}\n  expect: {{output: {{}}}}\n"));
    fs::write(dir.path().join("core.wasm"), wat::parse_str(gate("", "")).unwrap()).unwrap();
    for command in [&["build", "core.wasm", "-o", "guard.wasm"][..], &["check", "hooks.json"], &["test"]] {
        let home = dir.path().join(command[0]);
        done(hookbox(dir.path()).args(command).env("XDG_CACHE_HOME", &home));
        let before = cached(&home);
        assert_eq!(before.len(), 1, "{command:?} {before:?}");
        let mut run = hookbox(dir.path());
        let output = fed(run.args(["run", "--config", "hooks.json"]).env("XDG_CACHE_HOME", &home), event.as_bytes());
        assert_eq!(output.stdout, b"{}\n", "{command:?} {}", said(&output));
        assert_eq!(cached(&home), before, "{command:?}: the first event compiled");
    }
}

/// A component is written completely or not at all.
#[test]
fn nothing_is_left_of_a_component_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let core = dir.path().join("core.wasm");
    fs::write(&core, wat::parse_str(gate("", "")).unwrap()).unwrap();
    let taken = dir.path().join("out/hook.wasm");
    fs::create_dir_all(taken.join("something")).unwrap();
    let output = hookbox(dir.path()).args(["build", "core.wasm", "-o", "out/hook.wasm"]).output().unwrap();
    assert!(!output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("cannot write out/hook.wasm"), "{}", said(&output));
    let left: Vec<_> = fs::read_dir(dir.path().join("out")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [taken]);
}
