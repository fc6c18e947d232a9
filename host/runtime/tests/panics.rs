//! A panic in the embedder's code is a failure of one hook. The outputs of the other hooks still count.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{fs, path::Path, sync::Arc};

use hookbox::{
    ComponentSource, EventKind, HookOutput, HookSet, LoadError, Runtime, RuntimeBuilder, Tenant, Wanted, async_trait,
    capability::{
        StateError,
        state::{Space, Store},
    },
    config::Diagnostic,
    handler::{Call, Handler, HandlerEntry},
    sandbox::Run,
};
use hookbox_testing::guest::{GATE, encode, gate};
use serde_json::{Value, json};

/// A handler that panics in the given method.
struct Panics(String);

impl Panics {
    fn here(&self, place: &str) {
        assert_ne!(self.0, place, "as it was told");
    }
}

#[async_trait]
impl Handler for Panics {
    async fn start(&self) -> Result<(), String> {
        self.here("start");
        Ok(())
    }
    fn handles(&self, _: EventKind) -> bool {
        self.here("handles");
        true
    }
    fn digest(&self) -> Option<Arc<str>> {
        self.here("digest");
        None
    }
    fn unusable(&self) -> Option<&Diagnostic> {
        self.here("unusable");
        None
    }
    async fn call(&self, _: Call<'_>) -> Run {
        self.here("call");
        Run::new(Ok(HookOutput::default()))
    }
}

#[async_trait]
impl ComponentSource for Panics {
    async fn fetch(&self, wanted: &Wanted<'_>) -> Result<Vec<u8>, LoadError> {
        self.here("fetch");
        Ok(fs::read(wanted.file).unwrap())
    }
}

#[async_trait]
impl Store for Panics {
    async fn get(&self, _: &Space, _: &str) -> Result<Option<String>, StateError> {
        panic!("as it was told")
    }
    async fn set(&self, _: &Space, _: &str, _: &str, _: Option<u64>) -> Result<(), StateError> {
        panic!("as it was told")
    }
    async fn delete(&self, _: &Space, _: &str) -> Result<bool, StateError> {
        panic!("as it was told")
    }
    async fn increment(&self, _: &Space, _: &str, _: i64, _: Option<u64>) -> Result<i64, StateError> {
        panic!("as it was told")
    }
    async fn compare_and_swap(
        &self,
        _: &Space,
        _: &str,
        _: Option<&str>,
        _: &str,
        _: Option<u64>,
    ) -> Result<bool, StateError> {
        panic!("as it was told")
    }
    async fn keys(&self, _: &Space, _: &str) -> Result<Vec<String>, StateError> {
        panic!("as it was told")
    }
}

fn runtime(folder: &Path) -> RuntimeBuilder {
    let make = |entry: &HandlerEntry<'_>| {
        let place = entry.options.get("at").and_then(Value::as_str).unwrap_or_default().to_owned();
        assert_ne!(place, "made", "as it was told");
        Ok(Arc::new(Panics(place)) as _)
    };
    Runtime::builder().cache_dir(folder.join("cache")).handler("panics", make)
}

/// The verdict of this hook alone, or together with one that denies.
async fn decided(runtime: &Runtime, folder: &Path, hook: &Value, beside: bool, closed: bool) -> hookbox::Verdict {
    let denies = json!({ "type": "command", "command": "echo no >&2; exit 2" });
    let hooks: Vec<&Value> = std::iter::once(hook).chain(beside.then_some(&denies)).collect();
    let config = json!({ "failClosed": closed, "hooks": { "PreToolUse": [{ "hooks": hooks }] } });
    let config = runtime.reader().text(&config.to_string(), &folder.join("hooks.json")).unwrap().config;
    let hooks = HookSet::builder(runtime, Tenant::new("acme"), config).lazy().load().await.unwrap();
    let event = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    hooks.decide(hookbox::Request::new(event.as_bytes())).await.verdict().unwrap().clone()
}

async fn is_one_hooks_failure(runtime: &Runtime, folder: &Path, hook: &Value) {
    let beside = decided(runtime, folder, hook, true, false).await;
    assert_eq!((beside.output().word(), beside.hooks[0].word()), ("deny", "failed"), "{hook}");
    assert!(beside.reason().unwrap().contains("no"), "{hook} {beside:?}");
    let alone = decided(runtime, folder, hook, false, false).await;
    assert_eq!(alone.output().word(), "nothing", "{hook}");
    let closed = decided(runtime, folder, hook, false, true).await;
    assert_eq!(closed.output().word(), "deny", "{hook}");
}

#[tokio::test]
async fn a_panic_of_a_handler_fails_one_hook() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(folder.path()).build().unwrap();
    for place in ["made", "start", "handles", "call"] {
        is_one_hooks_failure(&runtime, folder.path(), &json!({ "type": "panics", "at": place })).await;
    }
    // Its output counts, even if a later method panics.
    for place in ["digest", "unusable"] {
        let beside = decided(&runtime, folder.path(), &json!({ "type": "panics", "at": place }), true, true).await;
        assert_eq!(beside.output().word(), "deny", "{place}");
    }
}

#[tokio::test]
async fn a_panic_of_a_source_or_store_fails_one_hook() {
    let folder = tempfile::tempdir().unwrap();
    let import = r#"(import "hookbox:hooks/state@0.2.0" "delete" (func $delete (param i32 i32 i32)))"#;
    let body = "(call $delete (i32.const 4096) (i32.const 1) (i32.const 8192))";
    let world = format!("import hookbox:hooks/state@0.2.0; {GATE}");
    fs::write(folder.path().join("hook.wasm"), encode(&gate(body, import), &world, "")).unwrap();
    let hook = json!({ "type": "wasm", "component": "hook.wasm", "permissions": { "state": true } });
    let source = runtime(folder.path()).components(Panics("fetch".into())).build().unwrap();
    is_one_hooks_failure(&source, folder.path(), &hook).await;
    let store = runtime(folder.path()).state(Panics(String::new())).build().unwrap();
    is_one_hooks_failure(&store, folder.path(), &hook).await;
}
