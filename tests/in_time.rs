//! The verdict arrives before the client's timeout, even if output cannot be written, an operation blocks, or a
//! resource is exhausted. All processes of hookbox end with it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "in_time/limits.rs"]
mod limits;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::UdpSocket,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use hookbox_testing::{
    guest::{DIRECTORY, FILES, GATE, bomb, encode, gate},
    process::fed,
};
use rustix::{
    fs::OFlags,
    process::{Pid, Signal, kill_process, test_kill_process},
};
use serde_json::{Value, json};

const HOOKBOX: &str = env!("CARGO_BIN_EXE_hookbox");
const CALL: &[u8] = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;

/// A folder with a configuration of these hooks.
fn folder(top: &Value, hooks: &[Value]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut config = json!({ "hooks": { "PreToolUse": [{ "hooks": hooks }] } });
    config.as_object_mut().unwrap().extend(top.as_object().unwrap().clone());
    fs::write(dir.path().join("hooks.json"), config.to_string()).unwrap();
    dir
}

fn hookbox(dir: &Path) -> Command {
    let mut command = Command::new(HOOKBOX);
    command.args(["run", "--config", "hooks.json"]).current_dir(dir);
    command.env("XDG_CACHE_HOME", dir).env("XDG_STATE_HOME", dir);
    command
}

/// Runs with a resource limit of the shell.
fn limited(dir: &Path, limit: &str) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit} && exec \"$0\" run --config hooks.json"), HOOKBOX]).current_dir(dir);
    fed(shell.env("XDG_CACHE_HOME", dir).env("XDG_STATE_HOME", dir), CALL)
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn said(output: &Output) -> String {
    format!(
        "{:?} {} {}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_hook_slower_than_the_client_counts_as_timed_out() {
    let slow = |policy: &str| json!({ "type": "command", "command": "sleep 600", "onFailure": policy, "timeout": 600 });
    for (hooks, told) in [
        (vec![slow("block")], "at the client's timeout"),
        (vec![slow("ignore")], "{}\n"),
        (vec![json!({ "type": "command", "command": "echo no >&2; exit 2" }), slow("ignore")], r#""no""#),
        (vec![slow("ignore"), slow("block")], "at the client's timeout"),
    ] {
        for (top, options) in [(json!({}), &["--deadline", "5"][..]), (json!({ "host": { "deadline": 5 } }), &[])] {
            let dir = folder(&top, &hooks);
            let output = fed(hookbox(dir.path()).args(options), CALL);
            assert!(output.status.success(), "{}", said(&output));
            assert!(String::from_utf8_lossy(&output.stdout).contains(told), "{told}: {}", said(&output));
        }
    }
}

/// A process that never stops writing short lines is ended, and delays neither the verdict nor the end.
#[test]
fn a_process_that_floods_with_lines_delays_nothing() {
    for command in [json!(["yes"]), json!(["yes", ""]), json!(["sh", "-c", "yes >&2"])] {
        let hook = json!({ "type": "process", "command": command, "timeout": 2 });
        let dir = folder(&json!({ "failClosed": true }), &[hook]);
        let begin = std::time::Instant::now();
        let output = fed(hookbox(dir.path()).args(["--deadline", "4", "--diagnostics", "off"]), CALL);
        assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""), "{command}: {}", said(&output));
        // Before, it took longer than half a minute.
        assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{command}: {:?}", begin.elapsed());
    }
}

/// Compilation counts against the timeout, even if many components are compiled at the same time.
#[test]
fn compiling_ends_with_the_clients_time() {
    let entry = json!({ "type": "wasm", "component": "bomb.wasm" });
    let dir = folder(&json!({ "failClosed": true }), &[entry.clone(), entry]);
    fs::write(dir.path().join("bomb.wasm"), bomb()).unwrap();
    thread::scope(|scope| {
        let runs: Vec<_> =
            (0..16).map(|_| scope.spawn(|| fed(hookbox(dir.path()).args(["--deadline", "2"]), CALL))).collect();
        for run in runs {
            let output = run.join().unwrap();
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && stdout.contains("(timeout: "), "{}", said(&output));
        }
    });
}

