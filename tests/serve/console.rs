//! The console's data: the parts that an operator and a tenant may see.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use reqwest::header::ACCEPT_ENCODING;
use serde_json::{Value, json};

use crate::daemon::{Daemon, Files, bash, closed, hash, hooks, problem, read, tenant, token};

fn operated() -> Files {
    let files = Files::new();
    files.settings(json!({ "operators": [hash("operator")], "name": "daemon-1" }));
    files
}

async fn asked(daemon: &Daemon, path: &str, who: &str) -> reqwest::Response {
    daemon.client.get(daemon.url(&format!("/ui/api/{path}"))).bearer_auth(token(who)).send().await.unwrap()
}

async fn told(daemon: &Daemon, path: &str, who: &str) -> Value {
    read(asked(daemon, path, who).await).await
}

/// Reads the events of a stream until its text has these words.
async fn streamed(daemon: &Daemon, who: &str, last: Option<&str>, words: &str) -> String {
    let request = daemon.client.get(daemon.url("/ui/api/stream")).bearer_auth(token(who));
    let request = last.iter().fold(request, |request, id| request.header("last-event-id", *id));
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let mut text = String::new();
    while !text.contains(words) {
        text.push_str(std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap());
    }
    text
}

/// The id of the last message of a stream.
fn last_id(text: &str) -> &str {
    text.lines().rev().find_map(|line| line.strip_prefix("id: ")).unwrap()
}

/// The ids of a tenant's verdicts in a stream.
fn ids(text: &str, tenant: &str) -> Vec<String> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let rows = data.flat_map(|data| {
        let message: Value = serde_json::from_str(data).unwrap();
        message["verdicts"].as_array().cloned().unwrap_or_default()
    });
    rows.filter(|row| row["tenant"] == tenant).map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn ids_reveal_nothing_about_other_tenants() {
    let files = operated();
    files.write("tenants/other.json", &tenant("other"));
    files.write("tenants/other-hooks.json", &hooks("guard.wasm"));
    let daemon = files.start();
    for _ in 0..3 {
        daemon.verdict("acme", bash("ls")).await;
        daemon.verdict("other", bash("ls")).await;
    }
    daemon.verdict("acme", bash("rm -rf /")).await;
    let own = ids(&streamed(&daemon, "acme", None, "\"deny\"").await, "acme");
    let (epoch, _) = own[0].split_once('-').unwrap();
    let numbers: Vec<_> =
        own.iter().map(|id| u64::from_str_radix(id.split_once('-').unwrap().1, 16).unwrap()).collect();
    assert!(numbers.len() == 4 && numbers.windows(2).all(|two| two[0].abs_diff(two[1]) > 1000), "{own:?}");
    // Ids that the daemon never gave.
    for number in ["18446744073709551615", "ffffffffffffffff", "1", "-1", "", "+000000000000001"] {
        let last = format!("{epoch}-{number}");
        let text = streamed(&daemon, "acme", Some(&last), "\"deny\"").await;
        assert!(text.contains("\"resumed\":false"), "{number}: {text}");
        assert_eq!(problem(asked(&daemon, &format!("verdicts/{last}"), "acme").await).await.0, 404, "{number}");
    }
    assert!(!daemon.log().contains("a bug"), "{}", daemon.log());
}

/// The views of many hooks take long to make.
#[tokio::test]
async fn an_owner_who_reloads_constantly_delays_no_neighbour() {
    let files = operated();
    files.write("tenants/busy.json", &tenant("busy"));
    let hook = |n| json!({ "type": "wasm", "component": "guard.wasm", "name": format!("hook {n}") });
    let all: Vec<Value> = (0..250).map(hook).collect();
    files.write("tenants/busy-hooks.json", &json!({ "hooks": { "PreToolUse": [{ "hooks": all }] } }));
    let daemon = files.start();
    daemon.until("loaded", async || asked(&daemon, "hooks", "busy").await.status() == 200).await;
    let reload = |client: reqwest::Client, url: String| async move {
        loop {
            let _ = client.get(&url).bearer_auth(token("busy")).send().await.unwrap().bytes().await;
        }
    };
    let reloading: Vec<_> =
        (0..24).map(|_| tokio::spawn(reload(daemon.client.clone(), daemon.url("/ui/api/hooks")))).collect();
    let mut times = Vec::new();
    for _ in 0..40 {
        let begin = std::time::Instant::now();
        daemon.verdict("acme", bash("ls")).await;
        times.push(begin.elapsed());
    }
    reloading.iter().for_each(tokio::task::JoinHandle::abort);
    times.sort();
    assert!(times[20] < std::time::Duration::from_millis(250), "{times:?}");
}

