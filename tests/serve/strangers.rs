//! Requests without a token: they are cheap, create no metrics and read nothing that a page of another site could request.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::json;

use crate::daemon::{Daemon, Files, bash, denies, hash, problem, tenant};

/// Returns the whole response to these bytes, on a new connection.
pub fn raw(address: &str, sent: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    // Bytes that the daemon does not read may stay unsent.
    let _ = stream.write_all(sent.as_bytes());
    let mut answer = Vec::new();
    // A connection that is reset has responded before.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(address: &str, path: &str, host: &str) -> String {
    raw(address, &format!("GET {path} HTTP/1.1\r\n{host}connection: close\r\n\r\n"))
}

pub async fn metrics(daemon: &Daemon) -> String {
    daemon.client.get(daemon.url("/metrics")).send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn no_time_that_a_header_names_is_too_long() {
    let files = Files::new();
    files.write("tenants/broken.json", &tenant("broken"));
    let daemon = files.start();
    for time in ["1.8e19", "1e19", "9.3e18", "1e9", "0.000000001"] {
        let refused = daemon.post("/v1/acme/claude").bearer_auth("guess").header("hookbox-timeout", time);
        assert_eq!(problem(refused.body("{}").send().await.unwrap()).await.0, 401, "{time}");
        for tenant in ["nobody", "broken"] {
            let asked = daemon.ask(tenant, bash("ls")).header("hookbox-timeout", time).send().await.unwrap();
            assert!([401, 503].contains(&asked.status().as_u16()), "{time}: {asked:?}");
        }
    }
    for time in ["1.8e19", "1e19", "1e9"] {
        let judged = daemon.ask("acme", bash("rm -rf /")).header("hookbox-timeout", time).send().await.unwrap();
        assert!(denies(&crate::daemon::read(judged).await), "{time}");
    }
    for time in ["1e400", "inf", "nan", "-1", "0", "", "1e", "soon"] {
        let asked = daemon.ask("acme", bash("ls")).header("hookbox-timeout", time).send().await.unwrap();
        assert_eq!(problem(asked).await, (400, "invalid-request".into()), "{time}");
        // A client without a token gets no details.
        let stranger = daemon.post("/v1/acme/claude").header("hookbox-timeout", time).body("{}").send().await.unwrap();
        assert_eq!(problem(stranger).await, (401, "no-token".into()), "{time}");
    }
    assert!(!daemon.log().contains("a bug"), "{}", daemon.log());
}

/// Clients let a tool through on any status but 200.
#[tokio::test]
async fn a_wrong_header_or_query_opens_no_gate() {
    let files = Files::new();
    files.write("tenants/acme-hooks.json", &crate::daemon::closed(crate::daemon::hooks("guard.wasm")));
    let daemon = files.start();
    daemon.verdict("acme", bash("ls")).await;
    for time in ["inf", "nan", "-1", "soon"] {
        let asked = daemon.ask("acme", bash("rm -rf /")).header("hookbox-timeout", time).send().await.unwrap();
        assert_eq!(asked.headers()["hookbox-problem"], "invalid-request", "{time}");
        assert!(denies(&crate::daemon::read(asked).await), "{time}");
        let events = json!([bash("ls")]).to_string();
        let batch = daemon.post("/v1/acme/claude/batch").bearer_auth(crate::daemon::token("acme"));
        let answers =
            crate::daemon::read(batch.header("hookbox-timeout", time).body(events).send().await.unwrap()).await;
        assert!(denies(&answers[0]["output"]), "{time}: {answers}");
    }
    for query in ["evnt=PreToolUse", "event=PreToolUse&event=Stop"] {
        let post = daemon.post(&format!("/v1/acme/claude?{query}")).bearer_auth(crate::daemon::token("acme"));
        let asked = post.body(bash("rm -rf /").to_string()).send().await.unwrap();
        assert!(denies(&crate::daemon::read(asked).await), "{query}");
    }
}

/// The rate is so small that the wait exceeds the range of any clock.
#[tokio::test]
async fn no_rate_is_too_small() {
    let files = Files::new();
    let mut owner = tenant("acme");
    owner["quotas"] = json!({ "requestsPerSecond": 1e-300 });
    files.write("tenants/acme.json", &owner);
    let daemon = files.start();
    daemon.verdict("acme", bash("ls")).await;
    let refused = daemon.ask("acme", bash("ls")).send().await.unwrap();
    assert_eq!(refused.headers()["retry-after"], u64::MAX.to_string());
    assert_eq!(problem(refused).await.0, 429);
    assert!(!daemon.log().contains("a bug"), "{}", daemon.log());
}

#[tokio::test]
async fn unauthenticated_requests_create_no_series_or_log_lines() {
    let files = Files::new();
    files.write_text("tenants/shut.json", r#"{ "failClosed": true, "#);
    let daemon = Daemon::with(files, |command| {
        command.env("HOOKBOX_LOG", "debug,hyper=info,hyper_util=info");
    });
    daemon.verdict("acme", bash("ls")).await;
    let series = |text: &str| text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
    let refuse = async |number: usize| {
        let name = format!("oddity-{number}{}", "x".repeat(25_000));
        let mut all = Vec::new();
        for (path, header, value) in [
            (format!("/v1/{name}/claude"), "hookbox-timeout", "never"),
            (format!("/v1/{name}/claude?{name}=1"), "hookbox-timeout", "1"),
            (format!("/v1/{name}/claude"), "authorization", "Bearer guess"),
            (format!("/v1/acme/{name}"), "authorization", "Bearer guess"),
            (format!("/v1/{name}/{name}/batch"), "hookbox-timeout", "-1"),
            (format!("/{name}"), "hookbox-timeout", "1"),
            (format!("/v1/%0a%1b[2J{name}/claude"), "hookbox-timeout", "1"),
        ] {
            let asked = daemon.post(&path).header(header, value).header("traceparent", &name).body("{}").send();
            all.push(asked.await.map_or(431, |answer| answer.status().as_u16()));
        }
        assert!(all.iter().all(|status| [401, 404, 431].contains(status)), "{all:?}");
        // A tenant whose tokens are unknown blocks, and gets no label.
        daemon.post("/v1/shut/claude").body(bash("ls").to_string()).send().await.unwrap();
    };
    refuse(0).await;
    let before = metrics(&daemon).await;
    for number in 1..20 {
        refuse(number).await;
    }
    let after = metrics(&daemon).await;
    assert!(!after.contains("oddity"), "{after}");
    assert_eq!(series(&before), series(&after), "{after}");
    assert!(!after.contains(r#"requests_total{tenant="shut""#), "{after}");
    let log = daemon.log();
    assert!(log.len() < 20_000 && !log.contains("oddity"), "{}", beginning(&log));
}

/// Also the requests that reach no tenant.
#[tokio::test]
async fn every_refusal_is_counted() {
    let files = Files::new();
    files.settings(json!({ "listen": ["127.0.0.1:0"], "admin": "127.0.0.1:0", "operators": [hash("operator")] }));
    let daemon = files.start();
    let (listener, admin) = (daemon.addresses[0].clone(), daemon.addresses[1].clone());
    let ask = |address: &str, request: &str| {
        let first = raw(address, &format!("{request} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"));
        first.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(ask(&listener, "POST /v2"), "404");
    assert_eq!(ask(&listener, "POST /v1/%ff/claude"), "404");
    assert_eq!(ask(&listener, "POST /v1/%ff/claude/batch"), "404");
    assert_eq!(ask(&listener, "GET /v1/acme/claude"), "405");
    assert_eq!(ask(&admin, "GET /elsewhere"), "404");
    assert_eq!(ask(&admin, "DELETE /metrics"), "405");
    assert!(get(&listener, "/ui", "host: evil.example\r\n").starts_with("HTTP/1.1 421"));
    let text = raw(&admin, "GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    for (outcome, count) in [("not-found", 4), ("method", 2), ("unknown-host", 1)] {
        let series = format!(r#"hookbox_requests_total{{tenant="",outcome="{outcome}"}} {count}"#);
        assert!(text.contains(&series), "{series}: {text}");
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(2000).collect()
}

#[tokio::test]
async fn a_page_of_another_site_reads_nothing() {
    let files = Files::new();
    files.settings(json!({
        "listen": ["127.0.0.1:0", "unix:hookbox.sock"], "admin": "127.0.0.1:0", "operators": [hash("operator")],
        "hosts": ["Hooks.Example.com"],
    }));
    let daemon = files.start();
    let (listener, admin) = (&daemon.addresses[0], &daemon.addresses[2]);
    let page = |host: &str| get(listener, "/ui", host);
    for host in ["host: localhost:1\r\n", "host: 127.0.0.1\r\n", "host: [::1]:80\r\n", "host: hooks.example.com\r\n"] {
        assert!(page(host).starts_with("HTTP/1.1 200"), "{host}");
        assert!(get(admin, "/metrics", host).starts_with("HTTP/1.1 200"), "{host}");
    }
    for host in
        ["host: evil.example\r\n", "host: 127.0.0.1.evil.example:80\r\n", "host: 127.0.0.1\r\nhost: evil.example\r\n"]
    {
        for (address, path) in [
            (listener, "/ui"),
            (listener, "/ui/app.js"),
            (listener, "/ui/api/now"),
            (listener, "/ui/api/stream"),
            (admin, "/metrics"),
            (admin, "/readyz"),
            (admin, "/healthz"),
        ] {
            let answer = get(address, path, host);
            assert!(
                answer.starts_with("HTTP/1.1 421") || answer.starts_with("HTTP/1.1 400"),
                "{path} {host}: {answer}"
            );
        }
    }
    let absolute =
        raw(admin, "GET http://evil.example/metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    assert!(absolute.starts_with("HTTP/1.1 421"), "{absolute}");
    // A verdict needs a token, which such a page does not have. A rejection would let the tool run.
    let asked = daemon.ask("acme", bash("rm -rf /")).header("host", "hookbox.default.svc").send().await.unwrap();
    assert!(denies(&crate::daemon::read(asked).await));
}

#[test]
fn beyond_loopback_admin_too_is_encrypted_or_allowed() {
    let files = Files::new();
    files.settings(json!({ "admin": "0.0.0.0:0" }));
    let output = files.command().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("`0.0.0.0:0` is reachable from other machines"), "{said}");
    files.settings(json!({ "hosts": ["http://hooks.example.com"] }));
    let output = files.command().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("is not a host name"), "{said}");
    files.settings(json!({ "admin": "0.0.0.0:0", "insecure": true }));
    let daemon = files.start();
    assert_eq!(daemon.addresses.len(), 2);
}
