//! Hook processes of the daemon: one per hook set, which ends with the set.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::daemon::{Daemon, Files, bash, tenant};

/// A tenant whose hook is a process that denies with its own process id.
fn files() -> Files {
    let files = Files::new();
    let mut allowed = tenant("acme");
    allowed["allow"] = json!(["process"]);
    files.write("tenants/acme.json", &allowed);
    files.write("tenants/acme-hooks.json", &hooks("one"));
    files
}

fn hooks(name: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/processes/liar.py").canonicalize().unwrap();
    let process = json!({ "name": name, "type": "process", "command": ["python3", script], "timeout": 60 });
    json!({ "failClosed": true, "hooks": { "PreToolUse": [ { "hooks": [process] } ] } })
}

/// Returns the id of the process that answers.
async fn pid(daemon: &Daemon) -> String {
    let mut event = bash("ls");
    event["tool_input"]["text"] = "pid".into();
    let output = daemon.verdict("acme", event).await;
    output["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_else(|| panic!("{output}")).to_owned()
}

fn lives(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

#[tokio::test]
async fn a_process_serves_its_hook_set_and_ends_with_it() {
    let daemon = files().start();
    let first = pid(&daemon).await;
    assert_eq!(pid(&daemon).await, first, "one process for all events");
    // Another hook set has another process, and the old process ends.
    daemon.files.write("tenants/acme-hooks.json", &hooks("two"));
    daemon.until("reloaded", async || pid(&daemon).await != first).await;
    let second = pid(&daemon).await;
    daemon.until("the old one is gone", async || !lives(&first)).await;
    assert!(lives(&second));
    // Without a hook set there is no process.
    fs::remove_file(daemon.files.path("tenants/acme.json")).unwrap();
    daemon.until("gone with its tenant", async || !lives(&second)).await;
}

#[tokio::test]
async fn a_process_ends_with_the_daemon() {
    for signal in ["TERM", "KILL"] {
        let mut daemon = files().start();
        let pid = pid(&daemon).await;
        daemon.signal(signal);
        let status = daemon.child.wait().unwrap();
        assert_eq!(status.success(), signal == "TERM", "{status}");
        daemon.until("gone with the daemon", async || !lives(&pid)).await;
    }
}
