//! What a client is answered.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::daemon::{Files, bash, closed, denies, hooks, problem, read, token};

/// What `hookbox run` prints for the same event and file.
fn run(files: &Files, event: &Value) -> Value {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.args(["run", "--config"]).arg(files.path("tenants/acme-hooks.json"));
    let output = hookbox_testing::process::fed(&mut command, event.to_string().as_bytes());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn the_answer_is_what_the_command_line_prints() {
    let daemon = Files::new().start();
    for command in ["rm -rf /", "ls"] {
        let event = bash(command);
        let response = daemon.ask("acme", event.clone()).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["content-type"]),
            (200, &"application/json".parse().unwrap())
        );
        let word = response.headers()["hookbox-verdict"].to_str().unwrap().to_owned();
        let output: Value = read(response).await;
        assert_eq!(output, run(&daemon.files, &event));
        assert_eq!((word == "deny", denies(&output)), (command != "ls", command != "ls"));
    }
}

#[tokio::test]
async fn many_events_are_answered_in_their_order() {
    let daemon = Files::new().start();
    let events = json!([bash("ls"), bash("rm -rf /"), { "no": "name" }, bash("ls")]);
    let batch = daemon.post("/v1/acme/claude/batch").bearer_auth(token("acme")).body(events.to_string());
    let answers = read(batch.send().await.unwrap()).await;
    let answers = answers.as_array().unwrap();
    let statuses: Vec<_> = answers.iter().map(|answer| answer["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [200, 200, 400, 200]);
    assert!(denies(&answers[1]["output"]) && !denies(&answers[0]["output"]), "{answers:?}");
    assert_eq!(answers[2]["problem"]["type"], "urn:hookbox:problem:invalid-event");
    let wrong = daemon.post("/v1/acme/claude/batch").bearer_auth(token("acme")).body("{}");
    assert_eq!(problem(wrong.send().await.unwrap()).await, (400, "invalid-request".into()));
}

#[tokio::test]
async fn problems_have_stable_types() {
    let daemon = Files::new().start();
    let ask = |body: &str| daemon.post("/v1/acme/claude").bearer_auth(token("acme")).body(body.to_owned()).send();
    for body in ["", "{", "[]", "{}", r#"{"hook_event_name":1}"#] {
        assert_eq!(problem(ask(body).await.unwrap()).await, (400, "invalid-event".into()), "{body}");
    }
    let post = |path: &str| daemon.post(path).bearer_auth(token("acme")).body(bash("ls").to_string()).send();
    assert_eq!(problem(post("/v1/acme/blade").await.unwrap()).await, (404, "not-found".into()));
    assert_eq!(problem(post("/v1/acme/no-such").await.unwrap()).await, (404, "not-found".into()));
    assert_eq!(problem(post("/v2").await.unwrap()).await, (404, "not-found".into()));
    assert_eq!(problem(post("/v1/acme/claude?evnt=x").await.unwrap()).await, (400, "invalid-request".into()));
    let get = daemon.client.get(daemon.url("/v1/acme/claude")).send().await.unwrap();
    assert_eq!(problem(get).await, (405, "method".into()));
    let timeout = daemon.ask("acme", bash("ls")).header("hookbox-timeout", "soon").send().await.unwrap();
    assert_eq!(problem(timeout).await, (400, "invalid-request".into()));
}

#[tokio::test]
async fn a_name_that_the_event_lacks_is_in_the_query() {
    let daemon = Files::new().start();
    let mut event = bash("rm -rf /");
    event.as_object_mut().unwrap().remove("hook_event_name");
    let named = daemon.post("/v1/acme/claude?event=PreToolUse").bearer_auth(token("acme")).body(event.to_string());
    assert!(denies(&read(named.send().await.unwrap()).await));
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let files = Files::new();
    files.settings(json!({ "maxBodyKiB": 4 }));
    let daemon = files.start();
    let large = || bash(&"x".repeat(8 * 1024));
    assert_eq!(problem(daemon.ask("acme", large()).send().await.unwrap()).await, (413, "too-large".into()));
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    // Nobody gets around a gate by writing much: what came tells which event it is.
    daemon.files.write("tenants/acme-hooks.json", &closed(hooks("guard.wasm")));
    daemon.until("reloaded", async || daemon.log().matches("is loaded").count() == 2).await;
    let response = daemon.ask("acme", large()).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["hookbox-problem"]),
        (200, &"too-large".parse().unwrap())
    );
    assert!(denies(&read(response).await));
    // And so does a text that breaks off.
    let cut =
        daemon.post("/v1/acme/claude").bearer_auth(token("acme")).body(r#"{"hook_event_name":"PreToolUse","tool_na"#);
    assert!(denies(&read(cut.send().await.unwrap()).await));
}

/// A hook that never ends within the time there is.
fn endless(closed_: bool) -> Files {
    let files = Files::new();
    files.guest("endless.wasm", "(loop $forever (br $forever))");
    let mut hooks = hooks("endless.wasm");
    hooks["limits"] = json!({ "fuel": 1_000_000_000_000_u64, "timeout": 50 });
    files.write("tenants/acme-hooks.json", &if closed_ { closed(hooks) } else { hooks });
    let mut tenant = crate::daemon::tenant("acme");
    tenant["ceiling"] = json!({ "limits": { "fuel": 1_000_000_000_000_u64 } });
    files.write("tenants/acme.json", &tenant);
    files
}

#[tokio::test]
async fn the_answer_is_there_before_the_client_gives_up() {
    let daemon = endless(false).start();
    let begin = Instant::now();
    let response = daemon.ask("acme", bash("ls")).header("hookbox-timeout", "0.5").timeout(Duration::from_secs(20));
    assert_eq!(problem(response.send().await.unwrap()).await, (504, "deadline".into()));
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn failures_of_ours_block_where_the_tenant_says_so() {
    let daemon = endless(true).start();
    let ask = |event: Value| daemon.ask("acme", event).header("hookbox-timeout", "0.5").send();
    let response = ask(bash("ls")).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["hookbox-problem"]),
        (200, &"deadline".parse().unwrap())
    );
    let output: Value = read(response).await;
    assert!(denies(&output), "{output}");
    let reason = output["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("no verdict within"), "{reason}");
    // What names no event is nobody's to block.
    assert_eq!(problem(ask(json!({})).await.unwrap()).await, (400, "invalid-event".into()));
}

#[tokio::test]
async fn what_cannot_be_blocked_is_a_problem_even_then() {
    let files = Files::new();
    files.write("tenants/acme-hooks.json", &closed(hooks("guard.wasm")));
    let mut tenant = crate::daemon::tenant("acme");
    tenant["quotas"] = json!({ "requestsPerSecond": 0.001 });
    files.write("tenants/acme.json", &tenant);
    let daemon = files.start();
    let notification = || json!({ "hook_event_name": "Notification", "session_id": "s", "message": "m" });
    assert_eq!(daemon.ask("acme", notification()).send().await.unwrap().status(), 200);
    let response = daemon.ask("acme", notification()).send().await.unwrap();
    assert!(response.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 1);
    assert_eq!(problem(response).await, (429, "over-quota".into()));
    assert!(denies(&daemon.verdict("acme", bash("ls")).await));
}
