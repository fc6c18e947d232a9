//! Every misbehaviour of a component ends in the matching failure.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    path::Path,
    time::{Duration, Instant},
};

use hookbox_protocol::Cause;
use hookbox_sandbox::{Component, Engine, EngineOptions, Limits, Permissions, Profile};
use hookbox_testing::guest::{self, call, claude, context, encode, event, failure, gate, load, load_gate, output};

const SPIN: &str = "(loop $again (br $again))";
const MORE_FUEL_THAN_TIME: u64 = 1 << 60;

fn endless() -> Limits {
    Limits { fuel: MORE_FUEL_THAN_TIME, ..Limits::default() }
}

#[tokio::test]
async fn a_loop_runs_out_of_fuel() {
    let report = call(&load_gate(SPIN, ""), Limits { fuel: 100_000, ..Limits::default() }).await;
    assert_eq!(report.result.unwrap_err().to_string(), "out-of-fuel: used up its 100000 units of fuel");
    assert_eq!(report.fuel, Some(100_000));
}

#[tokio::test]
async fn fuel_is_the_same_every_time() {
    let items = "(func $down (param i32) (if (local.get 0) (then (call $down (i32.sub (local.get 0) (i32.const 1))))))";
    let component = load_gate("(call $down (i32.const 100))", items);
    let first = call(&component, Limits::default()).await;
    assert!(first.result.is_ok() && first.fuel > Some(100));
    for _ in 0..10 {
        assert_eq!(call(&component, Limits::default()).await.fuel, first.fuel);
    }
}

/// An instance may reuse the memory of an earlier call. The guest still sees only the component's own initial memory.
#[tokio::test]
async fn calls_do_not_share_memory() {
    let body = |from: u32| {
        format!(
            "(local $at i32)
            (drop (memory.grow (i32.const 63)))
            (local.set $at (i32.const {from}))
            (loop $next
                (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then unreachable))
                (i64.store (local.get $at) (i64.const -1))
                (local.set $at (i32.add (local.get $at) (i32.const 512)))
                (br_if $next (i32.lt_u (local.get $at) (i32.const {}))))",
            64 << 16
        )
    };
    let engine =
        Engine::new(EngineOptions { max_instances: std::num::NonZeroU32::MIN, ..EngineOptions::default() }).unwrap();
    let load = |body: String, items: &str| {
        let bytes = encode(&gate(&body, items), guest::GATE, "");
        Component::new(&engine, &bytes, &Permissions::default(), Path::new(".")).unwrap()
    };
    let one = load(body(32 << 10), "");
    let other = load(body(48 << 10), r#"(data (i32.const 40000) "what this one begins with")"#);
    for _ in 0..20 {
        for component in [&one, &other, &other, &one] {
            call(component, Limits::default()).await.result.unwrap();
        }
    }
}

/// Ends after its timeout, by the engine's clock. `src/engine/tests.rs` tests at which tick.
async fn gone_after_its_timeout(component: &Component) {
    let (begin, timeout) = (Instant::now(), Duration::from_millis(40));
    let report = component.call(&event(), claude(), context(endless(), timeout)).await;
    assert_eq!(report.result.unwrap_err().to_string(), "timeout: did not return within its timeout");
    assert!(begin.elapsed() >= timeout, "{:?}", begin.elapsed());
}

#[tokio::test]
async fn a_loop_is_gone_after_its_timeout() {
    gone_after_its_timeout(&load_gate(SPIN, "")).await;
}

#[tokio::test]
async fn a_loop_in_a_start_function_is_gone_after_its_timeout() {
    gone_after_its_timeout(&load_gate("", "(func $start (loop $again (br $again))) (start $start)")).await;
}

#[tokio::test]
async fn a_loop_in_realloc_is_gone_after_its_timeout() {
    let module = gate("", "").replace("(local $at i32)", "(local $at i32) (loop $again (br $again))");
    gone_after_its_timeout(&load(&encode(&module, guest::GATE, "")).unwrap()).await;
}

/// A single thread: if the guest did not yield, nothing else would run.
#[tokio::test(flavor = "current_thread")]
async fn a_busy_component_does_not_hold_its_thread() {
    let component = load_gate(SPIN, "");
    let context = context(endless(), Duration::from_secs(2));
    let (event, begin) = (event(), Instant::now());
    let ((), report) = tokio::join!(
        async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
        },
        component.call(&event, claude(), context),
    );
    assert_eq!(report.result.unwrap_err().cause, Cause::Timeout);
}

