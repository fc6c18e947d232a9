//! A daemon for one test.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use hookbox_testing::{
    examples,
    guest::{GATE, encode, gate},
};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

/// Maximum time that a test waits for something.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// The token of a tenant in these tests.
pub fn token(tenant: &str) -> String {
    format!("secret of {tenant}")
}

/// The hash of the token in the tenant's file.
pub fn hash(tenant: &str) -> String {
    hookbox_server::Token::of(&token(tenant)).to_string()
}

/// A tenant with one hooks file for claude.
pub fn tenant(name: &str) -> Value {
    json!({ "tokens": [hash(name)], "hooks": { "claude": format!("{name}-hooks.json") } })
}

/// A hooks file with one component on every tool.
pub fn hooks(component: &str) -> Value {
    json!({ "hooks": { "PreToolUse": [ { "hooks": [ { "type": "wasm", "component": component } ] } ] } })
}

/// A hooks file with `failClosed`.
pub fn closed(mut hooks: Value) -> Value {
    hooks["failClosed"] = true.into();
    hooks
}

/// A call of `Bash`.
pub fn bash(command: &str) -> Value {
    json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": { "command": command } })
}

/// The files of a daemon.
pub struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    /// A tenant `acme` with the command guard, and settings that take any port.
    pub fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(files.path("tenants")).unwrap();
        files.settings(json!({}));
        files.component("guard.wasm", "command-guard");
        files.write("tenants/acme.json", &tenant("acme"));
        files.write("tenants/acme-hooks.json", &hooks("guard.wasm"));
        files
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the settings that all tests share, with these overrides.
    pub fn settings(&self, more: Value) {
        let mut settings = json!({ "listen": "127.0.0.1:0", "tenants": "tenants/", "state": "state/state.db" });
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.write("serve.json", &settings);
    }

    /// Replaces a file atomically, as tools that manage files do.
    pub fn write(&self, name: &str, value: &Value) {
        self.write_text(name, &value.to_string());
    }

    pub fn write_text(&self, name: &str, text: &str) {
        let beside = self.path(&format!("{name}.new"));
        fs::write(&beside, text).unwrap();
        fs::rename(beside, self.path(name)).unwrap();
    }

    /// Copies an example as a component of the tenants.
    pub fn component(&self, name: &str, example: &str) {
        fs::copy(examples::component(example), self.path("tenants").join(name)).unwrap();
    }

    /// Writes a component with this body for `PreToolUse`.
    pub fn guest(&self, name: &str, body: &str) {
        fs::write(self.path("tenants").join(name), encode(&gate(body, ""), GATE, "")).unwrap();
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command.args(["serve", "--config"]).arg(self.path("serve.json"));
        // Compiled once for all tests of this process.
        command.env("XDG_CACHE_HOME", cache()).env("XDG_STATE_HOME", self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    pub fn start(self) -> Daemon {
        Daemon::start(self)
    }
}

fn cache() -> &'static Path {
    static CACHE: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    CACHE.get_or_init(|| tempfile::tempdir().unwrap()).path()
}

/// A daemon that runs.
pub struct Daemon {
    pub child: Child,
    pub files: Files,
    /// The addresses that it listens on, in order.
    pub addresses: Vec<String>,
    log: Arc<Mutex<String>>,
    pub client: Client,
}

impl Daemon {
    pub fn start(files: Files) -> Self {
        Self::with(files, |_| {})
    }

    /// Starts a daemon after changing its command, for example its environment.
    pub fn with(files: Files, more: impl FnOnce(&mut Command)) -> Self {
        let mut command = files.command();
        more(&mut command);
        let (child, addresses, log) = launch(&files, &mut command);
        let client = Client::builder().no_proxy().build().unwrap();
        Self { child, files, addresses, log, client }
    }

    /// Kills the daemon and starts it again.
    pub fn restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.child, self.addresses, self.log) = launch(&self.files, &mut self.files.command());
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addresses[0])
    }

    pub fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(self.url(path)).header("content-type", "application/json")
    }

    /// Sends an event of claude to a tenant.
    pub fn ask(&self, tenant: &str, event: Value) -> RequestBuilder {
        self.post(&format!("/v1/{tenant}/claude")).bearer_auth(token(tenant)).body(event.to_string())
    }

    /// Returns the verdict for claude.
    pub async fn verdict(&self, tenant: &str, event: Value) -> Value {
        let response = self.ask(tenant, event).send().await.unwrap();
        assert_eq!(response.status(), 200, "{}\n{}", response.text().await.unwrap(), self.log());
        read(response).await
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until a condition holds.
    pub async fn until<F: Future<Output = bool>>(&self, what: &str, mut holds: impl FnMut() -> F) {
        let begin = Instant::now();
        while !holds().await {
            assert!(begin.elapsed() < PATIENCE, "not {what}\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the daemon exits by itself.
    pub fn ends(&mut self) {
        let begin = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < PATIENCE, "it does not end\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

/// Starts the daemon and waits until it listens.
fn launch(files: &Files, command: &mut Command) -> (Child, Vec<String>, Arc<Mutex<String>>) {
    let listening = serde_json::from_str::<Value>(&fs::read_to_string(files.path("serve.json")).unwrap()).unwrap();
    let count = listening["listen"].as_array().map_or(1, Vec::len) + usize::from(listening["admin"].is_string());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let (mut addresses, mut said) = (Vec::new(), String::new());
    while addresses.len() < count {
        let mut line = String::new();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended: {said}");
        if let Some((_, address)) = line.trim().split_once("serving on ") {
            addresses.push(address.to_owned());
        }
        said.push_str(&line);
    }
    let log = Arc::new(Mutex::new(said));
    let told = Arc::clone(&log);
    std::thread::spawn(move || {
        for line in stderr.lines().map_while(Result::ok) {
            let mut told = told.lock().unwrap();
            told.push_str(&line);
            told.push('\n');
        }
    });
    (child, addresses, log)
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the JSON of a response.
pub async fn read(response: Response) -> Value {
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

/// Reads the problem that a response reports.
pub async fn problem(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let body: Value = read(response).await;
    assert_eq!(body["status"], status, "{body}");
    assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{body}");
    (status, body["type"].as_str().unwrap().strip_prefix("urn:hookbox:problem:").unwrap().to_owned())
}

/// A tenant whose hooks may keep state, with these quotas.
pub fn with_state(name: &str, quotas: Value) -> Value {
    let mut owner = tenant(name);
    owner["ceiling"] = json!({ "permissions": { "state": true }, "authority": { "decide": ["deny", "skip", "ask"] } });
    owner["quotas"] = quotas;
    owner
}

/// A rate limit as one of several hooks.
pub fn limit(max: u32) -> Value {
    json!({ "type": "wasm", "component": "limit.wasm", "permissions": { "state": true }, "config": { "max": max },
        "authority": { "decide": ["deny", "skip"] } })
}

/// Returns true if the verdict for claude denies the tool.
pub fn denies(output: &Value) -> bool {
    output["hookSpecificOutput"]["permissionDecision"] == "deny"
}
