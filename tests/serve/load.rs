//! Who asks too much, or too slowly, and what that is to others.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::json;

use crate::daemon::{Files, bash, denies, hooks, problem, tenant};

/// `acme` with the guard, and a neighbour whose hook takes all the fuel it gets.
fn neighbours(quotas: serde_json::Value) -> Files {
    let files = Files::new();
    files.guest("greedy.wasm", "(loop $forever (br $forever))");
    let mut greedy = tenant("greedy");
    greedy["quotas"] = quotas;
    greedy["ceiling"] = json!({ "limits": { "fuel": 1_000_000_000_000_u64 } });
    files.write("tenants/greedy.json", &greedy);
    let mut endless = hooks("greedy.wasm");
    endless["limits"] = json!({ "fuel": 1_000_000_000_000_u64 });
    files.write("tenants/greedy-hooks.json", &endless);
    files
}

#[tokio::test]
async fn a_burst_waits_behind_itself_alone() {
    let files = neighbours(json!({ "concurrency": 2, "queue": 3 }));
    let daemon = files.start();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    // Two run, three wait, the rest is told at once.
    let burst: Vec<_> = (0..20)
        .map(|_| {
            let asked = daemon.ask("greedy", bash("ls")).header("hookbox-timeout", "10").send();
            tokio::spawn(async move { problem(asked.await.unwrap()).await })
        })
        .collect();
    daemon.until("queued", async || crate::reload::metric(&daemon, "hookbox_queue_waiting").await == 3.0).await;
    for _ in 0..20 {
        assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    }
    let mut told: Vec<(u16, String)> = Vec::new();
    for asked in burst {
        told.push(asked.await.unwrap());
    }
    let count = |name: &str| told.iter().filter(|(_, problem)| problem == name).count();
    assert_eq!((count("deadline"), count("busy")), (5, 15), "{told:?}");
}

#[tokio::test]
async fn fuel_that_was_used_is_paid_for() {
    let mut owner = tenant("acme");
    owner["quotas"] = json!({ "fuelPerSecond": 1000 });
    let files = Files::new();
    files.write("tenants/acme.json", &owner);
    let daemon = files.start();
    // Some 27,000 at once: the next is due half a minute later.
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let response = daemon.ask("acme", bash("ls")).send().await.unwrap();
    assert!(response.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 5);
    assert_eq!(problem(response).await, (429, "over-quota".into()));
}

#[tokio::test]
async fn slow_clients_do_no_harm() {
    let files = Files::new();
    let daemon = files.start();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let head = "POST /v1/acme/claude HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n";
    let slow: Vec<TcpStream> = (0..200)
        .map(|n| {
            let mut stream = TcpStream::connect(&daemon.addresses[0]).unwrap();
            // Half of a head, or half of a body.
            let sent = if n % 2 == 0 { &head[..20] } else { &format!("{head}\r\n{{") };
            stream.write_all(sent.as_bytes()).unwrap();
            stream
        })
        .collect();
    for _ in 0..20 {
        assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    }
    drop(slow);
}

#[tokio::test]
async fn connections_have_a_bound_and_an_end() {
    let files = Files::new();
    files.settings(json!({ "maxConnections": 10 }));
    let daemon = files.start();
    let mut idle: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(&daemon.addresses[0]).unwrap()).collect();
    // Those for which there is no room are closed, the others when nothing comes.
    for stream in &mut idle {
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let mut rest = Vec::new();
        match stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
    }
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let refused = crate::reload::metric(&daemon, "hookbox_connections_refused_total").await;
    assert!((40.0..=50.0).contains(&refused), "{refused}");
}

#[tokio::test]
async fn a_head_has_a_bound() {
    let daemon = Files::new().start();
    let long = daemon.ask("acme", bash("ls")).header("x-long", "x".repeat(64 << 10)).send().await;
    assert!(long.map_or(true, |response| response.status() == 431));
}
