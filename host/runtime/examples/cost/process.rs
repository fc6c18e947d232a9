//! The cost of the command line as a process, compared with the start of the process alone.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;

const STARTS: usize = 200;

pub fn report(program: &Path, guard: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("hooks.json");
    let entry = json!({ "type": "wasm", "component": guard.canonicalize().unwrap() });
    fs::write(&config, json!({ "hooks": { "PreToolUse": [{ "hooks": [entry] }] } }).to_string()).unwrap();
    let event = crate::event(&json!({ "command": crate::COMMAND }));
    let (mut version, mut run) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        version.push(time(Command::new(program).arg("--version"), b""));
        run.push(time(Command::new(program).args(["run", "--diagnostics", "off", "--config"]).arg(&config), &event));
    }
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let (version, run) = (median(version), median(run));
    println!("\nthe command line, {} MB, from start to end", fs::metadata(program).unwrap().len() / 1_000_000);
    println!("  --version   {version:.1?}");
    println!("  run         {run:.1?}  ×{:.2}", run.as_secs_f64() / version.as_secs_f64());
}

fn time(command: &mut Command, stdin: &[u8]) -> Duration {
    let begin = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // A process that does not read its stdin may exit before everything is written.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    assert!(child.wait().unwrap().success());
    begin.elapsed()
}
