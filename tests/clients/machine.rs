//! A machine with a user, a project and a component.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use hookbox_testing::{examples, process::fed};
use serde_json::{Value, json};

/// A user with a home, a project, and a component that denies.
pub struct Machine(tempfile::TempDir);

impl Machine {
    pub fn new(config: &Value) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(machine.project()).unwrap();
        fs::create_dir_all(machine.path("bin")).unwrap();
        fs::copy(examples::component("command-guard"), machine.project().join("guard.wasm")).unwrap();
        machine.write("project/hooks.json", &format!("{config:#}\n"));
        machine
    }
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }
    pub fn project(&self) -> PathBuf {
        self.path("project")
    }
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear();
        command.env("HOME", self.path("home")).env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command
    }
    pub fn hookbox(&self, args: &[&str]) -> Output {
        self.answering("", args)
    }
    pub fn answering(&self, answer: &str, args: &[&str]) -> Output {
        fed(self.command(env!("CARGO_BIN_EXE_hookbox")).args(args), answer.as_bytes())
    }
    pub fn install(&self, args: &[&str]) -> String {
        let output = self.hookbox(&[&["install"], args, &["--yes"]].concat());
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{text}");
        text
    }
}

/// A configuration with the component on one event.
pub fn guard(dialect: &str, event: &str, timeout: u64) -> Value {
    let handler = json!({ "type": "wasm", "component": "guard.wasm", "timeout": timeout });
    json!({ "dialect": dialect, "failClosed": true, "hooks": { event: [{ "hooks": [handler] }] } })
}
