//! The pool of instances has the configured size. Tests an exhausted pool.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use hookbox::{Cause, HookSet, Status, Verdict, config::Config};
use hookbox_testing::guest;
use serde_json::{Value, json};

const EVENT: &str = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
const SPIN: &str = "(loop $again (br $again))";

/// A host with these component files as hooks, and these limits.
async fn host(folder: &tempfile::TempDir, hooks: Value, settings: Value) -> HookSet {
    let text =
        json!({ "dialect": "blade", "host": settings, "hooks": { "PreToolUse": [{ "hooks": hooks }] } }).to_string();
    let loaded = Config::parse(&text, &folder.path().join("hooks.json"), None).unwrap_or_else(|e| panic!("{e}"));
    HookSet::standalone().config(loaded.config).cache_dir(folder.path().join("cache")).lazy().build().await.unwrap()
}

fn component(folder: &tempfile::TempDir, name: &str, module: &str) {
    std::fs::write(folder.path().join(name), guest::encode(module, guest::GATE, "")).unwrap();
}

/// The cause of each hook's failure, if it failed.
fn causes(verdict: &Verdict) -> Vec<Option<Cause>> {
    let cause = |status: &Status| match status {
        Status::Ran(ran) => ran.result.as_ref().err().map(|failure| failure.cause),
        other => panic!("{other:?}"),
    };
    verdict.hooks.iter().map(|hook| cause(&hook.status)).collect()
}

/// One instance and two concurrent hooks: the second waits until its timeout, and its error says that a retry may
/// succeed.
#[tokio::test]
async fn an_exhausted_pool_is_a_temporary_failure() {
    let folder = tempfile::tempdir().unwrap();
    component(&folder, "long.wasm", &guest::gate(SPIN, ""));
    component(&folder, "short.wasm", &guest::gate("", ""));
    let long = json!({ "type": "wasm", "component": "long.wasm", "timeout": 0.3, "limits": { "fuel": 1_u64 << 60 } });
    let short = json!({ "type": "wasm", "component": "short.wasm", "timeout": 0.05 });
    let host = host(&folder, json!([long, short]), json!({ "maxInstances": 1 })).await;
    host.check().await; // compiled before the clock runs

    let verdict = host.dispatch(EVENT).await.unwrap();
    assert_eq!(causes(&verdict), [Some(Cause::Timeout), Some(Cause::Busy)]);
    let record = json!(verdict.record(host.config(), EVENT.as_bytes()));
    assert_eq!(record.pointer("/hooks/1/cause"), Some(&json!("busy")));
    assert_eq!(
        record.pointer("/hooks/1/message"),
        Some(&json!("all instances were in use until the timeout; try again, or raise `maxInstances`"))
    );
}

/// Each instance has room for the largest `memoryMiB` of the file, even above the default of the host.
#[tokio::test]
async fn an_instance_fits_the_largest_limit() {
    let folder = tempfile::tempdir().unwrap();
    let fill = "(if (i32.eq (memory.grow (i32.const 24000)) (i32.const -1)) (then (unreachable)))";
    component(&folder, "large.wasm", &guest::gate(fill, ""));
    let large = |mib| json!({ "type": "wasm", "component": "large.wasm", "limits": { "memoryMiB": mib } });

    let wide = host(&folder, json!([large(16), large(2048)]), json!({ "maxInstances": 2 })).await;
    assert_eq!(causes(&wide.dispatch(EVENT).await.unwrap()), [Some(Cause::OutOfMemory), None]);
    let narrow = host(&folder, json!([large(16)]), json!({})).await;
    assert_eq!(causes(&narrow.dispatch(EVENT).await.unwrap()), [Some(Cause::OutOfMemory)]);
}

/// Tables have the same: room for the largest limit of the file.
#[tokio::test]
async fn each_hook_has_its_own_table_limit() {
    let folder = tempfile::tempdir().unwrap();
    let grow = "(if (i32.eq (table.grow (ref.null func) (i32.const 300000)) (i32.const -1)) (then (unreachable)))";
    component(&folder, "large.wasm", &guest::gate(grow, "(table 0 funcref)"));
    let large =
        |elements| json!({ "type": "wasm", "component": "large.wasm", "limits": { "tableElements": elements } });
    let host = host(&folder, json!([large(100), large(300_000)]), json!({ "maxInstances": 2 })).await;
    assert_eq!(causes(&host.dispatch(EVENT).await.unwrap()), [Some(Cause::OutOfMemory), None]);
}

/// A component whose initial memory exceeds the largest limit of the file can never run, so it does not load.
#[tokio::test]
async fn a_component_larger_than_an_instance_does_not_load() {
    let folder = tempfile::tempdir().unwrap();
    component(
        &folder,
        "large.wasm",
        &guest::gate("", "").replace("(export \"memory\") 1)", "(export \"memory\") 1600)"),
    );
    let host = host(&folder, json!([{ "type": "wasm", "component": "large.wasm" }]), json!({})).await;
    let verdict = host.dispatch(EVENT).await.unwrap();
    assert_eq!(causes(&verdict), [Some(Cause::Load)]);
    let error = verdict.unusable().next().unwrap().to_string();
    assert!(error.contains("starts with 100 MiB of memory") && error.contains(r#""memoryMiB": 100"#), "{error}");
}
