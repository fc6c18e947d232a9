//! The merge vectors, and the configuration that each of them describes.
//!
//! The hooks of a vector are real commands, so that the same vector tests the library, the command line and every other
//! front end.

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A test of one sentence of the specification.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    pub name: String,
    /// The quoted sentence, as `PAGE#HEADING: SENTENCE`.
    pub clause: String,
    pub profile: Option<String>,
    #[serde(default)]
    pub config: Map<String, Value>,
    /// The value of `--event`, for payloads without the event's name.
    #[serde(rename = "as")]
    pub named: Option<String>,
    pub event: Value,
    #[serde(default)]
    pub hooks: Vec<HookCase>,
    pub expect: Value,
    /// The expected stderr, if `hookbox run` answers with exit code 2.
    pub feedback: Option<String>,
    /// The kinds of all expected notes.
    #[serde(default)]
    pub notes: BTreeSet<String>,
    /// Numbers of the hooks that run. Default: all that can start.
    pub ran: Option<Vec<usize>>,
}

/// One hook of a vector.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct HookCase {
    pub matcher: Option<String>,
    pub prints: Option<Value>,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    pub exit: u8,
    pub on_failure: Option<String>,
    pub sleeps: bool,
    pub sequential: bool,
    pub missing: bool,
    pub on: Option<String>,
    pub priority: Option<i64>,
    pub intercept: Option<Vec<String>>,
    pub observe: Option<Value>,
    pub echo: Option<String>,
    pub with: Option<Value>,
    /// A bundled hook, in place of a command.
    pub bundled: Option<String>,
    /// The authority of a bundled hook.
    pub authority: Option<Value>,
}

/// A file of vectors.
pub struct File {
    pub dialect: String,
    pub path: PathBuf,
    pub vectors: Vec<Vector>,
}

/// Returns all vectors by file.
pub fn all() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    let mut files = Vec::new();
    for dialect in fs::read_dir(&root).expect("tests/vectors").map(|e| e.expect("readable").path()) {
        for path in fs::read_dir(&dialect).expect("a dialect's vectors").map(|e| e.expect("readable").path()) {
            let text = fs::read_to_string(&path).expect("readable");
            let vectors = serde_norway::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let dialect = dialect.file_name().expect("named").to_string_lossy().into_owned();
            files.push(File { dialect, path, vectors });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!files.is_empty(), "no vectors in {}", root.display());
    files
}

impl Vector {
    /// Returns the numbers of the hooks that leave their mark when they run. A missing command cannot run, and a
    /// component cannot write.
    pub fn should_run(&self) -> Vec<usize> {
        let marks = |hook: &HookCase| !hook.missing && hook.bundled.is_none();
        let startable = || (0..self.hooks.len()).filter(|number| marks(&self.hooks[*number]));
        self.ran.clone().unwrap_or_else(|| startable().collect())
    }

    /// Writes the vector's configuration and commands into a folder and returns the configuration's path.
    pub fn lay_out(&self, folder_dialect: &str, dir: &Path) -> PathBuf {
        let dialect = self.profile.as_deref().unwrap_or(folder_dialect);
        let base = dialect.split('@').next().unwrap_or(dialect);
        let mut config = json!({ "dialect": dialect });
        let mut hooks = Map::new();
        for (number, case) in self.hooks.iter().enumerate() {
            let handler = case.handler(number, dir);
            let event = match &case.on {
                Some(on) if on == "canUseTool" => {
                    config["canUseTool"] = handler;
                    continue;
                }
                Some(on) => on.clone(),
                None => self.named.clone().unwrap_or_else(|| event_name(&self.event)),
            };
            add(&mut hooks, base, number, &event, case, handler);
        }
        for (key, value) in &self.config {
            // blade keeps its settings inside `hooks`, as its specification shows.
            if base == "blade" && key != "failClosed" && key != "limits" {
                hooks.insert(key.clone(), value.clone());
            } else {
                config[key] = value.clone();
            }
        }
        config["hooks"] = hooks.into();
        let path = dir.join("hooks.json");
        fs::write(&path, format!("{config:#}")).expect("writable");
        path
    }
}