#[tokio::test]
async fn calls_beyond_the_pool_wait_and_fail_as_busy() {
    let options = EngineOptions { max_instances: std::num::NonZeroU32::MIN, ..EngineOptions::default() };
    let engine = Engine::new(options).unwrap();
    let bytes = encode(&gate(SPIN, ""), guest::GATE, "");
    let component = Component::new(&engine, &bytes, &Permissions::default(), Path::new(".")).unwrap();
    let (long, short) = (context(endless(), Duration::from_millis(100)), context(endless(), Duration::from_millis(20)));
    let (event, dialect) = (event(), claude());
    let (first, second) = tokio::join!(component.call(&event, dialect, long), component.call(&event, dialect, short));
    assert_eq!(first.result.unwrap_err().cause, Cause::Timeout);
    assert_eq!(second.result.unwrap_err().cause, Cause::Busy);
    let third =
        component.call(&event, dialect, context(Limits { fuel: 1000, ..endless() }, Duration::from_secs(1))).await;
    assert_eq!(third.result.unwrap_err().cause, Cause::OutOfFuel, "the place is free again");
}

#[tokio::test]
async fn recursion_overflows_the_stack() {
    let failure = failure("(call $deep)", "(func $deep (call $deep) (call $deep))").await;
    assert_eq!(failure.cause, Cause::StackOverflow, "{failure}");
}

#[tokio::test]
async fn growing_memory_without_end_is_out_of_memory() {
    let one_page = "(loop $again (drop (memory.grow (i32.const 1))) (br $again))";
    let at_once = "(drop (memory.grow (i32.const 65535)))";
    for body in [one_page, at_once] {
        let failure = failure(body, "").await;
        assert_eq!(failure.cause, Cause::OutOfMemory, "{failure}");
        assert!(failure.message.ends_with("the limit is 64 MiB"), "{failure}");
    }
}

/// The limit applies to the sum, which includes the initial memory.
#[tokio::test]
async fn initial_memory_counts() {
    let module = gate("", "").replace("(export \"memory\") 1)", "(export \"memory\") 900)");
    let component = load(&encode(&module, guest::GATE, "")).unwrap();
    assert!(call(&component, Limits::default()).await.result.is_ok());
    let report = call(&component, Limits { memory_mib: 16, ..Limits::default() }).await;
    assert_eq!(report.result.unwrap_err().cause, Cause::OutOfMemory);
}

#[tokio::test]
async fn growing_tables_without_end_is_out_of_memory() {
    let body = "(loop $again (drop (table.grow (ref.null func) (i32.const 1000))) (br $again))";
    let failure = failure(body, "(table 0 funcref)").await;
    assert_eq!(failure.cause, Cause::OutOfMemory, "{failure}");
}

#[tokio::test]
async fn traps_have_readable_messages() {
    for (body, words) in [
        ("(unreachable)", "trap: gave up (`unreachable`): a panic, or a failed assertion"),
        ("(drop (i32.div_u (i32.const 1) (i32.const 0)))", "trap: integer divide by zero"),
        ("(drop (i32.load (i32.const -4)))", "trap: out of bounds memory access"),
    ] {
        assert_eq!(failure(body, "").await.to_string(), words);
    }
}

#[tokio::test]
async fn a_malformed_result_is_a_trap() {
    let out_of_range = failure("(call $say (i32.const 4) (i32.const 8) (i32.const -16) (i32.const 32))", "").await;
    let not_utf8 = failure("(call $say (i32.const 4) (i32.const 8) (i32.const 8192) (i32.const 1)) (i32.store8 (i32.const 8192) (i32.const 255))", "").await;
    let no_such_case = failure("(i32.store8 (i32.const 4) (i32.const 77))", "").await;
    let bad_pointer = failure("(return (i32.const -4))", "").await;
    for failure in [out_of_range, not_utf8, no_such_case, bad_pointer] {
        assert_eq!(failure.cause, Cause::Trap, "{failure}");
        assert!(failure.message.starts_with("passed malformed data to the host: "), "{failure}");
        assert!(!failure.message.contains("::"), "no type names: {failure}");
    }
}

/// A denial whose reason is this many NUL characters, from a memory of 16 MiB.
fn long_reason(bytes: u32) -> String {
    format!(
        "(drop (memory.grow (i32.const 256)))
         (call $say (i32.const 4) (i32.const 8) (i32.const 65536) (i32.const {bytes})) (i32.store8 (i32.const 4) (i32.const 3))"
    )
}

