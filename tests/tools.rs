//! The scripts in `tools/`. These tests compile nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    env, fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A PATH with these programs and basic tools, for a user who is not root.
fn with(folder: &Path, programs: &[(&str, &str)]) {
    for name in ["bash", "cat", "cut", "dirname", "head", "paste", "sed", "sort", "tr"] {
        let found =
            env::split_paths(&env::var_os("PATH").unwrap()).map(|folder| folder.join(name)).find(|p| p.is_file());
        symlink(found.unwrap_or_else(|| panic!("no {name}")), folder.join(name)).unwrap();
    }
    for (name, script) in [&[("id", "echo 1000")][..], programs].concat() {
        let program = folder.join(name);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn needs(path: &Path, target: &Path) -> Output {
    let mut bash = Command::new("bash");
    bash.arg(root().join("tools/needs"))
        .env_clear()
        .env("PATH", path)
        .env("CARGO_TARGET_DIR", target)
        .env("HOME", target);
    bash.output().unwrap()
}

#[test]
fn missing_programs_are_reported_with_the_command_that_installs_them() {
    let (path, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    with(path.path(), &[("node", "echo v18.1.0"), ("npm", ""), ("go", "echo go1.24.1"), ("systemd-analyze", "")]);
    let output = needs(path.path(), target.path());
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for line in [
        "error: the tests need python3-pip, Node.js 20, redis-server, chromium, tmux\n",
        "   to install it:   sudo apt-get install -y --no-install-recommends python3 python3-pip nodejs npm redis-server chromium tmux\n",
        "older Node.js:   https://nodejs.org\n",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    assert!(!told.contains("go.dev"), "{told}");
}

#[test]
fn nothing_is_installed_if_everything_exists() {
    let (path, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let there = [
        ("python3", "[ \"$2\" = pip ] && [ \"$3\" = --version ]"),
        ("node", "echo v20.19.0"),
        ("npm", ""),
        ("go", "echo go1.26.8"),
        ("systemd-analyze", ""),
        ("valkey-server", ""),
        ("google-chrome", ""),
        ("tmux", ""),
    ];
    with(path.path(), &there);
    let output = needs(path.path(), target.path());
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The script has only the two commands of the README.
#[test]
fn the_build_server_runs_the_commands_of_the_readme() {
    let script = fs::read_to_string(root().join(".ci/run")).unwrap();
    let commands: Vec<&str> = script.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(commands, ["set -euo pipefail", "cd \"$(dirname \"$0\")/..\"", "./just demo", "exec ./just test"]);
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("$ ./just demo ") && readme.contains("$ ./just test "), "the README's commands");
    let demo = fs::read_to_string(root().join("tools/demo")).unwrap();
    let words: Vec<&str> = demo.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect();
    for tool in ["python3", "pip", "npm", "node", "just", "go"] {
        assert!(!words.contains(&tool), "the demo needs {tool}");
    }
}
