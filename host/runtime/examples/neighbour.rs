//! Measures the cost of a hostile neighbour for an honest tenant: the latency of the honest hook alone, and beside a
//! component that uses all the resources it can get, in a loop. `just bench` runs it.
//!
//! All tenants share the two threads of one runtime, and there are more neighbours than threads. Latency counts from
//! the scheduled arrival of the event, so it includes the wait for a thread.
//!
//! With a file as its argument, it writes the first neighbour to that file for `just bench-serve`, and exits.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

use hookbox_testing::guest;
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use hookbox_sandbox::{Component, Engine, EngineOptions, Limits, Permissions};

const CALLS: usize = 2000;
/// The interval between the honest tenant's events.
const PAUSE: Duration = Duration::from_millis(2);
/// The number of neighbours: more than there are threads.
const NEIGHBOURS_AT_ONCE: usize = 4;
/// The behaviours of neighbours until their timeout.
const NEIGHBOURS: &[(&str, &str)] = &[
    ("computes without end", "(loop $again (br $again))"),
    (
        "writes to all its memory",
        "(drop (memory.grow (i32.const 900)))
         (loop $again (memory.fill (i32.const 65536) (i32.const 1) (i32.const 58000000)) (br $again))",
    ),
    ("calls itself too deeply", "(call $deep)"),
];
const DEEP: &str = "(func $deep (call $deep) (call $deep))";
/// The honest hook's work: a loop of a thousand iterations.
const WORK: &str = "(local $i i32) (loop $again (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $again (i32.lt_u (local.get $i) (i32.const 1000))))";

fn main() {
    let encode = |body| guest::encode(&guest::gate(body, DEEP), guest::GATE, "");
    if let Some(file) = std::env::args().nth(1) {
        return std::fs::write(file, encode(NEIGHBOURS[0].1)).unwrap();
    }
    let engine = Engine::new(EngineOptions::default()).unwrap();
    let load = |body| Component::new(&engine, &encode(body), &Permissions::default(), Path::new(".")).unwrap();
    let honest = load(WORK);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    measure(&runtime, &honest);

    println!("{CALLS} calls of an honest hook beside {NEIGHBOURS_AT_ONCE} neighbours, of which each");
    println!(
        "{:26}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}",
        "", "p50 alone", "beside", "ratio", "p99 alone", "beside", "ratio"
    );
    for (name, body) in NEIGHBOURS {
        let alone = measure(&runtime, &honest);
        let over = Arc::new(AtomicBool::new(false));
        let hostile = load(body);
        let neighbours: Vec<_> =
            (0..NEIGHBOURS_AT_ONCE).map(|_| runtime.spawn(disturb(hostile.clone(), Arc::clone(&over)))).collect();
        let beside = measure(&runtime, &honest);
        over.store(true, Ordering::Relaxed);
        for neighbour in neighbours {
            runtime.block_on(neighbour).unwrap();
        }
        let columns = |alone: Duration, beside: Duration| {
            format!("{alone:>10.1?}  {beside:>10.1?}  {:>10.2}", beside.as_secs_f64() / alone.as_secs_f64())
        };
        println!("{name:26}  {}  {}", columns(alone.0, beside.0), columns(alone.1, beside.1));
    }
}

/// Calls a component in a loop, with more fuel than it can use before its timeout.
async fn disturb(hostile: Component, over: Arc<AtomicBool>) {
    let limits = Limits { fuel: 1 << 60, ..Limits::default() };
    while !over.load(Ordering::Relaxed) {
        let mut context = guest::context(limits.clone(), Duration::from_millis(50));
        context.tenant = "neighbour".into();
        hostile.call(&guest::event(), guest::claude(), context).await;
        // In reality, its next event would arrive over a connection.
        tokio::task::yield_now().await;
    }
}

/// Measures the median and the 99th percentile.
fn measure(runtime: &tokio::runtime::Runtime, component: &Component) -> (Duration, Duration) {
    let component = component.clone();
    let calls = runtime.spawn(async move {
        let mut times = Vec::with_capacity(CALLS);
        let begin = Instant::now();
        for number in 1..=CALLS {
            // A late call does not delay the arrival of the next ones.
            let arrival = begin + PAUSE * u32::try_from(number).unwrap();
            tokio::time::sleep_until(arrival.into()).await;
            let context = guest::context(Limits::default(), Duration::from_secs(10));
            let report = component.call(&guest::event(), guest::claude(), context).await;
            times.push(arrival.elapsed());
            assert!(report.result.is_ok(), "{report:?}");
        }
        times.sort();
        (times[CALLS / 2], times[CALLS * 99 / 100])
    });
    runtime.block_on(calls).unwrap()
}
