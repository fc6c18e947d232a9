//! What "in time" is, counted in ticks of a clock that the test holds.
#![allow(clippy::unwrap_used)]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox_protocol::dialect;
// Of this the text and bytes only: its types are those of another build of this crate.
use hookbox_testing::guest::{GATE, encode, gate};

use super::{Engine, EngineOptions};
use crate::{CallContext, Component, Limits, Permissions, capability::Capabilities};

const SPIN: &str = "(loop $again (br $again))";

/// An engine whose clock stands still.
fn still() -> Engine {
    let engine = Engine::new(EngineOptions::default()).unwrap();
    engine.inner.clock.change(|state| state.closed = true);
    engine
}

/// Runs a guest that does not end, lets its deadline pass, and ticks once.
async fn gone_at_the_first_tick(module: &str) {
    let engine = still();
    let component =
        Component::new(&engine, &encode(module, GATE, ""), &Permissions::default(), Path::new(".")).unwrap();
    let deadline = Instant::now() + Duration::from_millis(20);
    let call = tokio::spawn(async move {
        let dialect = dialect::by_name("claude").unwrap();
        let wire = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
        let event = dialect.decode_event(wire, None).unwrap();
        let context = CallContext {
            tenant: "default".into(),
            hook: "guest".into(),
            session: None,
            config_json: "{}".into(),
            limits: Limits { fuel: 1 << 34, ..Limits::default() },
            deadline,
            capabilities: Arc::new(Capabilities::default()),
        };
        component.call(&event, dialect, context).await
    });
    // From here on its store has seen no tick.
    while engine.inner.clock.state.lock().unwrap().calls == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep_until(deadline.into()).await;
    engine.wasmtime().increment_epoch();
    let run = call.await.unwrap();
    assert_eq!(run.result.unwrap_err().to_string(), "timeout: did not answer within its timeout");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_tick_after_its_deadline_ends_a_guest() {
    let post_return =
        format!(r#"(func (export "cabi_post_hookbox:hooks/pre-tool-use@0.2.0#handle") (param i32) {SPIN})"#);
    let start = format!("(func $start {SPIN}) (start $start)");
    let realloc = gate("", "").replace("(local $at i32)", &format!("(local $at i32) {SPIN}"));
    for module in [gate(SPIN, ""), gate("", &start), realloc, gate("", &post_return)] {
        gone_at_the_first_tick(&module).await;
    }
}