#[tokio::test]
async fn the_files_of_the_page_need_no_token_and_run_no_code_of_others() {
    let daemon = operated().start();
    for path in ["/ui", "/ui/app.js", "/ui/app.css", "/ui/icon.svg"] {
        let plain = daemon.client.get(daemon.url(path)).send().await.unwrap();
        let policy = plain.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("require-trusted-types-for 'script'"), "{policy}");
        assert_eq!(plain.headers()["x-content-type-options"], "nosniff");
        let tag = plain.headers()["etag"].clone();
        let text = plain.text().await.unwrap();
        assert!(!text.is_empty());
        let deflated = daemon.client.get(daemon.url(path)).header(ACCEPT_ENCODING, "gzip, deflate;q=0.5").send().await;
        let deflated = deflated.unwrap();
        assert_eq!(deflated.headers()["content-encoding"], "deflate");
        assert!(deflated.bytes().await.unwrap().len() < text.len() || text.len() < 500);
        let again = daemon.client.get(daemon.url(path)).header("if-none-match", tag).send().await.unwrap();
        assert_eq!((again.status().as_u16(), again.bytes().await.unwrap().len()), (304, 0));
    }
}

#[tokio::test]
async fn the_console_needs_an_operator() {
    let daemon = Files::new().start();
    for path in ["/ui", "/ui/api/now", "/ui/api/stream"] {
        let answer = daemon.client.get(daemon.url(path)).bearer_auth(token("acme")).send().await.unwrap();
        assert_eq!(problem(answer).await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn only_a_token_in_a_header_opens_it() {
    let daemon = operated().start();
    daemon.verdict("acme", bash("rm -rf /")).await;
    for path in ["me", "now", "attention", "hooks", "tenants", "health", "stream", "verdicts/0-1"] {
        for wrong in ["nobody", ""] {
            assert_eq!(problem(asked(&daemon, path, wrong).await).await, (401, "no-token".into()), "{path}");
        }
        let in_url = format!("/ui/api/{path}?token={}", token("operator").replace(' ', "%20"));
        assert_eq!(problem(daemon.client.get(daemon.url(&in_url)).send().await.unwrap()).await.0, 401, "{path}");
    }
    // The operator's token is not a tenant's token.
    let asked = daemon.post("/v1/acme/claude").bearer_auth(token("operator")).body(bash("ls").to_string());
    assert_eq!(problem(asked.send().await.unwrap()).await.0, 401);
}

#[tokio::test]
async fn the_stream_is_live_and_resumes() {
    let daemon = operated().start();
    daemon.verdict("acme", bash("ls")).await;
    daemon.verdict("acme", bash("rm -rf /")).await;
    let first = streamed(&daemon, "operator", None, "\"deny\"").await;
    assert!(first.starts_with("retry: ") && first.contains("\"resumed\":false"), "{first}");
    daemon.verdict("acme", bash("git push")).await;
    let more = streamed(&daemon, "operator", Some(last_id(&first)), "event: verdicts").await;
    assert!(more.contains("\"resumed\":true") && !more.contains("\"deny\""), "{more}");
    // An id of another daemon does not belong to this one.
    let other = streamed(&daemon, "operator", Some("0-2"), "\"deny\"").await;
    assert!(other.contains("\"resumed\":false"), "{other}");
    let id = last_id(&first);
    let record = told(&daemon, &format!("verdicts/{id}"), "operator").await;
    assert_eq!(
        (&record["verdict"], &record["tenant"], &record["decidedBy"]),
        (&json!("deny"), &json!("acme"), &json!(0))
    );
    let explained = record["explain"].as_str().unwrap();
    assert!(explained.contains("\nby       1  guard.wasm\n"), "{explained}");
    assert_eq!(problem(asked(&daemon, "verdicts/0-1", "operator").await).await.0, 404);
}

#[tokio::test]
async fn an_owner_sees_one_tenant() {
    let files = operated();
    files.write("tenants/other.json", &tenant("other"));
    files.write("tenants/other-hooks.json", &hooks("guard.wasm"));
    files.write("tenants/broken.json", &tenant("broken"));
    files.write_text("tenants/broken-hooks.json", r#"{ "hoks": {} }"#);
    let daemon = files.start();
    daemon.verdict("other", bash("rm -rf /")).await;
    daemon.verdict("acme", bash("rm -rf /")).await;
    let stream = streamed(&daemon, "acme", None, "\"acme\"").await;
    assert!(!stream.contains("other"), "{stream}");
    for path in ["me", "now", "now?window=24h", "attention", "hooks", "tenants", "health"] {
        let text = told(&daemon, path, "acme").await.to_string();
        assert!(!text.contains("other") && !text.contains("broken") && !text.contains("listen"), "{path}: {text}");
    }
    for path in ["now?tenant=other", "hooks?tenant=other", "tenants?tenant=other", "attention?tenant=nobody"] {
        assert_eq!(problem(asked(&daemon, path, "acme").await).await.0, 404, "{path}");
    }
    let operators = streamed(&daemon, "operator", None, "\"other\"").await;
    let foreign = ids(&operators, "other").remove(0);
    assert_eq!(told(&daemon, &format!("verdicts/{foreign}"), "operator").await["tenant"], "other");
    assert_eq!(problem(asked(&daemon, &format!("verdicts/{foreign}"), "acme").await).await.0, 404);
    // The error of a tenant's files, as `hookbox check` prints it.
    let error = told(&daemon, "tenants?tenant=broken", "broken").await["tenants"][0]["error"]["text"].clone();
    let error = error.as_str().unwrap();
    assert!(error.starts_with("error: unknown key `hoks`\n   ") && error.ends_with("did you mean `hooks`?"), "{error}");
}

#[tokio::test]
async fn numbers_are_exact_and_survive_a_restart() {
    let files = operated();
    files.write("tenants/acme.json", &{
        let mut acme = tenant("acme");
        acme["quotas"] = json!({ "requestsPerSecond": 3 });
        acme
    });
    let mut daemon = files.start();
    daemon.verdict("acme", bash("ls")).await;
    for _ in 0..5 {
        daemon.ask("acme", bash("rm -rf /")).send().await.unwrap();
    }
    // A request without a valid token does not count.
    daemon.ask("nobody", bash("ls")).send().await.unwrap();
    let now = told(&daemon, "now", "operator").await;
    let (decided, denied, refused) = (&now["sum"]["decisions"], &now["sum"]["denied"], &now["sum"]["refused"]);
    assert_eq!((decided, denied, refused), (&json!(3), &json!(2), &json!(3)), "{now}");
    let columns = now["columns"]["denied"].as_array().unwrap();
    assert_eq!((columns.len(), columns.iter().filter_map(Value::as_u64).sum::<u64>()), (180, 2));
    assert!(columns[0].is_null(), "the daemon was not there");
    assert_eq!(now["tenants"][0]["problems"]["over-quota"][0], 3);
    assert_eq!(now["daemon"]["name"], "daemon-1");
    let attention = told(&daemon, "attention", "operator").await;
    assert!(attention["list"].as_array().unwrap().iter().any(|entry| entry["kind"] == "over-quota"), "{attention}");
    daemon.signal("TERM");
    let ended = tokio::task::spawn_blocking(move || {
        daemon.child.wait().unwrap();
        daemon
    });
    let mut daemon = ended.await.unwrap();
    daemon.restart();
    let now = told(&daemon, "now?window=7d", "operator").await;
    assert_eq!((&now["sum"]["decisions"], now["starts"].as_array().unwrap().len()), (&json!(3), 2), "{now}");
    assert_eq!(told(&daemon, "now?window=24h&tenant=acme", "acme").await["sum"]["denied"], 2);
}

#[tokio::test]
async fn a_stream_names_its_daemon_and_says_if_verdicts_are_gone() {
    let daemon = operated().start();
    daemon.verdict("acme", bash("ls")).await;
    let stream = streamed(&daemon, "acme", None, "\"acme\"").await;
    let hello = stream.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let hello: Value = serde_json::from_str(hello).unwrap();
    assert_eq!((&hello["daemon"]["name"], &hello["dropped"]), (&json!("daemon-1"), &json!(false)), "{hello}");
    assert!(hello["daemon"]["started"].as_i64().unwrap() <= hello["now"].as_i64().unwrap());
    assert!(last_id(&stream).starts_with(hello["daemon"]["epoch"].as_str().unwrap()), "{hello}");
}

#[tokio::test]
async fn the_answer_of_the_collector_is_shown() {
    let closed_door = Arc::new(AtomicBool::new(true));
    let answer = Arc::clone(&closed_door);
    let collector = hookbox_testing::server::Server::start(move |_| {
        let status = if answer.load(Ordering::SeqCst) { "503 Service Unavailable" } else { "200 OK" };
        hookbox_testing::server::response(status, "", "")
    })
    .await;
    let files = operated();
    let with_password = collector.url("").replace("http://", "http://user:pass-word@");
    files.settings(json!({ "operators": [hash("operator")], "otlp": with_password }));
    let daemon = files.start();
    let collector = async || told(&daemon, "health", "operator").await["collector"].clone();
    let before = collector().await;
    assert_eq!((&before["accepted"], &before["last"], &before["error"]), (&json!(0), &Value::Null, &Value::Null));
    daemon.verdict("acme", bash("ls")).await;
    daemon.until("refused", async || collector().await["failed"] == 1).await;
    let refused = collector().await;
    assert!(refused["error"].as_str().unwrap().contains("503") && refused["since"].is_i64(), "{refused}");
    assert!(!refused.to_string().contains("pass-word"), "{refused}");
    let attention = told(&daemon, "attention", "operator").await;
    assert!(attention["list"].as_array().unwrap().iter().any(|entry| entry["kind"] == "collector"), "{attention}");
    assert!(told(&daemon, "health", "acme").await["collector"].is_null());
    closed_door.store(false, Ordering::SeqCst);
    daemon.verdict("acme", bash("ls")).await;
    daemon.until("accepted", async || collector().await["accepted"] == 1).await;
    assert!(collector().await["error"].is_null());
}

#[tokio::test]
async fn hooks_are_counted_and_the_one_that_decides_is_named() {
    let files = operated();
    let watched = json!({ "type": "wasm", "component": "guard.wasm", "name": "watched", "mode": "monitor" });
    let starved = json!({ "type": "wasm", "component": "guard.wasm", "name": "starved", "limits": { "fuel": 1000 } });
    files.write(
        "tenants/acme-hooks.json",
        &closed(json!({ "hooks": { "PreToolUse": [{ "hooks": [watched, starved] }] } })),
    );
    let daemon = files.start();
    for _ in 0..20 {
        daemon.verdict("acme", bash("rm -rf /")).await;
    }
    let found = told(&daemon, "hooks", "operator").await;
    let (watched, starved) = (&found["hooks"][0], &found["hooks"][1]);
    assert_eq!((&watched["monitored"], &watched["counters"]["denied"]), (&json!(true), &json!(20)));
    assert_eq!(watched["counters"]["examples"].as_array().unwrap().len(), 5);
    assert_eq!((&starved["counters"]["causes"]["out-of-fuel"], &starved["fuel"]), (&json!(20), &json!(1000)));
    assert_eq!(starved["authority"][0], "may deny, ask");
    let failing = &starved["counters"]["failing"];
    let id = failing["verdict"].as_str().unwrap();
    let record = told(&daemon, &format!("verdicts/{id}"), "operator").await;
    assert_eq!((&record["decidedBy"], &record["verdict"]), (&json!(1), &json!("deny")));
    assert_eq!(record["flags"], json!(["denied", "failed"]));
    let attention = told(&daemon, "attention", "operator").await;
    let kinds: Vec<&str> =
        attention["list"].as_array().unwrap().iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["failing", "monitored"], "{attention}");
    assert!(told(&daemon, "tenants", "operator").await["tenants"][0]["stateBytes"].is_u64());
    // A rejected request is not a failure of its hooks.
    let health = told(&daemon, "health", "operator").await;
    assert_eq!((&health["ready"], &health["store"]["error"]), (&json!(true), &Value::Null));
    assert!(health["engine"].as_str().unwrap().starts_with("wasmtime "));
}