/// The time to pass an event to a hook is linear in its number of members.
#[test]
fn an_event_of_many_members_is_given_in_time() {
    let hook = json!({ "type": "wasm", "component": "hook.wasm", "timeout": 50 });
    let config = json!({ "hooks": { "BrandNew": [{ "hooks": [hook] }] } }).to_string();
    let module = gate("", "").replace("pre-tool-use", "other-event").replace("16384", "1048576");
    let module = module.replace(r#"(memory (export "memory") 1)"#, r#"(memory (export "memory") 64)"#);
    let members = (0..100_000).map(|n| format!(r#""k{n}":{n}"#)).collect::<Vec<_>>().join(",");
    let event = format!(r#"{{"hook_event_name":"BrandNew",{members}}}"#);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hooks.json"), config).unwrap();
    fs::write(dir.path().join("hook.wasm"), encode(&module, "export hookbox:hooks/other-event@0.2.0;", "")).unwrap();
    let output = fed(hookbox(dir.path()).args(["--deadline", "60"]), event.as_bytes());
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stderr).contains("nothing"),
        "{}",
        said(&output)
    );
    assert!(!String::from_utf8_lossy(&output.stderr).contains("failed"), "{}", said(&output));
}

/// A client that gets no verdict continues, unless the exit code blocks.
#[test]
fn an_unwritable_stdout_blocks_if_the_verdict_or_policy_does() {
    let says = |decision: &str| json!({ "type": "command", "command": format!("echo '{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"{decision}\"}}}}'"), "onFailure": "ignore" });
    for (top, decision, code) in [
        (json!({}), "allow", 70),
        (json!({}), "ask", 2),
        (json!({}), "deny", 2),
        (json!({ "failClosed": true }), "allow", 2),
    ] {
        let dir = folder(&top, &[says(decision)]);
        for stdout in [full, closed, read_only] {
            for stderr in [Stdio::null(), full(), closed()] {
                let mut child =
                    hookbox(dir.path()).stdin(Stdio::piped()).stdout(stdout()).stderr(stderr).spawn().unwrap();
                std::io::Write::write_all(&mut child.stdin.take().unwrap(), CALL).unwrap();
                assert_eq!(child.wait().unwrap().code(), Some(code), "{decision} {top}");
            }
        }
    }
}

/// Verdicts to a stdout that is closed or /dev/null. An empty verdict needs no reader.
#[test]
fn a_closed_stdout_blocks_if_the_verdict_or_policy_does() {
    for (command, closed, code) in [("true", false, 0), ("true", true, 2), ("echo no >&2; exit 2", false, 2)] {
        let dir = folder(&json!({ "failClosed": closed }), &[json!({ "type": "command", "command": command })]);
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec >&-; exec \"$0\" run --config hooks.json", HOOKBOX]).current_dir(dir.path());
        let mut nowhere = hookbox(dir.path());
        for command in [&mut shell, nowhere.stdout(Stdio::null())] {
            command.env("XDG_CACHE_HOME", dir.path()).env("XDG_STATE_HOME", dir.path()).stderr(Stdio::null());
            let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), CALL).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(code), "{closed}");
        }
    }
}

/// Diagnostics that cannot be written do not change the verdict.
#[test]
fn a_stderr_that_cannot_be_written_changes_nothing() {
    let hooks = [json!({ "type": "command", "command": "echo no >&2; exit 2" })];
    for options in [&[][..], &["--diagnostics", "json"], &["--record", "/dev/full"], &["--record", "/no/such/folder"]] {
        for stderr in [full, closed] {
            let dir = folder(&json!({}), &hooks);
            let (mut told, stdout) = std::io::pipe().unwrap();
            let mut command = hookbox(dir.path());
            command.args(options).stdin(Stdio::piped()).stdout(stdout).stderr(stderr());
            let mut child = command.spawn().unwrap();
            drop(command);
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), CALL).unwrap();
            let mut verdict = String::new();
            std::io::Read::read_to_string(&mut told, &mut verdict).unwrap();
            assert!(child.wait().unwrap().success() && verdict.contains(r#""deny""#), "{options:?}: {verdict}");
        }
    }
}

