//! Host calls of a component reach the granted capability with the right hook's scope, and end at the deadline.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use hookbox_sandbox::{
    CallContext, Component, Limits, Permissions, Run,
    capability::{Capabilities, Scope, State, StateError},
    permission::StateGrant,
};
use hookbox_testing::guest::{self, GATE, claude, context, encode, event, gate};

/// Records the deleted keys per hook; never returns for the key `slow`.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

#[async_trait]
impl State for Recorder {
    async fn delete(&self, scope: &Scope, key: &str) -> Result<bool, StateError> {
        if key == "slow" {
            std::future::pending::<()>().await;
        }
        let session = scope.session.as_deref().unwrap_or("-");
        self.0.lock().unwrap().push(format!("{} {} {session} {key}", scope.tenant, scope.hook));
        Ok(true)
    }
    async fn get(&self, _: &Scope, _: &str) -> Result<Option<String>, StateError> {
        Ok(None)
    }
    async fn set(&self, _: &Scope, _: &str, _: &str, _: Option<u64>) -> Result<(), StateError> {
        Ok(())
    }
    async fn increment(&self, _: &Scope, _: &str, by: i64, _: Option<u64>) -> Result<i64, StateError> {
        Ok(by)
    }
    async fn compare_and_swap(
        &self,
        _: &Scope,
        _: &str,
        _: Option<&str>,
        _: &str,
        _: Option<u64>,
    ) -> Result<bool, StateError> {
        Ok(true)
    }
    async fn keys(&self, _: &Scope, _: &str) -> Result<Vec<String>, StateError> {
        Ok(Vec::new())
    }
}

/// A guest that deletes this key of four letters, and traps unless the result is `ok(expected)`.
fn deletes(key: &str, result: u32) -> Component {
    let items = format!(
        r#"(import "hookbox:hooks/state@0.2.0" "delete" (func $delete (param i32 i32 i32)))
           (data (i32.const 4096) "{key}")"#
    );
    let body = format!(
        "(call $delete (i32.const 4096) (i32.const 4) (i32.const 8192))
         (if (i32.ne (i32.load8_u (i32.const 8192)) (i32.const {result})) (then (unreachable)))"
    );
    let bytes = encode(&gate(&body, &items), &format!("import hookbox:hooks/state@0.2.0; {GATE}"), "");
    let permissions = Permissions { state: Some(StateGrant::Enabled(true)), ..Permissions::default() };
    Component::new(&guest::engine(), &bytes, &permissions, Path::new(".")).unwrap()
}

async fn call_with(component: &Component, capabilities: Capabilities, timeout: Duration) -> Run {
    let context = CallContext {
        session: Some("s1".into()),
        capabilities: Arc::new(capabilities),
        ..context(Limits::default(), timeout)
    };
    component.call(&event(), claude(), context).await
}

#[tokio::test]
async fn a_call_reaches_the_store_with_its_scope() {
    let recorder = Arc::new(Recorder::default());
    let capabilities = Capabilities { state: Some(recorder.clone()), ..Capabilities::default() };
    let report = call_with(&deletes("seen", 0), capabilities, Duration::from_secs(5)).await;
    assert!(report.result.is_ok(), "{report:?}");
    assert_eq!(*recorder.0.lock().unwrap(), ["default guest s1 seen"]);
}

#[tokio::test]
async fn waiting_for_the_host_ends_at_the_deadline_too() {
    let capabilities = Capabilities { state: Some(Arc::new(Recorder::default())), ..Capabilities::default() };
    let begin = Instant::now();
    let report = call_with(&deletes("slow", 0), capabilities, Duration::from_millis(50)).await;
    assert_eq!(report.result.unwrap_err().to_string(), "timeout: did not return within its timeout");
    assert!(begin.elapsed() < Duration::from_secs(1));
}

/// The grant existed when the component was loaded, but the host has no capability: the interface returns an error, no
/// trap.
#[tokio::test]
async fn a_missing_capability_is_an_error() {
    let report = call_with(&deletes("seen", 1), Capabilities::default(), Duration::from_secs(5)).await;
    assert!(report.result.is_ok(), "{report:?}");
}
