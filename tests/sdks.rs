//! The same hook in every language, tested with one table. `tests/sdk/README.md` describes the hook.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use hookbox::{
    HookSet, Runtime, Tenant, capability::state::SqliteStore, dialect, dialect::ConfigShape, verdict::Status,
};
use hookbox_testing::{
    examples::target_dir,
    node,
    server::{Server, response},
};
use serde::Deserialize;
use serde_json::{Value, json};

/// A folder in `tests/sdk`, and the preparation of its build besides the compiler.
type Language = (&'static str, fn(&Path));

const LANGUAGES: &[Language] = &[("rust", |_| {}), ("go", |_| {}), ("js", javascript), ("python", |_| {})];

fn javascript(folder: &Path) {
    node::ci(folder);
    node::lend_tools(folder);
}

/// Events that share one state.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    dialect: String,
    events: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// The event. `$SERVER` stands for the address of a server.
    event: Value,
    /// The verdict.
    wire: Value,
    /// Level and message.
    #[serde(default)]
    logs: Vec<String>,
    /// Cause, and words of the message.
    fault: Option<(String, String)>,
}

/// Result of one event.
#[derive(Debug)]
struct Went {
    wire: Value,
    logs: Vec<String>,
    fault: Option<(String, String)>,
    /// The complete output of the hook and its fate, even if the dialect cannot express it.
    said: String,
}

#[tokio::test]
async fn every_language_passes_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sdk").canonicalize().unwrap();
    let cases: Vec<Case> =
        serde_norway::from_str(&fs::read_to_string(folder.join("table.yaml")).unwrap()).expect("table.yaml");
    let server = Server::start(answer).await;
    let runtime = runtime();
    let mut first: Vec<String> = Vec::new();
    for (language, prepare) in LANGUAGES {
        let component = build(&folder.join(language), *prepare);
        let mut number = 0;
        for case in &cases {
            let set = load(&runtime, case, &component, language, &server).await;
            for step in &case.events {
                let went = judge(&set, &step.event, &server).await;
                let place = format!("{language}: {}: {}\n{went:#?}", case.name, step.event);
                assert_eq!(went.wire, step.wire, "{place}");
                assert_eq!(went.logs, step.logs, "{place}");
                match (&went.fault, &step.fault) {
                    (None, None) => {}
                    (Some((cause, message)), Some((expected, words))) => {
                        assert!(cause == expected && message.contains(words), "{place}");
                    }
                    _ => panic!("{place}"),
                }
                match first.get(number) {
                    Some(said) => assert_eq!(went.said, *said, "{place}\nnot as {}", LANGUAGES[0].0),
                    None => first.push(went.said),
                }
                number += 1;
            }
        }
    }
}

fn runtime() -> Runtime {
    let state = tempfile::tempdir().unwrap().keep().join("state.db");
    let runtime = Runtime::builder().cache_dir(target_dir().join("sdks-cache")).state(SqliteStore::new(state));
    runtime.compiler(env!("CARGO_BIN_EXE_hookbox")).build().unwrap()
}

fn build(folder: &Path, prepare: fn(&Path)) -> PathBuf {
    prepare(folder);
    let component = target_dir().join(format!("sdk-{}.wasm", folder.file_name().unwrap().to_string_lossy()));
    let mut build = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    build.arg("build").arg(folder).arg("-o").arg(&component).args(["--profile", "guest"]);
    let output = build.env("CARGO_TARGET_DIR", target_dir()).env_remove("CARGO_ENCODED_RUSTFLAGS").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    component
}

/// Loads the hook for every event, with all grants that it needs.
async fn load(runtime: &Runtime, case: &Case, component: &Path, language: &str, server: &Server) -> HookSet {
    let origin = json!({ "origin": server.url(""), "methods": ["POST"], "private": true });
    let mut hook = json!({
        "type": "wasm", "component": component, "authority": "trusted",
        "config": { "greeting": "hello é", "nested": { "number": 7 } },
        "permissions": { "state": true, "llm": true, "http": [origin] }
    });
    let names = case.events.iter().map(|step| event_name(&step.event));
    let hooks: Value = match dialect::by_name(&case.dialect).unwrap().shape() {
        ConfigShape::Groups => names.map(|name| (name, json!([{ "hooks": [hook] }]))).collect(),
        ConfigShape::Flat => names.map(|name| (name, json!([hook]))).collect(),
        ConfigShape::Named => {
            let all = ["before_tool", "after_tool", "approve_tool", "before_llm", "after_llm"];
            hook["intercept"] = json!(all);
            hook["observe"] = json!(["turn_start"]);
            json!({ "hook": hook })
        }
    };
    let model = json!({ "provider": "anthropic", "baseUrl": server.url(""), "model": "m", "apiKeyEnv": "PATH" });
    let mut config = json!({ "dialect": case.dialect, "host": { "llm": model }, "hooks": hooks });
    if let Some(callback) = config["hooks"].as_object_mut().unwrap().remove("canUseTool") {
        config["canUseTool"] = callback.pointer("/0/hooks/0").or(callback.pointer("/0")).unwrap().clone();
    }
    let config = runtime.reader().text(&config.to_string(), Path::new("/hooks.json"));
    let config = config.unwrap_or_else(|errors| panic!("{}: {errors}", case.name)).config;
    HookSet::load(runtime, Tenant::new(format!("{language} {}", case.name)), config).await.unwrap()
}

fn event_name(event: &Value) -> String {
    let name = ["hook_event_name", "event", "method"].iter().find_map(|key| event[*key].as_str());
    name.expect("an event's name").to_owned()
}

async fn judge(set: &HookSet, event: &Value, server: &Server) -> Went {
    let verdict = set.dispatch(event.to_string().replace("$SERVER", &server.url(""))).await.unwrap();
    let ran = verdict.hooks.iter().find_map(|hook| match &hook.status {
        Status::Ran(run) => Some(run),
        _ => None,
    });
    let run = ran.unwrap_or_else(|| panic!("it did not run: {event}: {:?}", verdict.hooks));
    let logs = run.logs.iter().map(|line| format!("{} {}", line.level.word(), line.message)).collect();
    let (fault, output) = match &run.result {
        Ok(output) => (None, format!("{output:?}")),
        Err(failure) => (Some((failure.cause.word().to_owned(), failure.message.clone())), String::new()),
    };
    Went { wire: verdict.wire.clone().unwrap_or_default(), logs, fault, said: format!("{output} {:?}", run.notes) }
}

/// Echoes the request, or answers as a language model that repeats the question.
fn answer(request: &str) -> String {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    if !head.starts_with("POST /v1/messages") {
        let mark =
            if head.contains("x-a: 1") && head.contains("content-type: application/json") { "yes" } else { "no" };
        return response("201 Created", &format!("x-answer: {mark}\r\n"), body);
    }
    let asked: Value = serde_json::from_str(body).unwrap();
    let text = format!("{} {} {}", asked["messages"][0]["content"], asked["system"], asked["max_tokens"]);
    let answer = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "content": [{ "type": "text", "text": text }], "usage": { "input_tokens": 5, "output_tokens": 7 },
    });
    response("200 OK", "content-type: application/json\r\n", &answer.to_string())
}
