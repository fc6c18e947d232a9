//! Many connections and large bodies of one tenant, and the capacity that remains for others.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;

use crate::{
    daemon::{Daemon, Files, bash, closed, denies, hooks, read, tenant, token},
    reload::metric,
    strangers::raw,
};

/// The tenants `acme` and `greedy`, both with the guard and `failClosed`.
fn two(settings: serde_json::Value, quotas: serde_json::Value) -> Files {
    let files = Files::new();
    files.settings(settings);
    files.write("tenants/acme-hooks.json", &closed(hooks("guard.wasm")));
    let mut greedy = tenant("greedy");
    greedy["quotas"] = quotas;
    files.write("tenants/greedy.json", &greedy);
    files.write("tenants/greedy-hooks.json", &closed(hooks("guard.wasm")));
    files
}

/// A client with a new connection for each request, like a hook process.
fn fresh() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap()
}

fn head(tenant: &str, more: &str) -> String {
    let bearer = token(tenant);
    format!("POST /v1/{tenant}/claude HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {bearer}\r\n{more}\r\n")
}

fn send(daemon: &Daemon, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(&daemon.addresses[0]).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    // Bytes that the daemon does not read may stay unsent.
    let _ = stream.write_all(bytes);
    stream
}

/// An event of this many MiB whose command is denied.
fn large(mib: usize) -> serde_json::Value {
    let mut event = bash("rm -rf /");
    event["tool_input"]["description"] = "x".repeat(mib << 20).into();
    event
}

fn memory(daemon: &Daemon) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[tokio::test]
async fn refused_connections_make_room() {
    let files = Files::new();
    files.settings(json!({ "maxConnections": 100 }));
    let mut daemon = files.start();
    daemon.client = fresh();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    // A connection that sent a token and is idle now.
    let mut known = send(&daemon, format!("{}{}", head("acme", "content-length: 2\r\n"), "{}").as_bytes());
    assert!(known.read(&mut [0; 4096]).unwrap() > 0);
    let (ended, tried) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let strangers: Vec<_> = (0..120)
        .map(|n| {
            let (ended, tried, address) = (Arc::clone(&ended), Arc::clone(&tried), daemon.addresses[0].clone());
            std::thread::spawn(move || {
                let guess = if n % 2 == 0 { "authorization: Bearer guess\r\n" } else { "" };
                let asked = format!("POST /v1/acme/claude HTTP/1.1\r\nhost: x\r\n{guess}content-length: 2\r\n\r\n{{}}");
                // The flood ends even if the test fails.
                let begin = std::time::Instant::now();
                while !ended.load(Ordering::SeqCst) && begin.elapsed() < Duration::from_secs(20) {
                    let Ok(mut stream) = TcpStream::connect(&address) else { continue };
                    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
                    while !ended.load(Ordering::SeqCst) && stream.write_all(asked.as_bytes()).is_ok() {
                        tried.fetch_add(1, Ordering::SeqCst);
                        if !matches!(stream.read(&mut [0; 4096]), Ok(1..)) {
                            break;
                        }
                    }
                }
            })
        })
        .collect();
    daemon.until("crowded", async || tried.load(Ordering::SeqCst) > 500).await;
    for n in 0..50 {
        let asked = daemon.ask("acme", bash("rm -rf /")).send().await.unwrap_or_else(|error| panic!("{n}: {error}"));
        assert!(denies(&read(asked).await), "{n}");
    }
    // The idle connection was never closed.
    known.write_all(format!("{}{}", head("acme", "content-length: 2\r\n"), "{}").as_bytes()).unwrap();
    assert!(known.read(&mut [0; 4096]).unwrap() > 0);
    ended.store(true, Ordering::SeqCst);
    for stranger in strangers {
        stranger.join().unwrap();
    }
}

#[tokio::test]
async fn half_sent_bodies_keep_no_neighbour_out() {
    let files = two(json!({ "maxConnections": 60 }), json!({}));
    let mut daemon = files.start();
    daemon.client = fresh();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    for more in
        ["content-length: 100\r\n", "transfer-encoding: chunked\r\n", "content-length: 100\r\nexpect: 100-continue\r\n"]
    {
        let body = if more.starts_with("transfer") { "1\r\n{\r\n" } else { "{" };
        let slow: Vec<_> =
            (0..200).map(|_| send(&daemon, format!("{}{body}", head("greedy", more)).as_bytes())).collect();
        for tenant in ["acme", "greedy"] {
            for n in 0..10 {
                assert!(denies(&daemon.verdict(tenant, bash("rm -rf /")).await), "{more} {tenant} {n}");
            }
        }
        assert!(metric(&daemon, "hookbox_connections").await <= 60.0);
        drop(slow);
    }
}

