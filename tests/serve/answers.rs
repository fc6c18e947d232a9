//! Responses to clients.

use std::{
    io::{Read, Write},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::daemon::{Files, bash, closed, denies, hooks, problem, read, token};

/// Returns the output of `hookbox run` for the same event and file.
fn run(files: &Files, event: &Value) -> Value {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.args(["run", "--config"]).arg(files.path("tenants/acme-hooks.json"));
    let output = hookbox_testing::process::fed(&mut command, event.to_string().as_bytes());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn answers_equal_the_command_lines_output() {
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

/// The name in `?event=` cannot hide an event from a gate.
#[tokio::test]
async fn a_name_that_contradicts_the_event_is_refused() {
    let daemon = Files::new().start();
    let post = async |name: &str| {
        let path = format!("/v1/acme/claude?event={name}");
        daemon.post(&path).bearer_auth(token("acme")).body(bash("ls").to_string()).send().await.unwrap()
    };
    assert_eq!(post("PreToolUse").await.status().as_u16(), 200);
    for name in ["Stop", "PostToolUse", "Notification", "NoSuchEvent"] {
        assert_eq!(problem(post(name).await).await, (400, "invalid-event".into()), "{name}");
    }
}

/// A tenant `claw` with hooks of picoclaw that fail closed.
fn files_of_picoclaw(daemon: &crate::daemon::Daemon) {
    let gate = json!({ "type": "wasm", "component": "guard.wasm", "intercept": ["before_tool"] });
    let file = json!({ "dialect": "picoclaw", "failClosed": true, "hooks": { "gate": gate } });
    daemon.files.write("tenants/claw-hooks.json", &file);
    let mut tenant = crate::daemon::tenant("claw");
    tenant["hooks"] = json!({ "picoclaw": "claw-hooks.json" });
    daemon.files.write("tenants/claw.json", &tenant);
}

/// An event whose name is unknown may be one that a gate would have blocked. Clients let a tool through on a status that
/// is not 200.
#[tokio::test]
async fn an_event_without_a_certain_name_is_blocked_where_failures_block() {
    let files = Files::new();
    let mut by_hook = hooks("guard.wasm");
    by_hook["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"] = "block".into();
    files.write("tenants/acme-hooks.json", &closed(hooks("guard.wasm")));
    files.write("tenants/other.json", &crate::daemon::tenant("other"));
    files.write("tenants/other-hooks.json", &by_hook);
    let daemon = files.start();
    for tenant in ["acme", "other"] {
        let call = bash("ls").to_string();
        for (query, body) in [
            ("?event=Stop", call.as_str()),
            ("?event=Notification", &call),
            ("?event=NoSuchEvent", &call),
            ("", ""),
            ("", "{"),
            ("", "[]"),
            ("", "\u{feff}"),
            ("", r#"{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#),
            ("", r#"{"hook_event_name":1,"tool_name":"Bash"}"#),
            ("", r#"{"hook_event_name":"PreToolUse","hook_event_name":"Stop","tool_name":"Bash"}"#),
        ] {
            let post = daemon.post(&format!("/v1/{tenant}/claude{query}")).bearer_auth(token(tenant));
            let response = post.body(body.to_owned()).send().await.unwrap();
            let told = format!("{tenant} {query} {body}: {response:?}");
            assert_eq!(response.status(), 200, "{told}");
            assert_eq!(response.headers()["hookbox-verdict"], "deny", "{told}");
            assert_eq!(response.headers()["hookbox-problem"], "invalid-event", "{told}");
            let output = read(response).await;
            let blocks = denies(&output) || output["decision"] == "block" && output["continue"] == false;
            assert!(blocks, "{told}: {output}");
        }
    }
    files_of_picoclaw(&daemon);
    daemon.until("loaded", async || daemon.log().contains(r#"tenant="claw""#)).await;
    for (query, body) in [
        ("", r#"{"jsonrpc":"2.0","id":7,"method":["hook.before_tool"],"params":{"tool":"exec"}}"#),
        ("", r#"{"jsonrpc":"2.0","id":7,"params":{"tool":"exec"}}"#),
        ("?event=hook.event", r#"{"jsonrpc":"2.0","id":7,"method":"hook.before_tool","params":{"tool":"exec"}}"#),
    ] {
        let post = daemon.post(&format!("/v1/claw/picoclaw{query}")).bearer_auth(token("claw")).body(body);
        let response = post.send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["hookbox-verdict"]),
            (200, &"deny".parse().unwrap())
        );
        let output = read(response).await;
        let action = output["result"]["action"].as_str().unwrap();
        assert!(["abort_turn", "deny_tool"].contains(&action) && output["id"] == 7, "{output}");
    }
    let events = json!([bash("ls"), { "no": "name" }]);
    let batch = daemon.post("/v1/acme/claude/batch").bearer_auth(token("acme")).body(events.to_string());
    let answers = read(batch.send().await.unwrap()).await;
    assert_eq!((&answers[1]["status"], &answers[1]["verdict"]), (&json!(200), &json!("deny")), "{answers}");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let files = Files::new();
    files.settings(json!({ "maxBodyKiB": 4 }));
    let daemon = files.start();
    let large = || bash(&"x".repeat(8 * 1024));
    // A large event does not get past a gate, because its size counts as a limit that the gate exceeded.
    let response = daemon.ask("acme", large()).send().await.unwrap();
    assert_eq!(response.headers()["hookbox-problem"], "too-large");
    assert!(denies(&read(response).await));
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    daemon.files.write("tenants/acme-hooks.json", &json!({ "hooks": {} }));
    daemon.until("reloaded", async || daemon.log().matches("is loaded").count() == 2).await;
    assert_eq!(problem(daemon.ask("acme", large()).send().await.unwrap()).await, (413, "too-large".into()));
    // Under `failClosed` the first part of the body identifies the event.
    daemon.files.write("tenants/acme-hooks.json", &closed(hooks("guard.wasm")));
    daemon.until("reloaded", async || daemon.log().matches("is loaded").count() == 3).await;
    let response = daemon.ask("acme", large()).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["hookbox-problem"]),
        (200, &"too-large".parse().unwrap())
    );
    assert!(denies(&read(response).await));
    // The start of a text that was cut off identifies the event too.
    let cut =
        daemon.post("/v1/acme/claude").bearer_auth(token("acme")).body(r#"{"hook_event_name":"PreToolUse","tool_na"#);
    assert!(denies(&read(cut.send().await.unwrap()).await));
}

/// A hook that never ends before its timeout.
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

/// Adds a hook that decides at once beside the endless one.
fn with_guard(mut hooks: Value) -> Value {
    let guard = json!({ "type": "wasm", "component": "guard.wasm" });
    hooks["hooks"]["PreToolUse"].as_array_mut().unwrap().insert(0, json!({ "hooks": [guard] }));
    hooks
}

fn hooks_of(files: &Files) -> Value {
    serde_json::from_slice(&std::fs::read(files.path("tenants/acme-hooks.json")).unwrap()).unwrap()
}

#[tokio::test]
async fn the_verdict_arrives_before_the_clients_timeout() {
    let files = endless(false);
    let mut both = with_guard(hooks_of(&files));
    both["hooks"]["PreToolUse"][1]["hooks"][0]["onTimeout"] = "ignore".into();
    files.write("tenants/acme-hooks.json", &both);
    let daemon = files.start();
    let ask = |event: Value| daemon.ask("acme", event).header("hookbox-timeout", "1").timeout(Duration::from_secs(20));
    let begin = Instant::now();
    // The verdict has the known part: one hook decided, and the other exceeded its timeout, which does not block here.
    let response = ask(bash("rm -rf /")).send().await.unwrap();
    assert_eq!(response.headers()["hookbox-verdict"], "deny");
    assert!(denies(&read(response).await));
    let response = ask(bash("ls")).send().await.unwrap();
    let word = response.headers()["hookbox-verdict"].to_str().unwrap();
    assert_eq!((response.status().as_u16(), word), (200, "nothing"));
    assert!(begin.elapsed() < Duration::from_secs(20));
    let timed_out = r#"hookbox_hook_calls_total{tenant="acme",dialect="claude",event="PreToolUse",hook="endless.wasm",verdict="failed",cause="timeout",mode="enforce"}"#;
    assert_eq!(crate::reload::metric(&daemon, timed_out).await, 2.0);
    // With `onTimeout`, the timeout blocks.
    both["hooks"]["PreToolUse"][1]["hooks"][0]["onTimeout"] = "block".into();
    daemon.files.write("tenants/acme-hooks.json", &both);
    daemon.until("reloaded", async || daemon.log().matches("is loaded").count() == 2).await;
    let output: Value = read(ask(bash("ls")).send().await.unwrap()).await;
    let reason = output["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(denies(&output) && reason.contains("endless.wasm failed (timeout"), "{output}");
}

#[tokio::test]
async fn internal_errors_block_if_the_tenant_fails_closed() {
    let files = endless(true);
    let mut tenant: Value = serde_json::from_slice(&std::fs::read(files.path("tenants/acme.json")).unwrap()).unwrap();
    tenant["quotas"] = json!({ "concurrency": 1 });
    files.write("tenants/acme.json", &tenant);
    let daemon = files.start();
    let ask = |event: Value, seconds: &str| daemon.ask("acme", event).header("hookbox-timeout", seconds).send();
    // The first request runs until its deadline, and the second waits for it until its own deadline.
    let first = tokio::spawn(ask(bash("ls"), "5"));
    let judging = async || crate::reload::metric_if_any(&daemon, r#"hookbox_judging{tenant="acme"}"#).await;
    daemon.until("judged", async || judging().await == Some(1.0)).await;
    let second = ask(bash("ls"), "1").await;
    let mut problems = Vec::new();
    for response in [first.await.unwrap().unwrap(), second.unwrap()] {
        assert_eq!(
            (response.status().as_u16(), &response.headers()["hookbox-verdict"]),
            (200, &"deny".parse().unwrap())
        );
        problems.push(response.headers().get("hookbox-problem").map(|name| name.to_str().unwrap().to_owned()));
        let output: Value = read(response).await;
        let reason = output["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
        assert!(denies(&output) && reason.contains("endless.wasm failed (timeout"), "{output}");
    }
    assert_eq!(problems, [None, Some("deadline".to_owned())]);
    // A request without an event name may be of an event that can be blocked.
    let nameless = ask(json!({}), "1").await.unwrap();
    assert_eq!((nameless.status().as_u16(), &nameless.headers()["hookbox-verdict"]), (200, &"deny".parse().unwrap()));
}

/// The header has the verdict too, for notifications and for clients that use exit codes.
#[tokio::test]
async fn a_verdict_is_in_a_header_too() {
    let files = Files::new();
    let mut owner = crate::daemon::tenant("acme");
    for (dialect, hooks) in [
        (
            "gemini",
            json!({ "hooks": { "BeforeTool": [ { "hooks": [ { "type": "wasm", "component": "guard.wasm" } ] } ] } }),
        ),
        ("codex", hooks("guard.wasm")),
        ("copilot", hooks("guard.wasm")),
        ("blade", hooks("guard.wasm")),
        (
            "picoclaw",
            json!({ "hooks": { "guard": { "intercept": ["before_tool"], "type": "wasm", "component": "guard.wasm" } } }),
        ),
    ] {
        owner["hooks"][dialect] = format!("{dialect}-hooks.json").into();
        files.write(&format!("tenants/{dialect}-hooks.json"), &hooks);
    }
    files.write("tenants/acme.json", &owner);
    let daemon = files.start();
    let told = async |dialect: &str, event: Value| {
        let asked = daemon.post(&format!("/v1/acme/{dialect}")).bearer_auth(token("acme")).body(event.to_string());
        let response = asked.send().await.unwrap();
        assert_eq!(response.status(), 200, "{dialect}");
        (response.headers()["hookbox-verdict"].to_str().unwrap().to_owned(), response.text().await.unwrap())
    };
    for dialect in ["codex", "copilot", "blade"] {
        assert_eq!(told(dialect, bash("rm -rf /")).await.0, "deny", "{dialect}");
        assert_eq!(told(dialect, bash("ls")).await.0, "nothing", "{dialect}");
    }
    let mut event = bash("rm -rf /");
    event["hook_event_name"] = "BeforeTool".into();
    event["tool_name"] = "run_shell_command".into();
    assert_eq!(told("gemini", event).await.0, "deny");
    // PicoClaw's own lines and replies.
    let line = |id: u32, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let (word, reply) =
        told("picoclaw", line(1, "hook.hello", json!({ "name": "h", "version": 1, "modes": ["tool"] }))).await;
    assert_eq!(
        (word.as_str(), serde_json::from_str(&reply).unwrap()),
        ("nothing", json!({ "jsonrpc": "2.0", "id": 1, "result": { "ok": true, "name": "h" } }))
    );
    let call = |command: &str| json!({ "tool": "exec", "arguments": { "action": "run", "command": command } });
    let (word, reply) = told("picoclaw", line(2, "hook.before_tool", call("rm -rf /"))).await;
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!((word.as_str(), &reply["id"], &reply["result"]["action"]), ("deny", &json!(2), &json!("deny_tool")));
    let (word, reply) = told("picoclaw", line(3, "hook.before_tool", call("ls"))).await;
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!((word.as_str(), &reply["result"]["action"]), ("nothing", &json!("continue")));
    // A notification has no reply.
    let told_of = json!({ "jsonrpc": "2.0", "method": "hook.event", "params": { "Kind": 0, "Payload": {} } });
    assert_eq!(told("picoclaw", told_of).await, ("nothing".into(), String::new()));
}

/// A request as Claude Code 2.1.197 sent it for a `type: "http"` hook with the headers of docs/use/claude-code.md. Only
/// the names of folders and sessions are changed.
#[tokio::test]
async fn a_request_of_claude_code_is_answered() {
    let daemon = Files::new().start();
    let body = concat!(
        r#"{"session_id":"b775b177-4fd8-40f1-a9af-8b5c6cd81c0f","transcript_path":"/home/dev/.claude/projects/-home-dev-"#,
        r#"project/b775b177-4fd8-40f1-a9af-8b5c6cd81c0f.jsonl","cwd":"/home/dev/project","prompt_id":"fe60a3da-898a-4540-"#,
        r#"a15a-9d7c8104fa04","permission_mode":"default","effort":{"level":"high"},"hook_event_name":"PreToolUse","tool_"#,
        r#"name":"Bash","tool_input":{"command":"rm -rf /home/dev/project/build","description":"x"},"tool_use_id":"toolu_1"}"#,
    );
    let head = format!(
        "POST /v1/acme/claude HTTP/1.1\r\nAccept: application/json, text/plain, */*\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {}\r\nHookbox-Timeout: 10\r\nUser-Agent: axios/1.15.2\r\nContent-Length: {}\r\n\
         Accept-Encoding: gzip, compress, deflate, br\r\nHost: {}\r\nConnection: keep-alive\r\n\r\n",
        token("acme"),
        body.len(),
        daemon.addresses[0],
    );
    let mut stream = std::net::TcpStream::connect(&daemon.addresses[0]).unwrap();
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    while !answer.ends_with('}') {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "{answer}");
        answer.push_str(std::str::from_utf8(&part[..read]).unwrap());
    }
    let (head, output) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("content-type: application/json"), "{head}");
    assert!(denies(&serde_json::from_str(output).unwrap()), "{output}");
}

#[tokio::test]
async fn unblockable_events_are_a_problem_even_then() {
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
