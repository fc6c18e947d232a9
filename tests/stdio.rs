//! `hookbox stdio` as `PicoClaw` meets it: one process, many lines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::needless_pass_by_value)] // `json!` makes values

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use hookbox_testing::examples;
use serde_json::{Value, json};

/// A hook process of a client that is still alive.
struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

/// No client waits so long; a machine under load may compile for as long.
const PATIENT: [&str; 6] = ["--observer-timeout", "120", "--interceptor-timeout", "120", "--approval-timeout", "120"];

impl Process {
    fn start(config: &Value, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(examples::component("command-guard"), folder.path().join("guard.wasm")).unwrap();
        fs::write(folder.path().join("hooks.json"), config.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command.args(["stdio", "--config"]).arg(folder.path().join("hooks.json")).args(more);
        command.env("XDG_CACHE_HOME", folder.path()).env("XDG_STATE_HOME", folder.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout, folder }
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("hooks.json")
    }

    fn send(&mut self, line: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_ref()).and_then(|()| stdin.write_all(b"\n")).unwrap();
    }

    fn reply(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n') && line.len() < 1 << 20, "no whole line: {line:?}");
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(request(1, method, params));
        let reply = self.reply();
        assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!(1)), "{reply}");
        reply
    }

    /// Closes our end; the exit code and what was said to people.
    fn end(mut self) -> (Option<i32>, String, Duration) {
        let began = Instant::now();
        drop(self.stdin.take());
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), began.elapsed())
    }
}

fn guarded() -> Value {
    json!({ "dialect": "picoclaw", "hooks": { "guard": {
        "type": "wasm", "component": "guard.wasm", "intercept": ["before_tool", "approve_tool"], "observe": ["*"],
    } } })
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }).to_string()
}

fn exec(command: &str) -> Value {
    json!({ "tool": "exec", "arguments": { "action": "run", "command": command } })
}

#[test]
fn the_handshake_is_answered_and_names_what_is_not_served() {
    let mut process = Process::start(&guarded(), &PATIENT);
    let hello = json!({ "name": "guard", "version": 1, "modes": ["observe", "tool", "approve"] });
    assert_eq!(process.ask("hook.hello", hello)["result"], json!({ "ok": true, "name": "guard" }));
    let result = process.ask("hook.hello", json!({ "version": 2, "modes": ["llm"] }))["result"].clone();
    assert_eq!((&result["ok"], result["warnings"].as_array().map(Vec::len)), (&json!(true), Some(2)), "{result}");
    let (code, stderr, _) = process.end();
    assert!(code == Some(0) && stderr.contains("`version` is 2"), "{code:?} {stderr}");
}

#[test]
fn a_component_decides_for_the_whole_life_of_the_process() {
    let mut process = Process::start(&guarded(), &PATIENT);
    for _ in 0..3 {
        let denied = process.ask("hook.before_tool", exec("rm -rf /"));
        assert_eq!(denied["result"], json!({ "action": "deny_tool", "reason": "`rm -rf` is not allowed here" }));
        assert_eq!(process.ask("hook.before_tool", exec("ls"))["result"], json!({ "action": "continue" }));
        assert_eq!(process.ask("hook.approve_tool", exec("ls"))["result"], json!({ "approved": true }));
    }
    assert_eq!(process.end().0, Some(0));
}

