//! Every guide in `docs/` works as written. A block ` ```go file=main.go ` is a file; in a `console` block each line
//! that begins with `$` is a command, and the lines below it are in what it prints, up to a `…`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{env, fs, path::Path, process::Command};

fn follow(guide: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let text = fs::read_to_string(root.join("docs").join(guide)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    // The folder's name is in what Go prints.
    let folder = dir.path().join("guard");
    fs::create_dir(&folder).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_hookbox")).parent().unwrap();
    let path = env::join_paths([program.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())))
        .unwrap();

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
                let output = Command::new("sh")
                    .args(["-c", command])
                    .current_dir(&folder)
                    .env("PATH", &path)
                    .env("HOOKBOX", &root)
                    .env("XDG_STATE_HOME", dir.path())
                    .env("PICOCLAW_HOME", dir.path())
                    .output()
                    .unwrap();
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
    assert!(commands > 3, "{guide} has no commands");
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
