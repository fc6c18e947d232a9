//! A thousand hook sets on one runtime.

use std::{
    fs,
    time::{Duration, Instant},
};

use hookbox::{Config, HookSet, Runtime, Tenant};
use serde_json::json;

const SETS: usize = 1000;
const COMPONENTS: usize = 100;

pub async fn report(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..COMPONENTS {
        fs::write(folder.path().join(format!("{number}.wasm")), crate::variant(bytes, number)).unwrap();
    }
    let runtime = Runtime::builder().cache_dir(folder.path().join("cache")).build().unwrap();
    let (mut sets, mut times) = (Vec::new(), Vec::new());
    let before = status("VmRSS");
    for number in 0..SETS {
        let entries: Vec<_> = (0..10)
            .map(|entry| json!({ "type": "wasm", "component": format!("{}.wasm", (number * 10 + entry) % COMPONENTS) }))
            .collect();
        let config = json!({ "hooks": { "PreToolUse": [{ "hooks": entries }] } }).to_string();
        let begin = Instant::now();
        let config = Config::parse(&config, &folder.path().join("hooks.json"), None).unwrap().config;
        sets.push(HookSet::load(&runtime, Tenant::new(format!("t{number}")), config).await.unwrap());
        times.push(begin.elapsed());
    }
    // The first ten sets compile components. A later median over so few would be noise.
    let (compiled, first, last) =
        (times[..10].iter().sum::<Duration>() / 10, median(&times[10..110]), median(&times[SETS - 100..]));
    println!("\n{SETS} hook sets of 10 hooks, {COMPONENTS} components, one runtime");
    println!("  resident  {} MiB, of which {} MiB before", status("VmRSS") >> 10, before >> 10);
    println!("  threads   {}", status("Threads"));
    println!("  compiled  {} components", runtime.components());
    println!(
        "  loading   {compiled:.1?} each for the first ten, which are compiled; {first:.1?} for the hundred then, {last:.1?} for the last hundred: ×{:.2}",
        last.as_secs_f64() / first.as_secs_f64()
    );
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times[times.len() / 2]
}

/// A number from this process's status. Memory is in KiB.
fn status(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