#[test]
fn overlapping_requests_are_each_answered_once_whatever_stands_between_them() {
    let mut process = Process::start(&guarded(), &PATIENT);
    let mut expected = BTreeMap::new();
    for id in 1..=200_u64 {
        let (line, wanted) = match id % 4 {
            0 => (request(id, "hook.before_tool", exec("rm -rf /")), json!("deny_tool")),
            1 => (request(id, "hook.after_llm", json!({ "model": "m", "response": {} })), json!("continue")),
            2 => (request(id, "hook.later", json!({})), json!(-32601)),
            _ => (format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"hook.before_tool","params":{{"#), json!(-32700)),
        };
        process.send(line);
        process.send(if id % 3 == 0 {
            "garbage"
        } else {
            r#"{"jsonrpc":"2.0","method":"hook.event","params":{"Kind":8}}"#
        });
        expected.insert(id, wanted);
    }
    for _ in 0..200 {
        let reply = process.reply();
        let said = reply["result"]["action"].as_str().map_or(reply["error"]["code"].clone(), Into::into);
        let wanted = expected.remove(&reply["id"].as_u64().unwrap());
        assert_eq!(Some(said), wanted, "{reply}");
    }
    let (code, stderr, _) = process.end();
    assert!(code == Some(0) && stderr.contains("not JSON"), "{code:?} {stderr}");
}

#[test]
fn what_cannot_be_read_is_an_error_by_id_and_never_an_approval() {
    let mut process = Process::start(&guarded(), &PATIENT);
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_tool","params":[]}"#, json!(-32602)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_tool","params":{}}"#, json!(-32602)),
        (r#"{"jsonrpc":"1.0","id":1,"method":"hook.before_tool"}"#, json!(-32600)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"hook.event","params":{"Kind":1}}"#, json!(-32601)),
    ];
    for (line, code) in cases {
        process.send(line);
        assert_eq!(process.reply()["error"]["code"], code, "{line}");
    }
    for params in ["{}", "[]", r#"{"tool":"exec","arguments":{"a":1,"a":2}}"#, r#"{"tool":"#] {
        process.send(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"hook.approve_tool","params":{params}}}"#));
        let result = process.reply()["result"].clone();
        assert!(result["approved"] == json!(false) && result["reason"].is_string(), "{params}: {result}");
    }
    // Nobody to tell: the process goes on.
    process.send(r#"{"jsonrpc":"2.0","method":7}"#);
    process.send(r#"["an array"]"#);
    assert_eq!(process.ask("hook.before_tool", exec("ls"))["result"], json!({ "action": "continue" }));
}

#[test]
fn failing_closed_blocks_in_the_clients_words() {
    let mut process = Process::start(&json!({ "dialect": "picoclaw", "hooks": 7 }), &["--fail-closed"]);
    assert_eq!(process.ask("hook.hello", json!({ "version": 1 }))["result"]["ok"], true);
    assert_eq!(process.ask("hook.before_tool", exec("ls"))["result"]["action"], "deny_tool");
    assert_eq!(process.ask("hook.before_llm", json!({ "model": "m" }))["result"]["action"], "abort_turn");
    assert_eq!(process.ask("hook.approve_tool", exec("ls"))["result"]["approved"], false);
    let mut open = Process::start(&json!({ "dialect": "picoclaw", "hooks": 7 }), &[]);
    assert_eq!(open.ask("hook.before_tool", exec("ls"))["error"]["code"], -32000);
    assert_eq!(open.ask("hook.approve_tool", exec("ls"))["result"]["approved"], false);
}

/// decisions.md#failures: "An event that cannot be read is one that every hook subscribed to it has failed on, and each is
/// settled by its own policy."
#[test]
fn what_cannot_be_read_is_settled_by_each_hooks_policy() {
    for (policy, denied) in [("block", true), ("ignore", false)] {
        let mut process = Process::start(
            &json!({ "dialect": "picoclaw", "hooks": { "guard": {
                "type": "command", "command": "cat", "intercept": ["before_tool"], "onFailure": policy,
            } } }),
            &PATIENT,
        );
        for broken in [
            r#"{"jsonrpc":"2.0","id":3,"method":"hook.before_tool","params":{"tool":"exec","arguments":{"a":"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"hook.before_tool","params":{"tool":"exec","tool":"read"}}"#,
            r#"{"jsonrpc":"1.0","id":3,"method":"hook.before_tool","params":{"tool":"exec","arguments":{}}}"#,
        ] {
            process.send(broken);
            let reply = process.reply();
            assert_eq!(reply["id"], 3, "{reply}");
            assert_eq!(reply["result"]["action"] == "deny_tool", denied, "{broken} {reply}");
            assert_eq!(reply.get("error").is_some(), !denied, "{broken} {reply}");
        }
        assert_eq!(process.end().0, Some(0));
    }
}

#[test]
fn a_slow_hook_is_answered_for_before_the_client_gives_up() {
    let slow = |closed: bool| {
        let hook = json!({ "type": "command", "command": "sleep 30", "timeout": 60, "intercept": ["before_tool", "approve_tool"] });
        json!({ "dialect": "picoclaw", "failClosed": closed, "hooks": { "slow": hook } })
    };
    let times = ["--interceptor-timeout", "1", "--approval-timeout", "1"];
    let began = Instant::now();
    let mut process = Process::start(&slow(true), &times);
    assert_eq!(process.ask("hook.before_tool", exec("ls"))["result"]["action"], "deny_tool");
    assert_eq!(process.ask("hook.approve_tool", exec("ls"))["result"]["approved"], false);
    // Not the thirty seconds of the hook: how long exactly is the machine's.
    assert!(began.elapsed() < Duration::from_secs(20));
    let (code, _, took) = process.end();
    assert!(code == Some(0) && took < Duration::from_secs(10), "{code:?} {took:?}");
}

#[test]
fn a_changed_file_takes_over_and_a_broken_one_does_not() {
    let mut process = Process::start(&guarded(), &PATIENT);
    assert_eq!(process.ask("hook.before_tool", exec("rm -rf /"))["result"]["action"], "deny_tool");
    fs::write(process.config(), "{ broken").unwrap();
    let mut config = guarded();
    let until = |process: &mut Process, wanted: &str| {
        let deadline = Instant::now() + Duration::from_secs(30);
        while process.ask("hook.before_tool", exec("rm -rf /"))["result"]["action"] != wanted {
            assert!(Instant::now() < deadline, "it never said {wanted}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    // Long enough for the broken file to be seen; what served before goes on.
    std::thread::sleep(Duration::from_millis(1200));
    until(&mut process, "deny_tool");
    config["hooks"] = json!({});
    fs::write(process.config(), config.to_string()).unwrap();
    until(&mut process, "continue");
    let (code, stderr, _) = process.end();
    assert!(code == Some(0) && stderr.contains("is not used") && stderr.contains("is loaded again"), "{stderr}");
}

#[test]
fn recorded_lines_of_three_versions_get_the_replies_they_should() {
    let mut process = Process::start(&guarded(), &PATIENT);
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples/picoclaw");
    let (mut asked, mut names) = (0, Vec::new());
    for entry in fs::read_dir(samples).unwrap() {
        let path = entry.unwrap().path();
        let mut line: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        if line.get("id").and_then(Value::as_u64).is_some_and(|id| id != 0) {
            asked += 1;
            line["id"] = asked.into();
            names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
        process.send(line.to_string());
    }
    let mut replies = BTreeMap::new();
    for _ in 0..asked {
        let reply = process.reply();
        replies.insert(
            names[usize::try_from(reply["id"].as_u64().unwrap()).unwrap() - 1].clone(),
            reply["result"].clone(),
        );
    }
    assert_eq!(replies.len(), names.len());
    for (name, result) in replies {
        let wanted = match name.as_str() {
            name if name.contains("hello") => json!({ "ok": true }),
            name if name.contains("approve_tool.rm_rf") => json!({ "approved": false }),
            name if name.contains("approve_tool") => json!({ "approved": true }),
            name if name.contains("before_tool.rm_rf") => json!({ "action": "deny_tool" }),
            _ => json!({ "action": "continue" }),
        };
        for (key, value) in wanted.as_object().unwrap() {
            assert_eq!(&result[key], value, "{name}: {result}");
        }
    }
}

#[test]
fn a_client_that_is_gone_ends_us() {
    let mut process = Process::start(&guarded(), &PATIENT);
    assert_eq!(process.ask("hook.hello", json!({ "version": 1 }))["result"]["ok"], true);
    let Process { mut child, stdin, stdout, folder } = process;
    drop(stdout);
    let mut stdin = stdin.unwrap();
    // Until the process notices that nobody reads.
    while writeln!(stdin, "{}", request(2, "hook.before_tool", exec("ls"))).is_ok()
        && child.try_wait().unwrap().is_none()
    {}
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(folder);
}
