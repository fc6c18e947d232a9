//! Tests of deadlines, counted in ticks of a clock that the test controls.
#![allow(clippy::unwrap_used)]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox_protocol::dialect;
// Only the text and bytes of this crate are used: its types come from another build of the sandbox.
use hookbox_testing::guest::{GATE, encode, gate};

use super::{Engine, EngineOptions};
use crate::{CallContext, Component, Limits, Permissions, Run, capability::Capabilities};

const SPIN: &str = "(loop $again (br $again))";

/// Returns an engine whose clock never ticks.
fn still() -> Engine {
    let engine = Engine::new(EngineOptions::default()).unwrap();
    engine.inner.clock.close();
    engine
}

/// Calls a guest once.
async fn call(engine: Engine, module: String, world: String, deadline: Instant) -> Run {
    let bytes = encode(&module, &world, "");
    let component = Component::new(&engine, &bytes, &Permissions::default(), Path::new(".")).unwrap();
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
}

/// Runs a guest that never ends, lets its deadline pass, and ticks once.
async fn gone_at_the_first_tick(module: &str) {
    let engine = still();
    let deadline = Instant::now() + Duration::from_millis(200);
    let call = tokio::spawn(call(engine.clone(), module.to_owned(), GATE.to_owned(), deadline));
    // From here on the call's store has seen no tick.
    while engine.inner.clock.calls() == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep_until(deadline.into()).await;
    engine.wasmtime().increment_epoch();
    let run = call.await.unwrap();
    assert_eq!(run.result.unwrap_err().to_string(), "timeout: did not return within its timeout");
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

#[tokio::test]
async fn short_calls_without_host_calls_need_no_clock() {
    let log = r#"(import "hookbox:hooks/log@0.2.0" "log" (func $log (param i32 i32 i32)))"#;
    let logs = format!("import hookbox:hooks/log@0.2.0; {GATE}");
    let counts = "(local $n i32)
        (loop $again (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 99999))))";
    for (module, world, starts) in
        [(gate("", ""), GATE, false), (gate(counts, ""), GATE, true), (gate("", log), &logs, true)]
    {
        let engine = Engine::new(EngineOptions::default()).unwrap();
        let run = call(engine.clone(), module, world.to_owned(), Instant::now() + Duration::from_mins(1)).await;
        assert!(run.result.is_ok(), "{:?}", run.result);
        assert_eq!(engine.inner.clock.is_started(), starts, "{world}");
    }
}