#[tokio::test]
async fn an_output_over_its_limit_is_a_failure() {
    let within = output(&long_reason(1 << 20), "").await;
    assert_eq!(within.reason.unwrap().len(), 1 << 20);
    for bytes in [(1 << 20) + 1, 15 << 20] {
        let failure = failure(&long_reason(bytes), "").await;
        assert_eq!(failure.cause, Cause::OutputTooLarge, "{failure}");
        assert!(failure.message.contains("1024 KiB"), "{failure}");
    }
}

const LOG: &str = r#"(import "hookbox:hooks/log@0.2.0" "log" (func $log (param i32 i32 i32)))"#;

fn logging(body: &str) -> Component {
    let world = format!("import hookbox:hooks/log@0.2.0; {}", guest::GATE);
    load(&encode(&gate(body, &format!(r#"{LOG} (data (i32.const 4096) "hello")"#)), &world, "")).unwrap()
}

#[tokio::test]
async fn its_log_is_reported() {
    let report = call(&logging("(call $log (i32.const 2) (i32.const 4096) (i32.const 5))"), Limits::default()).await;
    assert_eq!(report.logs.len(), 1);
    assert_eq!((report.logs[0].level.word(), report.logs[0].message.as_str()), ("warn", "hello"));
}

#[tokio::test]
async fn logging_without_end_is_a_flood() {
    let component = logging("(loop $again (call $log (i32.const 0) (i32.const 4096) (i32.const 512)) (br $again))");
    let report = call(&component, Limits::default()).await;
    assert_eq!(report.result.unwrap_err().to_string(), "log-flood: wrote more than 64 KiB to the log");
    let bytes: usize = report.logs.iter().map(|line| line.message.len()).sum();
    assert!(bytes > 60_000 && bytes <= 64 << 10, "what it said before is kept: {bytes}");
}

#[tokio::test]
async fn host_calls_are_counted() {
    let component = logging("(loop $again (call $log (i32.const 0) (i32.const 0) (i32.const 0)) (br $again))");
    let report = call(&component, Limits { host_calls: 20, ..Limits::default() }).await;
    assert_eq!(report.result.unwrap_err().to_string(), "too-many-host-calls: called the host more than 20 times");
    assert_eq!(report.logs.len(), 20);
}

#[tokio::test]
async fn nothing_survives_a_call() {
    let body = "(if (i32.load8_u (i32.const 4096)) (then (unreachable))) (i32.store8 (i32.const 4096) (i32.const 1))";
    let component = load_gate(body, "");
    for _ in 0..3 {
        assert!(call(&component, Limits::default()).await.result.is_ok());
    }
}

/// One instruction runs for milliseconds and cannot be interrupted: see docs/security.md.
#[tokio::test]
async fn filling_memory_again_and_again_is_gone_after_its_timeout() {
    let fill = "(drop (memory.grow (i32.const 900)))
        (loop $again (memory.fill (i32.const 65536) (i32.const 1) (i32.const 58000000)) (br $again))";
    gone_after_its_timeout(&load_gate(fill, "")).await;
}

/// With a pool a component with more instances does not load. Without a pool it loads, and fails when it is called.
#[tokio::test]
async fn there_are_as_many_instances_without_a_pool_as_with_one() {
    let guest = encode(&gate("", ""), guest::GATE, "");
    for (more, fits) in [(40_u8, true), (100, false)] {
        // An empty core module and `more` instances of it. See the component model's binary format.
        let instances = [0, 1, 0].repeat(more.into());
        let [low, high, ..] = (instances.len() + 1).to_le_bytes();
        let size = [low | 0x80, high << 1 | low >> 7];
        let module = b"\x01\x08\0asm\x01\0\0\0";
        let bytes = [&guest, &module[..], &[2], &size, &[more], &instances].concat();
        for profile in [Profile::Resident, Profile::OneShot] {
            let engine = Engine::new(EngineOptions { profile, ..EngineOptions::default() }).unwrap();
            let ended = match Component::new(&engine, &bytes, &Permissions::default(), Path::new(".")) {
                Ok(component) => call(&component, Limits::default()).await.result.map_err(|why| why.to_string()),
                Err(error) => Err(error.to_string()),
            };
            assert_eq!(ended.is_ok(), fits, "{more} {profile:?}: {ended:?}");
            assert!(
                profile == Profile::Resident
                    || fits
                    || ended.unwrap_err().starts_with("out-of-memory: has too many parts")
            );
        }
    }
}
