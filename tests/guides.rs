//! Every guide in `docs/` works as written. A block ` ```go file=main.go ` is a file. In a `console` block, each line
//! that starts with `$` is a command, and the lines below it are part of its output, up to a `…`. Questions are
//! answered with yes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{env, ffi::OsString, fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use hookbox_testing::{examples, process::fed};

fn follow(guide: &str) {
    follow_with(guide, None);
}

/// Follows a guide whose reader already has hooks and that writes into a home folder.
fn follow_with(guide: &str, hooks: Option<fn(&Path)>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let text = fs::read_to_string(root.join("docs").join(guide)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    // The folder's name is part of Go's output.
    let folder = dir.path().join("guard");
    fs::create_dir(&folder).unwrap();
    if let Some(lay_out) = hooks {
        lay_out(&folder);
    }
    let path = path_with_hookbox();

    let mut commands = 0;
    for block in text.split("\n```").skip(1).step_by(2) {
        let (info, body) = block.split_once('\n').unwrap();
        if let Some((_, file)) = info.split_once(" file=") {
            let file = folder.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{body}\n")).unwrap();
        } else if info == "console" {
            for step in format!("\n{body}").split("\n$ ").skip(1) {
                let (command, expected) = step.split_once('\n').unwrap_or((step, ""));
                let mut shell = Command::new("sh");
                shell.args(["-c", command]).current_dir(&folder);
                shell.env("PATH", &path).env("HOOKBOX", &root).env("XDG_STATE_HOME", dir.path());
                shell.env("PICOCLAW_HOME", dir.path());
                if hooks.is_some() {
                    let tools = |variable: &str, folder: &str| {
                        env::var_os(variable)
                            .unwrap_or_else(|| Path::new(&env::var_os("HOME").unwrap()).join(folder).into())
                    };
                    shell.env("CARGO_HOME", tools("CARGO_HOME", ".cargo"));
                    shell.env("RUSTUP_HOME", tools("RUSTUP_HOME", ".rustup"));
                    shell.env("HOME", dir.path());
                }
                let output = fed(&mut shell, b"y\n");
                let printed =
                    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                assert!(output.status.success(), "{guide}: {command}\n{printed}");
                for line in expected.lines() {
                    let line = line.split('…').next().unwrap().trim_end();
                    assert!(printed.contains(line), "{guide}: {command}\n--- expected\n{line}\n--- printed\n{printed}");
                }
                commands += 1;
            }
        }
    }
    assert!(commands > 0, "{guide} has no commands");
}

/// Returns the PATH with this build's program first.
fn path_with_hookbox() -> OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_hookbox")).parent().unwrap();
    let rest = env::var_os("PATH").unwrap();
    env::join_paths([program.to_owned()].into_iter().chain(env::split_paths(&rest))).unwrap()
}

/// Writes the hooks that the guides of the clients use: examples, and scripts with empty answers.
fn with_hooks(folder: &Path) {
    fs::create_dir(folder.join("hooks")).unwrap();
    let components = [
        ("guard", "command-guard"),
        ("context", "context-injector"),
        ("paths", "path-rewriter"),
        ("redact", "secret-redactor"),
    ];
    for (name, example) in components {
        fs::copy(examples::component(example), folder.join("hooks").join(name).with_extension("wasm")).unwrap();
    }
    for script in ["legacy.sh", "tests-pass.sh"] {
        fs::write(folder.join(script), "#!/bin/sh\n").unwrap();
        fs::set_permissions(folder.join(script), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Every guide has a test, and every command of a guide runs.
#[test]
fn every_guide_is_followed() {
    let own = include_str!("guides.rs");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for folder in ["hooks", "use"] {
        for entry in fs::read_dir(docs.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let followed =
                [format!("\"{name}\""), format!("\"{folder}/{name}.md\"")].iter().any(|text| own.contains(text));
            assert!(followed, "{} is not followed", path.display());
            let text = fs::read_to_string(&path).unwrap();
            let untried = ["```sh", "```bash", "```shell"].into_iter().find(|fence| text.contains(fence));
            assert_eq!(untried, None, "{name}: commands stand in `console` blocks");
        }
    }
}

#[test]
fn get_started() {
    follow_with("get-started.md", Some(|_| ()));
}

#[test]
fn clients() {
    for guide in ["blade", "claude-code", "codebuddy", "codex", "copilot", "gemini", "opencode"] {
        follow_with(&format!("use/{guide}.md"), Some(with_hooks));
    }
}

/// The page's program is the example and gives the page's output. The README has lines of it.
#[test]
fn embedding() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap();
    let (page, program, readme) =
        (read("docs/embedding.md"), read("host/runtime/examples/embedding.rs"), read("README.md"));
    let block = |info: &str| {
        let from = page.split_once(&format!("```{info}\n")).unwrap_or_else(|| panic!("no block {info}")).1;
        format!("{}\n", from.split_once("\n```").unwrap().0)
    };
    assert_eq!(block("rust file=src/main.rs"), program, "the page's program is host/runtime/examples/embedding.rs");
    let shown = readme.split("```rust\n").find(|block| block.contains("Runtime::builder()")).unwrap();
    for line in shown.split("\n```").next().unwrap().lines().map(str::trim) {
        assert!(program.contains(line), "the README's line is not one of the program's: {line}");
    }

    let mut cargo = Command::new(env!("CARGO"));
    // Built for the whole workspace, so that it has the same features as this test.
    cargo
        .args(["build", "--quiet", "--workspace", "--example", "embedding"])
        .arg("--target-dir")
        .arg(examples::target_dir());
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").current_dir(&root);
    assert!(cargo.status().unwrap().success());
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("acme.json"), block("json file=acme.json")).unwrap();
    fs::copy(examples::component("command-guard"), dir.path().join("guard.wasm")).unwrap();
    let mut command = Command::new(examples::target_dir().join("debug/examples/embedding"));
    command.current_dir(dir.path()).env("PATH", path_with_hookbox()).env("XDG_CACHE_HOME", dir.path().join("cache"));
    let output = command.output().unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(told, block("text"));
    assert!(dir.path().join("state.db").is_file());
}

#[test]
fn go() {
    follow("hooks/go.md");
}

#[test]
fn picoclaw() {
    follow("use/picoclaw.md");
}

#[test]
fn python() {
    follow("hooks/python.md");
}

#[test]
fn testing() {
    follow("hooks/testing.md");
}

#[test]
fn rust() {
    follow("hooks/rust.md");
}

#[test]
fn javascript() {
    follow("hooks/javascript.md");
}

#[test]
fn typescript() {
    follow("hooks/typescript.md");
}