fn add(hooks: &mut Map<String, Value>, dialect: &str, number: usize, event: &str, case: &HookCase, mut handler: Value) {
    let mut list = |entry: Value| {
        let entries = hooks.entry(event).or_insert_with(|| json!([]));
        entries.as_array_mut().expect("an array").push(entry);
    };
    match dialect {
        "blade-callback" => {
            if let Some(matcher) = &case.matcher {
                handler["matcher"] = json!(matcher);
            }
            list(handler);
        }
        "picoclaw" => {
            handler["priority"] = json!(case.priority.unwrap_or(i64::try_from(number).expect("few hooks") * 10));
            if let Some(observe) = &case.observe {
                handler["observe"] = observe.clone();
            } else {
                let own = vec![event.trim_start_matches("hook.").to_owned()];
                handler["intercept"] = json!(case.intercept.clone().unwrap_or(own));
            }
            hooks.insert(format!("h{number}"), handler);
        }
        _ => {
            let mut group = json!({ "hooks": [handler] });
            if let Some(matcher) = &case.matcher {
                group["matcher"] = json!(matcher);
            }
            if case.sequential {
                group["sequential"] = json!(true);
            }
            list(group);
        }
    }
}

/// Returns the event's name from the field that its dialect uses.
fn event_name(event: &Value) -> String {
    let name = ["hook_event_name", "hookName", "event", "method"].iter().find_map(|key| event[*key].as_str());
    name.expect("the vector's event has a name").to_owned()
}

impl HookCase {
    /// Returns the handler of the configuration. A command leaves a mark when it runs, and then does what the case says.
    fn handler(&self, number: usize, dir: &Path) -> Value {
        let mut handler = match &self.bundled {
            Some(name) => json!({ "type": "wasm", "component": format!("hookbox:{name}") }),
            None => self.command(number, dir),
        };
        if let Some(policy) = &self.on_failure {
            handler["onFailure"] = json!(policy);
        }
        if let Some(authority) = &self.authority {
            handler["authority"] = authority.clone();
        }
        handler
    }

    fn command(&self, number: usize, dir: &Path) -> Value {
        let put = |name: &str, text: &str| fs::write(dir.join(name), text).expect("writable");
        let mut script = format!(": > ran{number}; ");
        if self.sleeps {
            script += "sleep 60";
        } else if let Some(pointer) = &self.echo {
            put(&format!("with{number}"), &self.with.as_ref().expect("echo needs with").to_string());
            write!(script, "'{}' {} with{number}", echo_tool(), shell_word(pointer)).expect("a string");
        } else {
            let stdout = self.prints.as_ref().map(Value::to_string).or_else(|| self.stdout.clone());
            put(&format!("out{number}"), stdout.as_deref().unwrap_or_default());
            put(&format!("err{number}"), self.stderr.as_deref().unwrap_or_default());
            write!(script, "cat out{number}; cat err{number} >&2; exit {}", self.exit).expect("a string");
        }
        let mut handler = json!({ "type": "command", "command": script, "timeoutMs": 30_000 });
        if self.sleeps {
            handler["timeoutMs"] = json!(200);
        }
        if self.missing {
            handler["command"] = json!("./no-such-command");
            handler["args"] = json!([]);
        }
        handler
    }
}

fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns a command that prints the JSON of a file and replaces `"$SEEN"` by the value at a pointer in stdin.
fn echo_tool() -> String {
    let test = std::env::current_exe().expect("this test");
    let target = test.ancestors().nth(2).expect("target/debug");
    target.join("examples/echo").display().to_string()
}

/// Returns the numbers of the hooks that left their mark.
pub fn ran(dir: &Path, hooks: usize) -> Vec<usize> {
    (0..hooks).filter(|number| dir.join(format!("ran{number}")).exists()).collect()
}
