//! Measures the cost of hookbox, as ratios within one run. `just bench` runs it with the demo guard and the installed
//! command line.
//!
//! `cost GUARD.wasm [HOOKBOX]`

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs
)]

mod bare;
mod process;
mod sets;
mod table;

use std::{fs, path::Path};

use hookbox::{Config, HookSet, Runtime, Tenant};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::{
    bare::{Bare, Settings},
    table::{Times, compare},
};

const COMMAND: &str = "ls -la && cargo test --workspace";

fn main() {
    let mut args = std::env::args().skip(1);
    let guard = args.next().expect("the path of a component that handles PreToolUse");
    let bytes = fs::read(&guard).unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    tokio.block_on(async {
        let bench = Bench::new(&bytes);
        bench.one(&bytes).await;
        bench.settings(&bytes).await;
        bench.many().await;
        bench.large().await;
    });
    tokio.block_on(sets::report(&bytes));
    if let Some(program) = args.next() {
        process::report(Path::new(&program), Path::new(&guard));
    }
}

struct Bench {
    folder: TempDir,
    runtime: Runtime,
}

impl Bench {
    fn new(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..10 {
            fs::write(folder.path().join(format!("{number}.wasm")), variant(bytes, number)).unwrap();
        }
        let runtime = Runtime::builder().cache_dir(folder.path().join("cache")).build().unwrap();
        Self { folder, runtime }
    }

    async fn hooks(&self, components: impl IntoIterator<Item = usize>) -> HookSet {
        let entries: Vec<_> = components
            .into_iter()
            .map(|number| json!({ "type": "wasm", "component": format!("{number}.wasm") }))
            .collect();
        let config = json!({ "dialect": "claude", "hooks": { "PreToolUse": [{ "hooks": entries }] } }).to_string();
        let config = Config::parse(&config, &self.folder.path().join("hooks.json"), None).unwrap().config;
        HookSet::load(&self.runtime, Tenant::new("bench"), config).await.unwrap()
    }

    /// A whole event, from JSON to JSON, compared with wasmtime alone.
    async fn one(&self, bytes: &[u8]) {
        let (hooks, bare) = (self.hooks([0]).await, Bare::new(bytes, Settings::OURS));
        let event = event(&json!({ "command": COMMAND }));
        let [alone, ours] =
            compare(5000, async || bare.call(COMMAND).await, async || dispatch(&hooks, &event).await).await;
        println!("one component, wire JSON to wire JSON, beside bare wasmtime with the same settings");
        Times::print_beside("bare wasmtime", &alone, None);
        Times::print_beside("hookbox", &ours, Some(&alone));
    }

    /// The cost of each setting, relative to bare calls.
    async fn settings(&self, bytes: &[u8]) {
        println!("\nbare wasmtime, with one setting changed");
        let ours = Settings::OURS;
        let changed = [
            ("nothing resident", Settings { resident: 0, ..ours }),
            ("64 KiB resident", Settings { resident: 64 << 10, ..ours }),
            ("64 KiB, no scan", Settings { resident: 64 << 10, scan: false, ..ours }),
            ("no fuel", Settings { fuel: false, ..ours }),
            ("no epoch", Settings { epoch: false, ..ours }),
            ("no copy-on-write", Settings { copy_on_write: false, ..ours }),
            ("no pool", Settings { pool: false, ..ours }),
        ];
        let base = Bare::new(bytes, ours);
        for (name, settings) in changed {
            let other = Bare::new(bytes, settings);
            let [base, other] =
                compare(2000, async || base.call(COMMAND).await, async || other.call(COMMAND).await).await;
            Times::print_beside(name, &other, Some(&base));
        }
    }

    /// Ten entries: of one component, and of ten.
    async fn many(&self) {
        println!("\nten entries, beside one");
        let event = event(&json!({ "command": COMMAND }));
        let one = self.hooks([0]).await;
        for (name, hooks) in
            [("of one component", self.hooks([0; 10]).await), ("of ten components", self.hooks(0..10).await)]
        {
            let [one, ten] =
                compare(1000, async || dispatch(&one, &event).await, async || dispatch(&hooks, &event).await).await;
            Times::print_beside(name, &ten, Some(&one));
        }
    }

    /// An event of 1 MiB: a tool call that writes a source file.
    async fn large(&self) {
        println!("\nan event of 1 MiB, beside a small one");
        let hooks = self.hooks([0]).await;
        let small = event(&json!({ "command": COMMAND }));
        let source = include_str!("main.rs");
        let content = source.repeat((1 << 20) / source.len() + 1);
        let large = event(&json!({ "command": COMMAND, "content": content }));
        let [small, large] =
            compare(100, async || dispatch(&hooks, &small).await, async || dispatch(&hooks, &large).await).await;
        Times::print_beside("1 MiB", &large, Some(&small));
    }
}

async fn dispatch(hooks: &HookSet, event: &[u8]) {
    let verdict = hooks.dispatch(event).await.unwrap();
    assert!(verdict.hooks.iter().all(|hook| hook.run().is_some_and(|run| run.result.is_ok())), "{verdict:?}");
}

fn event(input: &Value) -> Vec<u8> {
    json!({
        "session_id": "af2a5440-ca4c-4c5f-a38f-d11e4f215b70",
        "cwd": "/home/dev/project",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": input,
        "tool_use_id": "toolu_main_0_0",
    })
    .to_string()
    .into_bytes()
}

/// The same component with another digest: adds a custom section at the end.
pub(crate) fn variant(bytes: &[u8], number: usize) -> Vec<u8> {
    let name = format!("variant-{number:04}");
    let mut varied = bytes.to_vec();
    varied.extend([0, u8::try_from(name.len() + 1).unwrap(), u8::try_from(name.len()).unwrap()]);
    varied.extend(name.as_bytes());
    varied
}
