//! Metrics, logs and records for the operator.

use serde_json::{Value, json};

use crate::{
    daemon::{Daemon, Files, bash, denies, hooks, problem, tenant, token},
    reload::metric,
};

async fn get(daemon: &Daemon, path: &str) -> reqwest::Response {
    daemon.client.get(daemon.url(path)).send().await.unwrap()
}

#[tokio::test]
async fn metrics_attribute_decisions() {
    let daemon = Files::new().start();
    for command in ["ls", "ls", "rm -rf /"] {
        daemon.verdict("acme", bash(command)).await;
    }
    assert_eq!(daemon.ask("acme", json!({})).send().await.unwrap().status(), 400);
    assert_eq!(daemon.ask("nobody", bash("ls")).send().await.unwrap().status(), 401);
    let event = r#"tenant="acme",dialect="claude",event="PreToolUse""#;
    let count = async |name: String| metric(&daemon, &name).await;
    let calls = |verdict| {
        format!(r#"hookbox_hook_calls_total{{{event},hook="guard.wasm",verdict="{verdict}",cause="",mode="enforce"}}"#)
    };
    assert_eq!((count(calls("deny")).await, count(calls("nothing")).await), (1.0, 2.0));
    assert_eq!(count(format!(r#"hookbox_hook_seconds_count{{{event},hook="guard.wasm"}}"#)).await, 3.0);
    assert!(count(format!(r#"hookbox_hook_fuel_sum{{{event},hook="guard.wasm"}}"#)).await > 1000.0);
    assert_eq!(count(r#"hookbox_requests_total{tenant="acme",outcome="judged"}"#.into()).await, 3.0);
    assert_eq!(count(r#"hookbox_requests_total{tenant="acme",outcome="invalid-event"}"#.into()).await, 1.0);
    // Unknown names create no series.
    assert_eq!(count(r#"hookbox_requests_total{tenant="",outcome="no-token"}"#.into()).await, 1.0);
    // Words of an event and paths create none either.
    let odd = json!({ "hook_event_name": "Oddity-7", "session_id": "oddity-8", "tool_name": "Oddity-9" });
    daemon.verdict("acme", odd).await;
    daemon.post("/v1/oddity-10/oddity-11").bearer_auth(token("acme")).body("{}").send().await.unwrap();
    let text = get(&daemon, "/metrics").await.text().await.unwrap();
    assert!(!text.to_lowercase().contains("oddity"), "{text}");
    for name in ["hookbox_components", "hookbox_tenants"] {
        assert_eq!(metric(&daemon, name).await, 1.0, "{name}");
    }
    for name in [
        r#"hookbox_queue_waiting{tenant="acme"}"#,
        r#"hookbox_judging{tenant="acme"}"#,
        "hookbox_pool_running",
        "hookbox_tenants_refused",
    ] {
        assert_eq!(metric(&daemon, name).await, 0.0, "{name}");
    }
}

#[tokio::test]
async fn metrics_tell_where_compiled_components_came_from() {
    let load = async |daemon: &Daemon| {
        let mut counts = Vec::new();
        for from in ["memory", "cache", "compiler"] {
            counts.push(metric(daemon, &format!(r#"hookbox_component_loads_total{{from="{from}"}}"#)).await);
        }
        counts
    };
    let files = Files::new();
    files.settings(json!({ "cache": "cache" }));
    let mut daemon = files.start();
    daemon.verdict("acme", bash("ls")).await;
    assert_eq!(load(&daemon).await, [0.0, 0.0, 1.0]);
    daemon.files.write("tenants/other.json", &tenant("other"));
    daemon.files.write("tenants/other-hooks.json", &hooks("guard.wasm"));
    daemon.until("served", async || daemon.ask("other", bash("ls")).send().await.unwrap().status() == 200).await;
    assert_eq!(load(&daemon).await, [1.0, 0.0, 1.0]);
    daemon.restart();
    daemon.verdict("acme", bash("ls")).await;
    daemon.verdict("other", bash("ls")).await;
    assert_eq!(load(&daemon).await, [1.0, 1.0, 0.0]);
}

#[tokio::test]
async fn beyond_loopback_admin_paths_need_a_separate_listener() {
    let files = Files::new();
    files.settings(json!({ "listen": "0.0.0.0:0", "insecure": true, "admin": "127.0.0.1:0" }));
    let daemon = files.start();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    for path in ["/metrics", "/healthz", "/readyz"] {
        assert_eq!(problem(get(&daemon, path).await).await.0, 404, "{path}");
        let admin = format!("http://{}{path}", daemon.addresses[1]);
        assert_eq!(daemon.client.get(admin).send().await.unwrap().status(), 200, "{path}");
    }
    let asked = daemon.client.post(format!("http://{}/v1/acme/claude", daemon.addresses[1])).bearer_auth(token("acme"));
    assert_eq!(problem(asked.body(bash("ls").to_string()).send().await.unwrap()).await.0, 404);
}

#[tokio::test]
async fn the_log_is_json_if_configured() {
    let files = Files::new();
    files.settings(json!({ "log": "json" }));
    files.write_text("tenants/bad.json", "\u{202e}{");
    let daemon = files.start();
    daemon
        .until("logged", async || {
            daemon.log().matches("is loaded").count() + daemon.log().matches("is refused").count() == 2
        })
        .await;
    let log = daemon.log();
    let lines: Vec<Value> =
        log.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["fields"]["tenant"] == "acme" && line["level"] == "INFO"), "{log}");
    assert!(lines.iter().any(|line| line["fields"]["tenant"] == "bad" && line["level"] == "ERROR"), "{log}");
}

#[tokio::test]
async fn every_verdict_is_recorded() {
    let files = Files::new();
    files.settings(json!({ "records": "records.jsonl" }));
    let daemon = files.start();
    daemon.verdict("acme", bash("rm -rf /")).await;
    daemon.ask("acme", json!({})).send().await.unwrap();
    let lines = |name: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(daemon.files.path(name)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    daemon.until("recorded", async || lines("records.jsonl").len() == 2).await;
    let records = lines("records.jsonl");
    assert_eq!((records.len(), &records[0]["tenant"], &records[0]["verdict"]), (2, &json!("acme"), &json!("deny")));
    assert_eq!(records[0]["hooks"][0]["hook"], "guard.wasm");
    assert!(records[1]["problem"].is_string(), "{records:?}");
    // The file is rotated as log rotation tools do it.
    std::fs::rename(daemon.files.path("records.jsonl"), daemon.files.path("records.1")).unwrap();
    daemon.signal("HUP");
    daemon.until("reopened", async || daemon.files.path("records.jsonl").exists()).await;
    daemon.verdict("acme", bash("ls")).await;
    daemon.until("recorded", async || lines("records.jsonl").len() == 1).await;
    assert_eq!(lines("records.1").len(), 2);
}

#[tokio::test]
async fn spans_go_to_a_collector_as_part_of_the_clients_trace() {
    let collector =
        hookbox_testing::server::Server::start(|_| hookbox_testing::server::response("200 OK", "", "")).await;
    let files = Files::new();
    files.settings(json!({ "otlp": collector.url("") }));
    let mut daemon = files.start();
    // A trace id that is also readable as text among other bytes.
    let trace = "41424344454647484950515253545556";
    let asked = daemon.ask("acme", bash("ls")).header("traceparent", format!("00-{trace}-4142434445464748-01"));
    assert_eq!(asked.send().await.unwrap().status(), 200);
    daemon.signal("TERM");
    let ended = tokio::task::spawn_blocking(move || daemon.child.wait().unwrap().code()).await.unwrap();
    assert_eq!(ended, Some(0));
    let sent = collector.requests().concat();
    assert!(sent.starts_with("POST /v1/traces"), "{sent:?}");
    for name in ["request", "dispatch", "guard.wasm", "hookbox", "ABCDEFGHIPQRSTUV"] {
        assert!(sent.contains(name), "{name}: {sent:?}");
    }
}

/// A hooks file with this number of components, each with its own name.
fn named(count: usize, name: impl Fn(usize) -> String) -> Value {
    let hooks: Vec<Value> =
        (0..count).map(|n| json!({ "type": "wasm", "component": "guard.wasm", "name": name(n) })).collect();
    json!({ "hooks": { "PreToolUse": [ { "hooks": hooks } ] } })
}

#[tokio::test]
async fn series_go_with_their_hooks_and_tenants() {
    let daemon = Files::new().start();
    let loads = |count: usize| {
        let daemon = &daemon;
        async move { daemon.until("loaded", async || daemon.log().matches("is loaded").count() == count).await }
    };
    let page = async || get(&daemon, "/metrics").await.text().await.unwrap();
    loads(1).await;
    for round in 0..4 {
        daemon.files.write("tenants/acme-hooks.json", &named(20, |n| format!("round-{round}-{n}")));
        loads(round + 2).await;
        daemon.verdict("acme", bash("ls")).await;
        let page = page().await;
        assert!(page.contains(&format!(r#"hook="round-{round}-19""#)), "{page}");
        assert!((0..round).all(|before| !page.contains(&format!("round-{before}-"))), "{page}");
    }
    // Hooks beyond the limit on labels share one label.
    daemon.files.write(
        "tenants/acme-hooks.json",
        &named(400, |n| format!("many-{n}-\u{1b}[2J\u{202e}{}", "x".repeat(190 - 20))),
    );
    loads(6).await;
    daemon.verdict("acme", bash("ls")).await;
    let text = page().await;
    let calls = text.lines().filter(|line| line.starts_with("hookbox_hook_calls_total{"));
    assert_eq!(calls.clone().count(), 251, "{text}");
    assert!(calls.clone().all(|line| line.chars().count() < 400 && !line.contains(char::is_control)), "{text}");
    assert!(!text.contains('\u{202e}') && text.contains(r#"hook="(others)""#));
    std::fs::remove_file(daemon.files.path("tenants/acme.json")).unwrap();
    daemon.until("gone", async || !page().await.contains(r#""acme""#)).await;
}

#[tokio::test]
async fn a_name_that_is_too_long_is_an_error() {
    let files = Files::new();
    files.write("tenants/acme-hooks.json", &named(1, |_| "x".repeat(4 << 20)));
    let daemon = files.start();
    daemon.until("refused", async || daemon.log().contains("is refused")).await;
    let log = daemon.log();
    assert!(log.contains("the hook's name has 4194304 characters, but at most 200 are allowed"), "{}", &log[..2000]);
    assert!(log.len() < 10_000, "{}", log.len());
    daemon.files.write("tenants/acme-hooks.json", &named(1, |_| "é".repeat(200)));
    daemon.until("loaded", async || daemon.log().contains("is loaded")).await;
    daemon.verdict("acme", bash("ls")).await;
}
