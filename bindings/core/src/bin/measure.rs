//! The Rust library as the measure of the packages. `bindings/bench/bench.py` and `bench.mjs` start it, so that both sides are
//! measured in turns within one run.
//!
//! `hookbox-measure FOLDER` loads `FOLDER/hooks.json`, and answers each line on stdin with the nanoseconds that the work took:
//!
//! - `sync N`: N decisions, one after the other.
//! - `together N`: N decisions at the same time, on one thread for each processor.
//! - `threads T N`: T threads, each with N decisions.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::{fs, io, path::Path, sync::Arc, thread, time::Instant};

use hookbox::{Config, HookSet, Request, Runtime, Tenant};
use tokio::{runtime, task::JoinSet};

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let folder = Path::new(&folder);
    let event: Arc<[u8]> = fs::read(folder.join("event.json")).unwrap().into();
    let tokio = runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let config = Config::from_file(folder.join("hooks.json")).unwrap();
    let hookbox = Runtime::builder().build().unwrap();
    let hooks = tokio.block_on(HookSet::load(&hookbox, Tenant::of(&config), config)).unwrap();
    println!("ready");
    for line in io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let begin = Instant::now();
        match words.as_slice() {
            ["sync", times] => decide(&tokio, &hooks, &event, times.parse().unwrap()),
            ["together", times] => together(&tokio, &hooks, &event, times.parse().unwrap()),
            ["threads", threads, times] => {
                let times = times.parse().unwrap();
                thread::scope(|scope| {
                    for _ in 0..threads.parse::<usize>().unwrap() {
                        scope.spawn(|| decide(&tokio, &hooks, &event, times));
                    }
                });
            }
            _ => panic!("unknown work: {line}"),
        }
        println!("{}", begin.elapsed().as_nanos());
    }
}

fn decide(tokio: &runtime::Runtime, hooks: &HookSet, event: &[u8], times: usize) {
    for _ in 0..times {
        assert!(tokio.block_on(hooks.decide(Request::new(event))).blocks);
    }
}

fn together(tokio: &runtime::Runtime, hooks: &HookSet, event: &Arc<[u8]>, times: usize) {
    tokio.block_on(async {
        let mut deciding = JoinSet::new();
        for _ in 0..times {
            let (hooks, event) = (hooks.clone(), Arc::clone(event));
            deciding.spawn(async move { hooks.decide(Request::new(&event)).await.blocks });
        }
        assert!(deciding.join_all().await.into_iter().all(|blocks| blocks));
    });
}
