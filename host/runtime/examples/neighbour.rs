//! What a hostile neighbour costs an honest tenant: how long the honest hook's calls take alone, and beside a component
//! that never ends, called again and again. `just bench` runs it.
//!
//! Both run on the two threads of one runtime. The target, on a machine with a spare core: the 99th percentile grows by
//! a tenth at most.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "../tests/guest/mod.rs"]
mod guest;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use hookbox::{
    Component, Engine, EngineOptions,
    config::types::{Limits, Permissions},
};

const CALLS: usize = 5000;
/// The honest tenant's event comes this often.
const PAUSE: Duration = Duration::from_micros(500);
const SPIN: &str = "(loop $again (br $again))";
/// Some work: a thousand turns of a loop.
const WORK: &str = "(local $i i32) (loop $again (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $again (i32.lt_u (local.get $i) (i32.const 1000))))";

fn main() {
    let engine = Engine::new(EngineOptions::default()).unwrap();
    let load = |body| {
        let bytes = guest::encode(&guest::gate(body, ""), guest::GATE, "");
        Component::from_bytes(&engine, &bytes, &Permissions::default(), Path::new(".")).unwrap()
    };
    let (honest, hostile) = (load(WORK), load(SPIN));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();

    measure(&runtime, &honest);
    let alone = measure(&runtime, &honest);
    let over = Arc::new(AtomicBool::new(false));
    let neighbour = runtime.spawn({
        let over = Arc::clone(&over);
        async move {
            let limits = Limits { fuel: 1 << 60, ..Limits::default() };
            while !over.load(Ordering::Relaxed) {
                let context = guest::context(limits.clone(), Duration::from_millis(50));
                hostile.call(&guest::event(), guest::claude(), &context).await;
            }
        }
    });
    let beside = measure(&runtime, &honest);
    over.store(true, Ordering::Relaxed);
    runtime.block_on(neighbour).unwrap();

    println!("{CALLS} calls of an honest hook     p50         p99");
    println!("alone                      {:>8.1?}  {:>8.1?}", alone.0, alone.1);
    println!("beside a hostile neighbour {:>8.1?}  {:>8.1?}", beside.0, beside.1);
    let ratio = |beside: Duration, alone: Duration| beside.as_secs_f64() / alone.as_secs_f64();
    println!("ratio                      {:>8.2}  {:>8.2}", ratio(beside.0, alone.0), ratio(beside.1, alone.1));
}

/// The median and the 99th percentile.
fn measure(runtime: &tokio::runtime::Runtime, component: &Component) -> (Duration, Duration) {
    let component = component.clone();
    let calls = runtime.spawn(async move {
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            tokio::time::sleep(PAUSE).await;
            let context = guest::context(Limits::default(), Duration::from_secs(10));
            let (event, begin) = (guest::event(), Instant::now());
            let report = component.call(&event, guest::claude(), &context).await;
            times.push(begin.elapsed());
            assert!(report.result.is_ok(), "{report:?}");
        }
        times.sort();
        (times[CALLS / 2], times[CALLS * 99 / 100])
    });
    runtime.block_on(calls).unwrap()
}