/// A full disk.
fn full() -> Stdio {
    fs::OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

/// A file that is open for reading only.
fn read_only() -> Stdio {
    fs::File::open(HOOKBOX).unwrap().into()
}

/// A pipe without a reader.
fn closed() -> Stdio {
    std::io::pipe().unwrap().1.into()
}

/// hookbox does not depend on the stack size that it inherits from the client.
#[test]
fn a_small_stack_is_enough() {
    let dir = folder(&json!({ "failClosed": true }), &[json!({ "type": "command", "command": "true" })]);
    for size in ["64", "128", "1024"] {
        let output = limited(dir.path(), &format!("-s {size}"));
        assert!(output.status.code() == Some(0) && output.stdout == b"{}\n", "{size}: {}", said(&output));
    }
}

/// Unknown options fail closed.
#[test]
fn unknown_options_block_if_failures_do() {
    let dir = folder(&json!({ "failClosed": true }), &[]);
    fs::write(dir.path().join("open.json"), "{}").unwrap();
    for (words, code) in [
        (&["run", "--config", "hooks.json", "--not-yet"][..], 2),
        (&["run", "--config=hooks.json", "--not-yet"], 2),
        (&["run", "--not-yet", "1", "--fail-closed"], 2),
        (&["run", "--config", "open.json", "--not-yet"], 64),
        (&["check", "--config", "hooks.json", "--not-yet"], 64),
    ] {
        let output = Command::new(HOOKBOX).args(words).current_dir(dir.path()).output().unwrap();
        assert!(output.status.code() == Some(code) && output.stdout.is_empty(), "{words:?} {}", said(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains("--not-yet"), "{words:?} {}", said(&output));
    }
}

/// An environment variable from before an agent's start does not open a gate of that agent.
#[test]
fn a_command_that_is_not_started_denies_before_a_tool_runs() {
    let command = |more: Value| {
        let mut hook = json!({ "type": "command", "command": "true" });
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hook
    };
    for (hook, denied) in [(command(json!({})), true), (command(json!({ "onFailure": "ignore" })), false)] {
        let dir = folder(&json!({}), &[hook]);
        let output = fed(hookbox(dir.path()).env("HOOKBOX_DEPTH", "4").args(["--record", "record.jsonl"]), CALL);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("deny") == denied, "{}", said(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains("HOOKBOX_DEPTH"), "{}", said(&output));
        assert!(fs::read_to_string(dir.path().join("record.jsonl")).unwrap().contains(r#""cause":"too-deep""#));
    }
}

/// hookbox does not wait for a named pipe that replaces any of its files.
#[test]
fn a_pipe_in_place_of_a_file_is_refused() {
    let quiet = json!({ "type": "command", "command": "true", "onFailure": "ignore" });
    for (name, code, said_of) in [("hooks.json", 2, "regular"), ("hook.wasm", 2, "regular"), ("record.jsonl", 0, "{}")]
    {
        let hook = if name == "hook.wasm" { json!({ "type": "wasm", "component": name }) } else { quiet.clone() };
        let dir = folder(&json!({ "failClosed": true }), &[hook]);
        let path = dir.path().join(name);
        let _ = fs::remove_file(&path);
        fifo(&path);
        let output = fed(hookbox(dir.path()).args(["--fail-closed", "--record", "record.jsonl"]), CALL);
        assert!(output.status.code() == Some(code) && said(&output).contains(said_of), "{name}: {}", said(&output));
    }
}

/// Reading a huge file takes little time and memory.
#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let dir = folder(&json!({}), &[json!({ "type": "wasm", "component": "big.wasm", "onFailure": "block" })]);
    let large = |name: &str| fs::File::create(dir.path().join(name)).unwrap().set_len(1 << 40).unwrap();
    large("big.wasm");
    let output = fed(&mut hookbox(dir.path()), CALL);
    assert!(said(&output).contains("larger than"), "{}", said(&output));
    let output = Command::new(HOOKBOX).args(["inspect", "big.wasm"]).current_dir(dir.path()).output().unwrap();
    assert!(said(&output).contains("larger than"), "{}", said(&output));
    large("hooks.json");
    let output = fed(&mut hookbox(dir.path()), CALL);
    assert!(output.status.code() == Some(78) && said(&output).contains("larger than"), "{}", said(&output));
    let text = r#"{"failClosed": true, "#;
    fs::OpenOptions::new().write(true).open(dir.path().join("hooks.json")).unwrap().write_all(text.as_bytes()).unwrap();
    assert_eq!(fed(&mut hookbox(dir.path()), CALL).status.code(), Some(2));
}

/// A component cannot block hookbox by opening a named pipe in a granted folder.
#[test]
fn a_pipe_in_a_granted_folder_is_refused() {
    let hook = json!({ "type": "wasm", "component": "hook.wasm", "permissions": { "read": { "/data": "data" } } });
    let dir = folder(&json!({ "failClosed": true }), &[hook]);
    fs::create_dir(dir.path().join("data")).unwrap();
    fifo(&dir.path().join("data/pipe"));
    let body = "(call $directories (i32.const 8192))
        (call $open (i32.load (i32.load (i32.const 8192))) (i32.const 1) (i32.const 4096) (i32.const 4) (i32.const 0)
            (i32.const 1) (i32.const 8192))
        (if (i32.load8_u (i32.const 8192)) (then (unreachable)))
        (call $read (i32.load (i32.const 8196)) (i64.const 1) (i64.const 0) (i32.const 8192))
        (if (i32.load8_u (i32.const 8192)) (then (unreachable)))";
    let world = format!("import wasi:filesystem/preopens@0.2.3; import wasi:filesystem/types@0.2.3; {GATE}");
    let items = format!(r#"{DIRECTORY} (data (i32.const 4096) "pipe")"#);
    fs::write(dir.path().join("hook.wasm"), encode(&gate(body, &items), &world, FILES)).unwrap();
    let output = fed(hookbox(dir.path()).args(["--deadline", "5"]), CALL);
    assert!(output.status.success() && said(&output).contains(r#""deny""#), "{}", said(&output));
}

/// A name server that never answers delays neither the verdict nor the exit.
#[test]
fn a_silent_name_server_delays_nothing() {
    let Ok(server) = UdpSocket::bind("127.53.53.53:53") else {
        eprintln!("this user may not bind port 53: not tested");
        return;
    };
    let hook = json!({ "type": "http", "url": "http://silent.example/" });
    let dir = folder(&json!({ "failClosed": true }), &[hook]);
    let resolver = dir.path().join("resolv.conf");
    fs::write(&resolver, "nameserver 127.53.53.53\noptions timeout:30 attempts:5\n").unwrap();
    let mut within = Command::new("unshare");
    within.args(["-rm", "sh", "-c", "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\""]).arg(&resolver).arg(HOOKBOX);
    within.args(["run", "--config", "hooks.json", "--deadline", "2"]).current_dir(dir.path());
    let begin = Instant::now();
    let output = fed(within.env("XDG_CACHE_HOME", dir.path()).env("XDG_STATE_HOME", dir.path()), CALL);
    server.set_nonblocking(true).unwrap();
    if server.recv(&mut [0; 512]).is_err() {
        eprintln!("nobody asked our name server, for lack of a namespace: not tested: {}", said(&output));
        return;
    }
    assert!(output.status.success() && said(&output).contains("(timeout: "), "{}", said(&output));
    // The name server would take 150 seconds.
    assert!(begin.elapsed() < Duration::from_secs(100), "{}", said(&output));
}

/// The system refuses threads. A hook that needs one fails, and other hooks still decide.
#[test]
fn no_thread_available() {
    let wasm = json!({ "type": "wasm", "component": "hook.wasm" });
    let denies = json!({ "type": "command", "command": "echo no >&2; exit 2" });
    let without = |dir: &Path, options: &[&str]| {
        // No thread can have so large a stack.
        fed(hookbox(dir).args(options).env("RUST_MIN_STACK", (1_u64 << 62).to_string()), CALL)
    };
    // An engine needs a thread for its clock, and a lookup of a name needs one too.
    let http = json!({ "type": "http", "url": "http://localhost:9/" });
    for (needs, told) in [(wasm, "no thread"), (http, "panicked")] {
        for (closed, hooks) in [(true, vec![needs.clone()]), (false, vec![needs.clone(), denies.clone()])] {
            let dir = folder(&json!({ "failClosed": closed }), &hooks);
            fs::write(dir.path().join("hook.wasm"), encode(&gate("", ""), GATE, "")).unwrap();
            let output = without(dir.path(), &[]);
            let stopped =
                output.status.code() == Some(2) || String::from_utf8_lossy(&output.stdout).contains(r#""deny""#);
            assert!(stopped && said(&output).contains(told), "{hooks:?}: {}", said(&output));
        }
    }
    // A compiled component needs a thread if it computes for long.
    let dir = folder(&json!({ "failClosed": true }), &[json!({ "type": "wasm", "component": "hook.wasm" })]);
    let endless = gate("(loop $again (br $again))", "");
    fs::write(dir.path().join("hook.wasm"), encode(&endless, GATE, "")).unwrap();
    fed(&mut hookbox(dir.path()), CALL);
    let output = without(dir.path(), &[]);
    assert!(String::from_utf8_lossy(&output.stdout).contains(r#""deny""#), "{}", said(&output));
    assert!(said(&output).contains("busy: the system refused what it needs"), "{}", said(&output));
    // A lookup of the daemon's name needs a thread too.
    let dir = folder(&json!({}), &[]);
    let mut away = Command::new(HOOKBOX);
    away.args(["run", "--connect", "http://localhost:9", "--tenant", "acme", "--fail-closed"])
        .env("HOOKBOX_TOKEN", "x");
    away.env("XDG_STATE_HOME", dir.path()).env("RUST_MIN_STACK", (1_u64 << 62).to_string());
    let output = fed(&mut away, CALL);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn exhausted_resources_block_if_failures_do() {
    let wasm = json!({ "type": "wasm", "component": "bomb.wasm" });
    let quiet = json!({ "type": "command", "command": "true" });
    for (limit, hook) in [("-n 8", &wasm), ("-n 8", &quiet), ("-n 4", &wasm), ("-f 0", &wasm), ("-t 3", &wasm)] {
        let dir = folder(&json!({ "failClosed": true }), std::slice::from_ref(hook));
        fs::write(dir.path().join("bomb.wasm"), if limit == "-f 0" { b"\0asm\x0d\0\x01\0".to_vec() } else { bomb() })
            .unwrap();
        let output = limited(dir.path(), limit);
        let told = String::from_utf8_lossy(&output.stdout);
        let blocked = output.status.code() == Some(2) || output.status.success() && told.contains(r#""deny""#);
        // A limit that affects no hook does not change the verdict.
        assert!(blocked || output.status.success() && told == "{}\n" && *hook == quiet, "{limit}: {}", said(&output));
    }
}

/// A limit of the process is reported as such, and not as a fault of the component.
#[test]
fn process_limits_are_named_in_errors() {
    let dir = folder(&json!({ "failClosed": true }), &[json!({ "type": "wasm", "component": "hook.wasm" })]);
    let files = (4..16).map(|files| format!("-n {files}"));
    let spaces = (1..24).map(|step| format!("-v {}", step << 18));
    let mut told_of = 0;
    for limit in files.chain(spaces).chain(["-f 0".to_owned(), "-u 0".to_owned()]) {
        // The component is already compiled in one run and not in the other.
        for compiled in [false, true] {
            // A different component in each run, so that nothing is cached.
            let module = gate("", &format!(r#"(data (i32.const 8192) "{limit}{compiled}")"#));
            fs::write(dir.path().join("hook.wasm"), encode(&module, GATE, "")).unwrap();
            if compiled {
                assert!(fed(&mut hookbox(dir.path()), CALL).status.success());
            }
            let output = limited(dir.path(), &limit);
            let told = said(&output);
            for wrong in ["malformed", "not a usable component", "too much to compile", "hookbox build"] {
                assert!(!told.contains(wrong), "{limit}: {told}");
            }
            told_of += usize::from(told.contains("the system refused") || told.contains("cannot run"));
        }
    }
    assert!(told_of > 1, "{told_of}");
}

/// The verdict does not wait for a hook process that only observes the event.
#[test]
fn the_verdict_does_not_wait_for_notifications() {
    let script = r#"
import json, os, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message.get("id"):
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"ok": True}}), flush=True)
# Our end is closed: there is a verdict.
while not os.path.exists("read"):
    time.sleep(0.01)
open("ended", "w").close()
"#;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hook.py"), script).unwrap();
    let process = json!({ "type": "process", "command": ["python3", "hook.py"], "startTimeout": 60 });
    let config = json!({ "host": { "deadline": 60 }, "hooks": { "SessionStart": [{ "hooks": [process] }] } });
    fs::write(dir.path().join("hooks.json"), config.to_string()).unwrap();
    let mut child =
        hookbox(dir.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let event = br#"{"hook_event_name":"SessionStart","source":"startup"}"#;
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), event).unwrap();
    let mut verdict = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut verdict).unwrap();
    assert_eq!(verdict, "{}\n");
    fs::write(dir.path().join("read"), "").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(dir.path().join("ended").exists(), "it had the time to end by itself");
}

/// A command ends with hookbox, together with its child processes, whatever ends hookbox.
#[test]
fn commands_end_with_hookbox() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::KILL] {
        let command = "sleep 1000 & echo $! $$ >pids.new; mv pids.new pids; wait";
        let dir = folder(&json!({}), &[json!({ "type": "command", "command": command })]);
        let mut child =
            hookbox(dir.path()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), CALL).unwrap();
        let pids = dir.path().join("pids");
        until(|| pids.exists(), "the command begins");
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
            let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
            until(|| gone(pid), &format!("{pid:?} ends after {signal:?}"));
        }
    }
}

/// The limits start with 4, because programs cannot load their libraries with fewer files.
#[test]
fn no_limit_on_open_files_panics_or_opens_a_gate() {
    let dir = folder(&json!({ "failClosed": true }), &[json!({ "type": "command", "command": "echo no >&2; exit 2" })]);
    for files in 4..=40 {
        let output = limited(dir.path(), &format!("-n {files}"));
        let (code, said) = (output.status.code(), said(&output));
        // The program loader itself needs descriptors.
        let started = !said.contains("shared librar");
        assert!(!said.contains("panicked") && !said.contains("a bug"), "{files}: {said}");
        assert!(!started || code == Some(2) || said.contains("\"deny\""), "{files}: {said}");
    }
}

#[test]
fn an_unread_stderr_delays_nothing() {
    let dir = folder(&json!({ "failClosed": true }), &[json!({ "type": "wasm", "component": "missing.wasm" })]);
    for deadline in [&[][..], &["--deadline", "2"]] {
        let (_reader, mut writer) = std::io::pipe().unwrap();
        rustix::fs::fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
        while writer.write(&[b'x'; 4096]).is_ok() {}
        rustix::fs::fcntl_setfl(&writer, OFlags::empty()).unwrap();
        let mut command = hookbox(dir.path());
        command.args(deadline).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(writer);
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(CALL).unwrap();
        until(|| child.try_wait().unwrap().is_some(), "it ends");
        assert_eq!(child.wait().unwrap().code(), Some(2));
    }
}

#[test]
fn a_stdin_that_never_ends_is_waited_for_until_the_deadline() {
    let dir = folder(&json!({ "failClosed": true }), &[]);
    let mut command = hookbox(dir.path());
    command.args(["--deadline", "1"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    until(|| child.try_wait().unwrap().is_some(), "it ends");
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code() == Some(2) || said(&output).contains("deny"), "{}", said(&output));
}

#[test]
fn records_of_runs_at_once_are_whole_lines() {
    let dir = folder(&json!({}), &[]);
    let runs: Vec<_> = (0..16)
        .map(|_| {
            let mut command = hookbox(dir.path());
            command.args(["--record", "record.jsonl"]).stdin(Stdio::piped()).stdout(Stdio::null());
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(CALL).unwrap();
            child
        })
        .collect();
    for mut run in runs {
        assert!(run.wait().unwrap().success());
    }
    let text = fs::read_to_string(dir.path().join("record.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 16, "{text}");
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
}

/// Returns true if a process no longer exists or is a zombie.
fn gone(pid: Pid) -> bool {
    assert!(Path::new("/proc/self/stat").exists(), "processes are looked for there");
    let status = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    test_kill_process(pid).is_err() || status.contains(") Z ")
}

fn until(mut done: impl FnMut() -> bool, what: &str) {
    for _ in 0..2_000 {
        if done() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("in 20 s: {what}");
}
