//! A checkout, the home of its user, and a real registry.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use hookbox_registry::SigningKey;
use hookbox_testing::{guest, process::fed, registry::Registry};
use serde_json::{Value, json};

pub const EVENT: &str =
    r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;

/// Imports state without using it.
const STATE: &str = r#"(import "hookbox:hooks/state@0.2.0" "delete" (func (param i32 i32 i32)))"#;

/// A component that denies every tool call.
pub fn guard() -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/frozen/guest-0.2.0.wasm")).unwrap()
}

/// A component that gives an empty answer. Its bytes differ for each version.
pub fn silent(version: u32) -> Vec<u8> {
    let items = format!("(global $version i32 (i32.const {version}))");
    guest::encode(&guest::gate("", &items), guest::GATE, "")
}

/// A component that gives an empty answer and needs a grant of state.
pub fn greedy() -> Vec<u8> {
    let world = format!("import hookbox:hooks/state@0.2.0; {}", guest::GATE);
    guest::encode(&guest::gate("", STATE), &world, "")
}

/// A checkout, the home of its user, and a registry.
pub struct Setup {
    pub dir: tempfile::TempDir,
    pub home: tempfile::TempDir,
    pub registry: Registry,
}

impl Setup {
    /// A project with version 1 of this hook in the registry, and a user who allows the registry.
    pub fn new(component: &[u8]) -> Self {
        let setup =
            Self { dir: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap(), registry: Registry::start() };
        let folder = setup.home.path().join("hookbox");
        fs::create_dir_all(&folder).unwrap();
        let allowed = json!({ "registries": { &setup.registry.host: { "private": true } } });
        fs::write(folder.join("registries.json"), allowed.to_string()).unwrap();
        setup.push(component, "1");
        setup.configure(&json!({}));
        setup
    }

    pub fn reference(&self) -> String {
        self.registry.reference("acme/guard:1")
    }

    /// Writes a configuration of the hook with these keys.
    pub fn configure(&self, keys: &Value) {
        let mut hook = json!({ "type": "wasm", "component": self.reference() });
        hook.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        let config = json!({ "hooks": { "PreToolUse": [{ "hooks": [hook] }] } });
        fs::write(self.dir.path().join("hooks.json"), config.to_string()).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        self.command_in(self.home.path(), args)
    }

    fn command_in(&self, home: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command.args(args).current_dir(self.dir.path()).env("HOME", home).env_remove("DOCKER_CONFIG");
        for variable in ["XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"] {
            command.env(variable, home);
        }
        command
    }

    pub fn in_home(&self, home: &Path, args: &[&str]) -> Output {
        fed(&mut self.command_in(home, args), EVENT.as_bytes())
    }

    pub fn hookbox(&self, args: &[&str]) -> Output {
        self.in_home(self.home.path(), args)
    }

    /// Runs a command that must succeed. Returns its stdout.
    pub fn does(&self, args: &[&str]) -> String {
        let output = self.hookbox(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that must exit with this code. Returns both outputs.
    pub fn ends(&self, code: i32, args: &[&str]) -> String {
        let output = self.hookbox(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        text(&output)
    }

    pub fn push(&self, component: &[u8], tag: &str) -> String {
        let file = self.home.path().join("push.wasm");
        fs::write(&file, component).unwrap();
        self.does(&["push", file.to_str().unwrap(), &self.registry.reference(&format!("acme/guard:{tag}"))])
    }

    pub fn run(&self) -> Output {
        self.hookbox(&["run", "--config", "hooks.json"])
    }

    pub fn lock_file(&self) -> PathBuf {
        self.dir.path().join("hookbox.lock")
    }

    pub fn lock(&self) -> Value {
        serde_json::from_slice(&fs::read(self.lock_file()).unwrap()).unwrap()
    }

    pub fn entry(&self) -> Value {
        self.lock()["components"][self.reference()].clone()
    }

    /// Changes the lock file in the way of a text editor.
    pub fn edit(&self, change: impl FnOnce(&mut Value)) {
        let mut lock = self.lock();
        change(&mut lock);
        fs::write(self.lock_file(), lock.to_string()).unwrap();
    }

    pub fn kept(&self) -> PathBuf {
        self.home.path().join("hookbox/components")
    }
}

pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Returns the reason of a denial. Panics if the run was not denied.
pub fn denied(output: &Output) -> String {
    let wire: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(wire["hookSpecificOutput"]["permissionDecision"], "deny", "{output:?}");
    wire["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned()
}

/// Asserts that the hook ran and gave an empty answer.
pub fn passed(output: &Output) {
    assert!(output.status.success(), "{output:?}");
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), json!({}), "{output:?}");
}

/// Two keys that sign, and those that verify, as files.
pub fn keys(folder: &Path) -> [(PathBuf, PathBuf); 2] {
    ["first", "second"].map(|name| {
        let (file, public) = (folder.join(format!("{name}.key")), folder.join(format!("{name}.pub")));
        let (key, text) = SigningKey::generate().unwrap();
        fs::write(&file, text).unwrap();
        fs::write(&public, key.public().to_pem()).unwrap();
        (file, public)
    })
}

impl Setup {
    /// Sets what the user says of publishers of the registry, beside that the registry is allowed.
    pub fn policy(&self, publisher: &Value, revoked: &Value) {
        let mut publisher = publisher.clone();
        publisher["references"] = format!("{}/acme/*", self.registry.host).into();
        let settings = json!({
            "registries": { &self.registry.host: { "private": true } }, "publishers": [publisher], "revoked": revoked,
        });
        fs::write(self.home.path().join("hookbox/registries.json"), settings.to_string()).unwrap();
    }

    pub fn sign(&self, key: &Path) -> String {
        self.does(&["sign", &self.reference(), "--key", key.to_str().unwrap()])
    }
}
