//! `agent` handlers, and `prompt` handlers, against a server with the providers' APIs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use hookbox::{
    Cause, Decision, Event, Failure, HookOutput, HookSet,
    capability::{
        http::ReqwestClient,
        llm::{HttpModel, LlmProvider, LlmSettings},
    },
    handler::agent::run_agent,
};
use hookbox_testing::server::{Server, response};
use serde_json::{Value, json};

const BOTH: [LlmProvider; 2] = [LlmProvider::Anthropic, LlmProvider::OpenaiCompatible];

/// One turn of the model: a text, or tool calls with their arguments.
enum Turn {
    Expressible(&'static str),
    Calls(Vec<(&'static str, Value)>),
}

/// A turn in the provider's JSON. The calls of turn `n` have the ids `n.0`, `n.1` and so on.
fn spoken(provider: LlmProvider, number: usize, turn: &Turn) -> Value {
    let ids = (0..).map(|call| format!("{number}.{call}"));
    match (provider, turn) {
        (LlmProvider::Anthropic, Turn::Expressible(text)) => json!({
            "type": "message", "role": "assistant", "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": text }], "usage": { "input_tokens": 1, "output_tokens": 1 },
        }),
        (LlmProvider::Anthropic, Turn::Calls(calls)) => {
            let calls = calls
                .iter()
                .zip(ids)
                .map(|((name, input), id)| json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
            let text = json!({ "type": "text", "text": "Let me look." });
            let content: Vec<Value> = std::iter::once(text).chain(calls).collect();
            json!({ "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": content })
        }
        (LlmProvider::OpenaiCompatible, Turn::Expressible(text)) => {
            let message = json!({ "role": "assistant", "content": text });
            json!({ "choices": [{ "index": 0, "finish_reason": "stop", "message": message }] })
        }
        (LlmProvider::OpenaiCompatible, Turn::Calls(calls)) => {
            let calls = calls.iter().zip(ids).map(|((name, arguments), id)| {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                json!({ "id": id, "type": "function", "function": function })
            });
            let message = json!({ "role": "assistant", "content": null, "tool_calls": calls.collect::<Value>() });
            json!({ "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": message }] })
        }
    }
}

