//! Clients with too many or too slow requests, and their effect on others.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Stdio,
    time::Duration,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::{
    daemon::{Daemon, Files, bash, denies, hooks, problem, tenant},
    reload::{metric, metric_if_any},
};

/// The tenant `acme` with the guard, and a neighbour whose hook uses all its fuel.
fn neighbours(quotas: serde_json::Value) -> Files {
    let files = Files::new();
    files.guest("greedy.wasm", "(loop $forever (br $forever))");
    let mut greedy = tenant("greedy");
    greedy["quotas"] = quotas;
    greedy["ceiling"] = json!({ "limits": { "fuel": 1_000_000_000_000_u64 } });
    files.write("tenants/greedy.json", &greedy);
    let mut endless = hooks("greedy.wasm");
    endless["hooks"]["PreToolUse"][0]["hooks"][0]["onTimeout"] = "ignore".into();
    endless["limits"] = json!({ "fuel": 1_000_000_000_000_u64 });
    files.write("tenants/greedy-hooks.json", &endless);
    files
}

#[tokio::test]
async fn a_burst_delays_only_itself() {
    let files = neighbours(json!({ "concurrency": 2, "queue": 3 }));
    let daemon = files.start();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let of_greedy = async |name: &str| metric_if_any(&daemon, &format!(r#"{name}{{tenant="greedy"}}"#)).await;
    let waiting = async || of_greedy("hookbox_queue_waiting").await;
    let judging = async || of_greedy("hookbox_judging").await;
    // Two requests run, three wait, and the others are rejected at once.
    let ask = |seconds: &str| tokio::spawn(daemon.ask("greedy", bash("ls")).header("hookbox-timeout", seconds).send());
    let running: Vec<_> = (0..2).map(|_| ask("60")).collect();
    daemon.until("judged", async || judging().await == Some(2.0)).await;
    let burst: Vec<_> = (0..18).map(|_| ask("5")).collect();
    daemon.until("queued", async || waiting().await == Some(3.0)).await;
    assert_eq!(metric(&daemon, r#"hookbox_queue_waiting{tenant="acme"}"#).await, 0.0);
    for _ in 0..20 {
        assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    }
    let mut told: Vec<(u16, String)> = Vec::new();
    for asked in burst {
        told.push(problem(asked.await.unwrap().unwrap()).await);
    }
    let count = |name: &str| told.iter().filter(|(_, problem)| problem == name).count();
    assert_eq!((count("deadline"), count("busy")), (3, 15), "{told:?}");
    running.iter().for_each(tokio::task::JoinHandle::abort);
    // Requests of a disconnected client are cancelled.
    daemon.until("given up", async || judging().await == Some(0.0)).await;
}

#[tokio::test]
async fn endless_hooks_of_one_tenant_leave_instances_for_others() {
    // The neighbour may have more events at once than there are instances.
    let files = neighbours(json!({ "concurrency": 16 }));
    files.settings(json!({ "maxInstances": 4 }));
    let daemon = files.start();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let ask = || tokio::spawn(daemon.ask("greedy", bash("ls")).header("hookbox-timeout", "60").send());
    let asked: Vec<_> = (0..8).map(|_| ask()).collect();
    daemon
        .until("judged", async || metric_if_any(&daemon, r#"hookbox_judging{tenant="greedy"}"#).await == Some(8.0))
        .await;
    for _ in 0..5 {
        assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
        assert!(metric(&daemon, "hookbox_pool_running").await <= 2.0);
    }
    asked.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn used_fuel_is_charged() {
    let mut owner = tenant("acme");
    owner["quotas"] = json!({ "fuelPerSecond": 1000 });
    let files = Files::new();
    files.write("tenants/acme.json", &owner);
    let daemon = files.start();
    // The call uses about 27,000 units of fuel at once, so the next request is possible half a minute later.
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let response = daemon.ask("acme", bash("ls")).send().await.unwrap();
    assert!(response.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 5);
    assert_eq!(problem(response).await, (429, "over-quota".into()));
}

#[tokio::test]
async fn an_events_size_is_charged() {
    let mut owner = tenant("acme");
    owner["quotas"] = json!({ "fuelPerSecond": 100_000 });
    let files = Files::new();
    files.write("tenants/acme.json", &owner);
    let daemon = files.start();
    // No hook runs on it, but 2 MB are decoded and hashed.
    let large = |name: &str| json!({ "hook_event_name": name, "session_id": "s", "prompt": "x".repeat(2_000_000) });
    daemon.verdict("acme", large("UserPromptSubmit")).await;
    let response = daemon.ask("acme", bash("ls")).send().await.unwrap();
    let after = response.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(problem(response).await, (429, "over-quota".into()));
    // A rejected request costs nothing.
    let again = daemon.ask("acme", large("UserPromptSubmit")).send().await.unwrap();
    let later = again.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap();
    assert!(after > 100 && later <= after, "{after} {later}");
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

fn idle(daemon: &Daemon, count: usize) -> Vec<TcpStream> {
    (0..count).map(|_| TcpStream::connect(&daemon.addresses[0]).unwrap()).collect()
}

fn keeps_no_connection() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap()
}

#[tokio::test]
async fn connections_are_limited_and_closed() {
    let files = Files::new();
    files.settings(json!({ "maxConnections": 10 }));
    let mut daemon = files.start();
    // The client keeps no connections, because the daemon closes idle ones.
    daemon.client = keeps_no_connection();
    let mut idle = idle(&daemon, 50);
    // Half of a head counts as idle too.
    idle.iter_mut().skip(40).for_each(|stream| stream.write_all(b"POST /v1/ac").unwrap());
    // Idle connections do not keep others out.
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let open = metric(&daemon, "hookbox_connections").await;
    assert!(open <= 10.0, "{open}");
    // All of them close: some to make room, and the others after the idle timeout.
    for stream in &mut idle {
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let mut rest = Vec::new();
        match stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
    }
    let made_room = metric(&daemon, "hookbox_connections_made_room_total").await;
    // A connection that closes early also makes room for the next one.
    assert!((1.0..=50.0).contains(&made_room), "{made_room}");
}

#[tokio::test]
async fn connections_that_are_all_busy_keep_their_places() {
    let files = Files::new();
    files.settings(json!({ "maxConnections": 2, "admin": "127.0.0.1:0" }));
    let slow = json!({ "type": "command", "timeout": 30, "command": "touch began-$$; until [ -e go ]; do sleep 0.05; done; echo '{}'" });
    let mut allowed = tenant("acme");
    allowed["allow"] = json!(["command"]);
    files.write("tenants/acme.json", &allowed);
    files.write("tenants/acme-hooks.json", &json!({ "hooks": { "PreToolUse": [ { "hooks": [slow] } ] } }));
    let daemon = files.start();
    let asked: Vec<_> = (0..2).map(|_| tokio::spawn(daemon.ask("acme", bash("ls")).send())).collect();
    let began = || {
        let names = std::fs::read_dir(daemon.files.path("tenants")).unwrap();
        names.filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().starts_with("began")).count()
    };
    daemon.until("asked", async || began() == 2).await;
    // The daemon is full, and no connection is idle.
    assert!(daemon.ask("acme", bash("ls")).send().await.is_err());
    std::fs::write(daemon.files.path("tenants/go"), "").unwrap();
    for response in asked {
        assert_eq!(response.await.unwrap().unwrap().status(), 200);
    }
}

#[tokio::test]
async fn ten_thousand_idle_connections_do_no_harm() {
    const IDLE: usize = 10_000;
    // The test's own limit; the daemon raises its own.
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let wanted = IDLE as u64 + 1000;
    assert!(maximum.is_none_or(|maximum| maximum >= wanted), "this test needs {wanted} files: `ulimit -Hn`");
    let files = Files::new();
    let mut daemon = Daemon::with(files, |command| {
        // The usual limit of a login session.
        let limited = format!("ulimit -Sn 1024; exec {} \"$@\"", command.get_program().to_str().unwrap());
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &limited, "hookbox"]).args(command.get_args());
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        *command = shell;
    });
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).unwrap();
    // A new connection for each request.
    daemon.client = keeps_no_connection();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    let mut idle = idle(&daemon, IDLE);
    for _ in 0..20 {
        assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    }
    let open = metric(&daemon, "hookbox_connections").await;
    assert!(open <= 4096.0, "{open}");
    // The first connections made room for the last ones.
    idle[0].set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    assert!(matches!(idle[0].read(&mut [0]), Ok(0)));
    assert!(!daemon.log().contains("cannot accept a connection"), "{}", daemon.log());
}

#[tokio::test]
async fn the_head_of_a_request_is_limited() {
    let daemon = Files::new().start();
    let long = daemon.ask("acme", bash("ls")).header("x-long", "x".repeat(64 << 10)).send().await;
    assert!(long.map_or(true, |response| response.status() == 431));
}
