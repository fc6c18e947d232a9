//! Every line that was recorded from a real client, with a component that gives an empty answer: the verdict is empty too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use hookbox_testing::examples;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use hookbox::{HookSet, config::Config};
use serde_json::{Value, json};

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())).map(|e| e.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "json") {
            found.push(path);
        }
    }
    found
}

async fn host(dialect: &str, hooks: Value) -> HookSet {
    let text = json!({ "dialect": dialect, "hooks": hooks }).to_string();
    let loaded = Config::parse(&text, Path::new("hooks.json"), None).unwrap_or_else(|e| panic!("{e}"));
    HookSet::standalone().config(loaded.config).build().await.unwrap_or_else(|e| panic!("{e}"))
}

async fn silent(host: &HookSet, wire: &[u8], path: &Path) -> Option<Value> {
    let verdict = host.dispatch(wire).await.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(verdict.hooks.len(), 1, "{}: the hook is not for it", path.display());
    let outcome = verdict.hooks[0].outcome().unwrap_or_else(|| panic!("{}: did not run", path.display()));
    assert!(outcome.as_ref().is_ok_and(|output| output.is_silent()), "{}: {outcome:?}", path.display());
    verdict.wire
}

#[tokio::test]
async fn a_hook_without_output_changes_nothing() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples");
    let handler = json!({ "type": "wasm", "component": examples::component("do-nothing") });
    for (folder, dialect, at_least) in
        [("claude", "claude", 75), ("claude_sdk_callback", "claude", 30), ("codebuddy", "codebuddy", 60)]
    {
        let found = files(&samples.join(folder));
        assert!(found.len() >= at_least, "{folder}: {}", found.len());
        let wires: Vec<Vec<u8>> = found.iter().map(|path| fs::read(path).unwrap()).collect();
        let name = |wire: &Vec<u8>| {
            let event: Value = serde_json::from_slice(wire).unwrap();
            event["hook_event_name"].as_str().unwrap().to_owned()
        };
        let names: BTreeSet<String> = wires.iter().map(name).collect();
        let hooks = names.into_iter().map(|name| (name, json!([{ "hooks": [handler] }]))).collect();
        let host = host(dialect, Value::Object(hooks)).await;
        for (path, wire) in found.iter().zip(&wires) {
            assert_eq!(silent(&host, wire, path).await, Some(json!({})), "{}", path.display());
        }
    }
}

#[tokio::test]
async fn picoclaw_continues() {
    let samples = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples/picoclaw"));
    let mut handler = json!({ "type": "wasm", "component": examples::component("do-nothing") });
    handler["intercept"] = json!(["before_llm", "after_llm", "before_tool", "after_tool", "approve_tool"]);
    handler["observe"] = json!(["*"]);
    let host = host("picoclaw", json!({ "quiet": handler })).await;
    for path in samples {
        let wire = fs::read(&path).unwrap();
        let request: Value = serde_json::from_slice(&wire).unwrap();
        let verdict = host.dispatch(&wire).await.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let result = match request["method"].as_str().unwrap() {
            "hook.event" | "hook.runtime_event" => {
                assert_eq!(verdict.wire, None, "{}", path.display());
                continue;
            }
            "hook.hello" => json!({ "ok": true, "name": request["params"]["name"] }),
            "hook.approve_tool" => json!({ "approved": true }),
            _ => json!({ "action": "continue" }),
        };
        let expected = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        assert_eq!(verdict.wire, Some(expected), "{}", path.display());
    }
}