#[tokio::test]
async fn the_memory_of_bodies_is_limited() {
    let files = two(json!({ "bodyMemoryMiB": 32, "timeout": 600 }), json!({ "bodyMemoryMiB": 16 }));
    let mut daemon = files.start();
    daemon.client = fresh();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let before = memory(&daemon);
    let half = vec![b' '; 4 << 20];
    let mut held = Vec::new();
    for more in [
        "content-length: 8388608\r\n",
        "transfer-encoding: chunked\r\n",
        "content-length: 8388608\r\nexpect: 100-continue\r\n",
    ] {
        let begin = if more.starts_with("transfer") { "800000\r\n" } else { "" };
        let sent = [format!("{}{begin}", head("greedy", more)).as_bytes(), &half].concat();
        held.extend((0..8).map(|_| send(&daemon, &sent)));
    }
    let batch = format!("{}[", head("greedy", "content-length: 8388608\r\n").replace("/claude", "/claude/batch"));
    held.extend((0..8).map(|_| send(&daemon, [batch.as_bytes(), &half].concat().as_slice())));
    assert!(metric(&daemon, "hookbox_body_bytes").await <= f64::from(16 << 20));
    let after = memory(&daemon);
    assert!(after < before + 100, "{before} MiB, then {after}");
    // The neighbour has capacity, and its memory is released.
    for _ in 0..10 {
        assert!(denies(&daemon.verdict("acme", large(5)).await));
    }
    // The first bytes identify the event, so it is blocked.
    let asked = daemon.ask("greedy", large(5)).header("hookbox-timeout", "2").send().await.unwrap();
    assert_eq!(asked.headers()["hookbox-problem"], "busy");
    assert!(denies(&read(asked).await));
    // A small event needs none of that memory.
    assert!(denies(&daemon.verdict("greedy", bash("rm -rf /")).await));
    drop(held);
    daemon.until("given back", async || metric(&daemon, "hookbox_body_bytes").await == 0.0).await;
    assert!(denies(&daemon.verdict("greedy", large(5)).await));
}

#[tokio::test]
async fn a_body_larger_than_the_tenants_memory_is_read_alone() {
    let files = two(json!({ "bodyMemoryMiB": 1 }), json!({ "bodyMemoryMiB": 0 }));
    let daemon = files.start();
    assert!(denies(&daemon.verdict("greedy", large(6)).await));
    let event = large(3).to_string();
    let chunks: String = event
        .as_bytes()
        .chunks(10_000)
        .fold(String::new(), |sent, part| format!("{sent}{:x}\r\n{}\r\n", part.len(), String::from_utf8_lossy(part)));
    let head = head("greedy", "transfer-encoding: chunked\r\nconnection: close\r\n");
    let answer = raw(&daemon.addresses[0], &format!("{head}{chunks}0\r\n\r\n"));
    assert!(answer.contains("hookbox-verdict: deny") && !answer.contains("hookbox-problem"), "{answer}");
    assert_eq!(metric(&daemon, "hookbox_body_bytes").await, 0.0);
}

#[tokio::test]
async fn a_body_waits_for_memory_before_continue() {
    let files = two(json!({ "bodyMemoryMiB": 8 }), json!({ "bodyMemoryMiB": 8 }));
    let daemon = files.start();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let expecting = |tenant: &str| head(tenant, "content-length: 8388608\r\nexpect: 100-continue\r\n");
    let mut first = send(&daemon, expecting("greedy").as_bytes());
    let mut answer = [0; 4096];
    let length = first.read(&mut answer).unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 100"), "{}", String::from_utf8_lossy(&answer[..length]));
    drop(first);
    daemon.until("given back", async || metric(&daemon, "hookbox_body_bytes").await == 0.0).await;
    // A body that never arrives is a block here, and one with a too large length is rejected.
    let slow = head("greedy", "content-length: 100\r\nhookbox-timeout: 0.5\r\nconnection: close\r\n");
    let late = raw(&daemon.addresses[0], &slow);
    assert!(late.contains("hookbox-verdict: deny") && late.contains("hookbox-problem: slow-body"), "{late}");
    let huge =
        format!("{}{}", head("greedy", "content-length: 99999999999\r\nhookbox-timeout: 0.5\r\n"), " ".repeat(9 << 20));
    let huge = raw(&daemon.addresses[0], &huge);
    assert!(huge.is_empty() || huge.contains("hookbox-verdict: deny"), "{huge}");
}

#[tokio::test]
async fn unread_responses_are_limited() {
    let files = two(json!({ "timeout": 3 }), json!({ "bodyMemoryMiB": 16, "queue": 1000 }));
    // A reason of 1 MB, each byte of which is six in JSON.
    let reason = "(drop (memory.grow (i32.const 16)))
        (call $say (i32.const 4) (i32.const 8) (i32.const 65536) (i32.const 1000000)) (i32.store8 (i32.const 4) (i32.const 3))";
    files.guest("loud.wasm", reason);
    files.write("tenants/greedy-hooks.json", &closed(hooks("loud.wasm")));
    let mut daemon = files.start();
    daemon.client = fresh();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let whole = daemon.ask("greedy", bash("ls")).send().await.unwrap().bytes().await.unwrap();
    assert!(whole.len() > 5 << 20, "{}", whole.len());
    let before = memory(&daemon);
    let body = bash("ls").to_string();
    let one = format!("{}{body}", head("greedy", &format!("content-length: {}\r\n", body.len())));
    let unread: Vec<_> = (0..60).map(|_| send(&daemon, one.as_bytes())).collect();
    let events = format!("[{}]", vec![body; 60].join(","));
    let batch = head("greedy", &format!("content-length: {}\r\n", events.len())).replace("/claude", "/claude/batch");
    let batches: Vec<_> = (0..4).map(|_| send(&daemon, format!("{batch}{events}").as_bytes())).collect();
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
        assert!(metric(&daemon, "hookbox_body_bytes").await <= f64::from(16 << 20));
    }
    let after = memory(&daemon);
    assert!(after < before + 150, "{before} MiB, and {after} MiB then");
    // Without memory, the answer is a short block.
    let blocked = daemon.ask("greedy", bash("ls")).send().await.unwrap();
    assert_eq!(blocked.headers()["hookbox-problem"], "busy");
    assert!(denies(&read(blocked).await));
    drop((unread, batches));
    daemon.until("empty", async || metric(&daemon, "hookbox_body_bytes").await == 0.0).await;
    assert!(daemon.ask("greedy", bash("ls")).send().await.unwrap().bytes().await.unwrap().len() > 5 << 20);
}