/// A server whose model plays its turns in order, and then repeats the last one.
async fn playing(provider: LlmProvider, turns: Vec<Turn>) -> Server {
    let next = AtomicUsize::new(0);
    Server::start(move |_| {
        let number = next.fetch_add(1, Ordering::SeqCst);
        let turn = turns.get(number).unwrap_or(turns.last().unwrap());
        response("200 OK", "content-type: application/json\r\n", &spoken(provider, number, turn).to_string())
    })
    .await
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// The tool results of the last turn in this request: id, text, and true for an error.
fn results(provider: LlmProvider, request: &str) -> Vec<(String, String, bool)> {
    let body = body(request);
    let messages = body["messages"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    if provider == LlmProvider::Anthropic {
        let last = messages.last().unwrap();
        assert_eq!(last["role"], "user");
        let blocks = last["content"].as_array().unwrap().iter();
        return blocks
            .map(|block| {
                assert_eq!(block["type"], "tool_result");
                (text(&block["tool_use_id"]), text(&block["content"]), block["is_error"].as_bool().unwrap())
            })
            .collect();
    }
    let results = messages.iter().rev().take_while(|message| message["role"] == "tool").map(|message| {
        let content = text(&message["content"]);
        let error = content.starts_with("error: ");
        (text(&message["tool_call_id"]), content, error)
    });
    results.collect::<Vec<_>>().into_iter().rev().collect()
}

fn event(project: Option<&Path>) -> Event {
    let mut wire = json!({ "hook_event_name": "Stop", "session_id": "s" });
    if let Some(project) = project {
        wire["cwd"] = project.to_str().unwrap().into();
    }
    hookbox::dialect::by_name("claude").unwrap().decode_event(wire.to_string().as_bytes(), None).unwrap()
}

/// Runs an agent. A test may not set environment variables, so the key is a variable that every test run has.
async fn run(
    provider: LlmProvider,
    server: &Server,
    turns: u32,
    project: Option<&Path>,
) -> Result<HookOutput, Failure> {
    let (base_url, api_key_env) = (Some(server.url("")), Some("PATH".into()));
    let model = HttpModel::new(
        Arc::new(ReqwestClient::default()),
        &LlmSettings { provider, base_url, model: Some("m".into()), api_key_env },
    )
    .unwrap();
    run_agent(&model, "Fine?", None, turns, &event(project)).await
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("src/deep")).unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    fs::write(folder.path().join(".git/config"), "TODO\n").unwrap();
    fs::write(folder.path().join("notes.txt"), "one\ntwo TODO\nthree\n").unwrap();
    fs::write(folder.path().join("src/deep/lib.rs"), "fn f() {}\n// TODO: g\n").unwrap();
    fs::write(folder.path().join("src/binary"), b"TODO\0").unwrap();
    folder
}

#[tokio::test]
async fn an_agent_reads_files_before_it_decides() {
    for provider in BOTH {
        let project = project();
        let absolute = project.path().join("notes.txt").to_str().unwrap().to_owned();
        let server = playing(
            provider,
            vec![
                Turn::Calls(vec![
                    ("read_file", json!({ "path": "notes.txt", "offset": 2, "limit": 1 })),
                    ("read_file", json!({ "path": absolute })),
                    ("list_dir", json!({ "path": "." })),
                ]),
                Turn::Calls(vec![
                    ("grep", json!({ "pattern": "TODO(: .)?$" })),
                    ("grep", json!({ "pattern": "fn", "path": "src" })),
                    ("grep", json!({ "pattern": "absent" })),
                ]),
                Turn::Expressible(r#"{"ok":false,"reason":"there is a TODO"}"#),
            ],
        )
        .await;
        let answer = run(provider, &server, 3, Some(project.path())).await.unwrap();
        assert_eq!((answer.decision, answer.reason.as_deref()), (Some(Decision::Deny), Some("there is a TODO")));

        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        let name = if provider == LlmProvider::Anthropic { "/name" } else { "/function/name" };
        let tools: Vec<_> =
            body(&requests[0])["tools"].as_array().unwrap().iter().map(|t| t.pointer(name).unwrap().clone()).collect();
        assert_eq!(tools, ["read_file", "list_dir", "grep"]);
        let result = |id: &str, text: &str| (id.to_owned(), text.to_owned(), false);
        assert_eq!(
            results(provider, &requests[1]),
            [
                result("0.0", "two TODO\n"),
                result("0.1", "one\ntwo TODO\nthree\n"),
                result("0.2", ".git/\nnotes.txt\nsrc/\n"),
            ]
        );
        assert_eq!(
            results(provider, &requests[2]),
            [
                result("1.0", "notes.txt:2: two TODO\nsrc/deep/lib.rs:2: // TODO: g\n"),
                result("1.1", "src/deep/lib.rs:1: fn f() {}\n"),
                result("1.2", "[nothing found]\n"),
            ]
        );
        // The model's message is sent back unchanged.
        let messages = body(&requests[1])["messages"].clone();
        let said = if provider == LlmProvider::Anthropic { "/1/content/1/id" } else { "/2/tool_calls/0/id" };
        assert_eq!(messages.pointer(said).unwrap(), "0.0", "{messages}");
    }
}

#[tokio::test]
async fn no_path_leaves_the_project() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    fs::write(&secret, "the secret").unwrap();
    let project = project();
    symlink(&secret, project.path().join("link.txt")).unwrap();
    symlink(outside.path(), project.path().join("link")).unwrap();
    let mkfifo = std::process::Command::new("mkfifo").arg(project.path().join("pipe")).status().unwrap();
    assert!(mkfifo.success());
    let up = format!("../{}/secret.txt", outside.path().file_name().unwrap().to_str().unwrap());
    let through = format!("{}/{up}", project.path().display());
    let refused = [
        ("read_file", json!({ "path": secret })),
        ("read_file", json!({ "path": up })),
        ("read_file", json!({ "path": through })),
        ("read_file", json!({ "path": format!("src/../{up}") })),
        ("read_file", json!({ "path": "link.txt" })),
        ("read_file", json!({ "path": "link/secret.txt" })),
        ("read_file", json!({ "path": "pipe" })),
        ("read_file", json!({ "path": "src/binary" })),
        ("list_dir", json!({ "path": "link" })),
        ("list_dir", json!({ "path": ".." })),
        ("grep", json!({ "pattern": "secret", "path": "link" })),
        ("grep", json!({ "pattern": "secret", "path": "/" })),
        ("grep", json!({ "pattern": "(" })),
        ("write_file", json!({ "path": "x", "text": "y" })),
        ("read_file", json!({ "path": "notes.txt", "follow": true })),
        ("grep", json!({ "pattern": "the secret" })),
    ];
    let too_many = ("read_file", json!({ "path": "notes.txt" }));
    for provider in BOTH {
        let calls = refused.iter().cloned().chain([too_many.clone()]).collect();
        let server = playing(provider, vec![Turn::Calls(calls), Turn::Expressible(r#"{"ok":true}"#)]).await;
        assert_eq!(run(provider, &server, 2, Some(project.path())).await, Ok(HookOutput::default()));
        let mut results = results(provider, &server.requests()[1]);
        assert_eq!(results.len(), refused.len() + 1);
        // The search of the whole project is not an error. It only does not see files outside.
        assert_eq!(results.remove(refused.len() - 1).1, "[nothing found]\n");
        for (id, text, error) in results {
            assert!(error && !text.contains("the secret"), "{id}: {text}");
        }
    }
}

#[tokio::test]
async fn large_values_are_shortened() {
    let project = tempfile::tempdir().unwrap();
    for number in 0..1001 {
        fs::write(project.path().join(format!("{number:04}")), "hit\n").unwrap();
    }
    fs::write(project.path().join("long"), "0123456789\n".repeat(10_000)).unwrap();
    fs::write(project.path().join("huge"), vec![b'x'; 1024 * 1024 + 1]).unwrap();
    let calls = vec![
        ("read_file", json!({ "path": "long" })),
        ("read_file", json!({ "path": "huge" })),
        ("list_dir", json!({ "path": "." })),
        ("grep", json!({ "pattern": "hit" })),
    ];
    let provider = LlmProvider::Anthropic;
    let server = playing(provider, vec![Turn::Calls(calls), Turn::Expressible(r#"{"ok":true}"#)]).await;
    run(provider, &server, 2, Some(project.path())).await.unwrap();
    let results = results(provider, &server.requests()[1]);
    let (long, huge, list, grep) = (&results[0].1, &results[1], &results[2].1, &results[3].1);
    assert!(long.len() < 66_000 && long.ends_with("[cut after 5957 lines; read on with `offset`]\n"), "{}", long.len());
    assert!(huge.2, "{huge:?}");
    assert!(list.lines().count() == 1001 && list.ends_with("[more than 1000 entries]\n"), "{list}");
    assert!(grep.lines().count() == 201 && grep.ends_with("[more results exist; narrow the search]\n"), "{grep}");
}

#[tokio::test]
async fn turns_are_bounded_and_the_last_must_answer() {
    let project = project();
    for provider in BOTH {
        let curious = playing(provider, vec![Turn::Calls(vec![("list_dir", json!({ "path": "." }))])]).await;
        let failure = run(provider, &curious, 3, Some(project.path())).await.unwrap_err();
        assert_eq!((failure.cause, curious.requests().len()), (Cause::Model, 3), "{failure}");

        let chatty = playing(provider, vec![Turn::Expressible("Looks fine to me!")]).await;
        assert_eq!(run(provider, &chatty, 3, Some(project.path())).await.unwrap_err().cause, Cause::Model);
    }
}

#[tokio::test]
async fn without_a_project_there_are_no_tools() {
    for (provider, folder) in BOTH.into_iter().zip([None, Some(Path::new("relative"))]) {
        let calls = Turn::Calls(vec![("list_dir", json!({ "path": "." }))]);
        let server = playing(provider, vec![calls, Turn::Expressible(r#"{"ok":true}"#)]).await;
        assert_eq!(run(provider, &server, 2, folder).await, Ok(HookOutput::default()));
        let requests = server.requests();
        assert_eq!(body(&requests[0]).get("tools"), None);
        assert!(requests[0].contains("You have no tools"), "{}", requests[0]);
        assert!(results(provider, &requests[1])[0].2);
    }
}

/// A blade host with one hook on tool calls. Its model is at `server`.
async fn host(folder: &Path, server: &Server, hook: Value) -> HookSet {
    let settings = json!({ "provider": "anthropic", "baseUrl": server.url(""), "model": "m", "apiKeyEnv": "PATH" });
    let group = json!({ "hooks": [hook] });
    let config = json!({ "dialect": "blade", "host": { "llm": settings }, "hooks": { "PreToolUse": [group] } });
    let file = folder.join("hooks.json");
    fs::write(&file, config.to_string()).unwrap();
    HookSet::standalone().config_file(&file).unwrap().build().await.unwrap()
}

fn tool_call(project: &Path) -> String {
    json!({
        "hook_event_name": "PreToolUse", "hook_execution_id": "1", "timestamp": "2026-01-01T00:00:00Z",
        "project_dir": project, "session_id": "s", "permission_mode": "default",
        "tool_name": "Bash", "tool_use_id": "t", "tool_input": { "command": "ls" },
    })
    .to_string()
}

#[tokio::test]
async fn a_configuration_uses_its_model() {
    let project = project();
    for hook in [
        json!({ "type": "prompt", "prompt": "Safe? $ARGUMENTS" }),
        json!({ "type": "agent", "prompt": "Safe? $ARGUMENTS", "maxTurns": 2 }),
    ] {
        let look = Turn::Calls(vec![("read_file", json!({ "path": "notes.txt" }))]);
        let says = Turn::Expressible(r#"{"ok":false,"reason":"not safe"}"#);
        let turns = if hook["type"] == "agent" { vec![look, says] } else { vec![says] };
        let asked = turns.len();
        let server = playing(LlmProvider::Anthropic, turns).await;
        let host = host(project.path(), &server, hook).await;
        let verdict = host.dispatch(tool_call(project.path())).await.unwrap();
        let answer = verdict.output();
        assert_eq!(
            (answer.decision.clone(), answer.reason.as_deref()),
            (Some(Decision::Deny), Some("not safe")),
            "{verdict:?}"
        );
        let requests = server.requests();
        assert_eq!(requests.len(), asked);
        assert!(requests[0].contains("x-api-key: ") && requests[0].contains(r#"Safe? {\"hook_event_name\""#));
        if asked == 2 {
            assert_eq!(results(LlmProvider::Anthropic, &requests[1])[0].1, "one\ntwo TODO\nthree\n");
        }
    }
}

#[tokio::test]
async fn an_agent_ends_at_its_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_| "HTTP/1.1 200 OK\r\n…".to_owned()).await;
    let host = host(folder.path(), &server, json!({ "type": "agent", "prompt": "p", "timeout": 0.3 })).await;
    let started = Instant::now();
    let verdict = host.dispatch(tool_call(folder.path())).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(verdict.hooks[0].outcome().unwrap().as_ref().unwrap_err().cause, Cause::Timeout);
}

#[tokio::test]
async fn a_hook_without_a_model_does_not_load() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hooks.json");
    let key = |variable: &str| json!({ "llm": { "provider": "anthropic", "apiKeyEnv": variable } });
    for (host, what, help) in [
        (json!({}), "none is configured", r#""host": { "llm": { "provider": "anthropic""#),
        (key("HOOKBOX_TEST_IS_NOT_SET"), "HOOKBOX_TEST_IS_NOT_SET is not set", "set the environment variable"),
        (key("PATH"), "no model is configured", "correct `llm` in `host`"),
    ] {
        for kind in ["prompt", "agent"] {
            let group = json!({ "hooks": [{ "type": kind, "prompt": "p" }] });
            let config = json!({ "dialect": "blade", "host": host, "hooks": { "Stop": [group] } });
            fs::write(&file, config.to_string()).unwrap();
            let error = HookSet::standalone().config_file(&file).unwrap().build().await.err().unwrap().to_string();
            assert!(error.contains(what) && error.contains(help), "{error}");
        }
    }
}
