//! Changes of the configuration while the daemon serves.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::daemon::{Daemon, Files, bash, denies, hash, hooks, problem, read, tenant, token};

/// A hooks file without hooks.
fn open() -> Value {
    json!({ "hooks": {} })
}

async fn denied(daemon: &Daemon) -> bool {
    denies(&daemon.verdict("acme", bash("rm -rf /")).await)
}

#[tokio::test]
async fn a_change_of_any_file_is_taken() {
    let daemon = Files::new().start();
    assert!(denied(&daemon).await);
    let begin = Instant::now();
    daemon.files.write("tenants/acme-hooks.json", &open());
    daemon.until("reloaded", async || !denied(&daemon).await).await;
    println!("reloaded after {:?}", begin.elapsed());
    // The component changes under the same name.
    daemon.files.component("guard.wasm", "do-nothing");
    daemon.files.write("tenants/acme-hooks.json", &hooks("guard.wasm"));
    daemon.until("loaded", async || daemon.log().matches("is loaded").count() == 3).await;
    assert!(!denied(&daemon).await);
    daemon.files.component("guard.wasm", "command-guard");
    daemon.until("reloaded", async || denied(&daemon).await).await;
    // The tenant's own file changes.
    let mut other = tenant("acme");
    other["tokens"] = json!([hash("next")]);
    daemon.files.write("tenants/acme.json", &other);
    daemon.until("rotated", async || daemon.ask("acme", bash("ls")).send().await.unwrap().status() == 401).await;
    let next = daemon.post("/v1/acme/claude").bearer_auth(token("next")).body(bash("ls").to_string());
    assert_eq!(next.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn tenants_are_added_and_removed() {
    let daemon = Files::new().start();
    daemon.files.write("tenants/late-hooks.json", &hooks("late.wasm"));
    daemon.files.component("late.wasm", "env-file-protector");
    daemon.files.write("tenants/late.json", &tenant("late"));
    daemon.until("served", async || daemon.ask("late", bash("ls")).send().await.unwrap().status() == 200).await;
    let components = async || metric(&daemon, "hookbox_components").await;
    daemon.until("in memory", async || components().await == 2.0).await;
    std::fs::remove_file(daemon.files.path("tenants/late.json")).unwrap();
    daemon.until("gone", async || daemon.ask("late", bash("ls")).send().await.unwrap().status() == 401).await;
    daemon.until("freed", async || components().await == 1.0).await;
    assert!(denied(&daemon).await);
}

pub async fn metric(daemon: &Daemon, name: &str) -> f64 {
    let value = metric_if_any(daemon, name).await;
    value.unwrap_or_else(|| panic!("no {name}"))
}

/// Returns a metric if it exists.
pub async fn metric_if_any(daemon: &Daemon, name: &str) -> Option<f64> {
    let text = daemon.client.get(daemon.url("/metrics")).send().await.unwrap().text().await.unwrap();
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

async fn readyz(daemon: &Daemon) -> (u16, Value) {
    let response = daemon.client.get(daemon.url("/readyz")).send().await.unwrap();
    (response.status().as_u16(), read(response).await)
}

#[tokio::test]
async fn a_broken_file_is_refused_and_the_old_one_serves() {
    let daemon = Files::new().start();
    assert!(denied(&daemon).await);
    for broken in
        [r#"{ "hooks": "#, r#"{ "hoks": {} }"#, r#"{ "hooks": { "PreToolUse": [ { "matcher": "(", "hooks": [] } ] } }"#]
    {
        daemon.files.write_text("tenants/acme-hooks.json", broken);
        daemon.until("refused", async || readyz(&daemon).await.1["refused"]["acme"].is_string()).await;
        let (status, ready) = readyz(&daemon).await;
        assert_eq!((status, &ready["ready"], &ready["tenants"]), (200, &json!(true), &json!(1)));
        assert!(denied(&daemon).await);
        daemon.files.write("tenants/acme-hooks.json", &hooks("guard.wasm"));
        daemon.until("accepted", async || readyz(&daemon).await.1["refused"] == json!({})).await;
    }
    assert!(daemon.log().contains("is refused; the previous state stays in use"), "{}", daemon.log());
    assert_eq!(metric(&daemon, r#"hookbox_tenant_loads_total{tenant="acme",result="refused"}"#).await, 3.0);
}

#[tokio::test]
async fn a_hangup_reads_everything_again() {
    let daemon = Files::new().start();
    assert!(denied(&daemon).await);
    daemon.signal("HUP");
    daemon.until("read again", async || daemon.log().matches("is loaded").count() >= 2).await;
    assert!(denied(&daemon).await);
}

/// Each of the two files denies with its own reasons. Every response has exactly the reasons of one file.
#[tokio::test]
async fn no_request_is_lost_or_served_by_a_mixture() {
    let files = Files::new();
    let command = |reason: &str| {
        let one = json!({ "type": "command", "timeout": 30, "command":
            format!(r#"echo '{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"{reason}"}}}}'"#) });
        json!({ "hooks": { "PreToolUse": [ { "hooks": [one] }, { "hooks": [one] } ] } })
    };
    let mut allowed = tenant("acme");
    allowed["allow"] = json!(["command"]);
    files.write("tenants/acme.json", &allowed);
    files.write("tenants/acme-hooks.json", &command("odd"));
    let daemon = Arc::new(files.start());
    let (ended, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (daemon, ended, asked) = (Arc::clone(&daemon), Arc::clone(&ended), Arc::clone(&asked));
            tokio::spawn(async move {
                while !ended.load(Ordering::Relaxed) {
                    let output = daemon.verdict("acme", bash("ls")).await;
                    let reason = output["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned();
                    assert!(denies(&output) && reason.contains("odd") != reason.contains("even"), "{output}");
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for turn in 0..4 {
        let before = daemon.log().matches("is loaded").count();
        daemon.files.write("tenants/acme-hooks.json", &command(if turn % 2 == 0 { "even" } else { "odd" }));
        daemon.until("reloaded", async || daemon.log().matches("is loaded").count() > before).await;
        let now = asked.load(Ordering::Relaxed);
        daemon.until("asked", async || asked.load(Ordering::Relaxed) > now + 8).await;
    }
    ended.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
}

#[tokio::test]
async fn pending_requests_finish_at_shutdown() {
    let files = Files::new();
    let slow = json!({ "type": "command", "timeout": 30, "command": "touch began; sleep 1; echo '{}'" });
    let mut allowed = tenant("acme");
    allowed["allow"] = json!(["command"]);
    files.write("tenants/acme.json", &allowed);
    files.write("tenants/acme-hooks.json", &json!({ "hooks": { "PreToolUse": [ { "hooks": [slow] } ] } }));
    let mut daemon = files.start();
    let asked = tokio::spawn(daemon.ask("acme", bash("ls")).send());
    daemon.until("asked", async || daemon.files.path("tenants/began").exists()).await;
    daemon.signal("TERM");
    let response = asked.await.unwrap().unwrap();
    assert_eq!((response.status().as_u16(), read(response).await), (200, json!({})));
    let ended = tokio::task::spawn_blocking(move || daemon.child.wait().unwrap().code());
    assert_eq!(tokio::time::timeout(Duration::from_mins(1), ended).await.unwrap().unwrap(), Some(0));
}

#[tokio::test]
async fn unfinished_requests_are_reported_at_shutdown() {
    let files = Files::new();
    files.settings(json!({ "drain": 0.2 }));
    let slow = json!({ "type": "command", "timeout": 30, "command": "touch began; sleep 20" });
    let mut allowed = tenant("acme");
    allowed["allow"] = json!(["command"]);
    files.write("tenants/acme.json", &allowed);
    files.write("tenants/acme-hooks.json", &json!({ "hooks": { "PreToolUse": [ { "hooks": [slow] } ] } }));
    let daemon = files.start();
    let asked = tokio::spawn(daemon.ask("acme", bash("ls")).send());
    daemon.until("asked", async || daemon.files.path("tenants/began").exists()).await;
    daemon.signal("TERM");
    assert_eq!(problem(asked.await.unwrap().unwrap()).await, (503, "draining".into()));
}
