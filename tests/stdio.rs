//! `hookbox stdio` as `PicoClaw` runs it: one process, many lines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::needless_pass_by_value)] // `json!` makes values

#[path = "stdio/ends.rs"]
mod ends;
#[path = "stdio/told.rs"]
mod told;

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use hookbox_testing::{
    examples,
    vectors::{self, Vector},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A hook process whose client is still running.
struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

/// Timeouts that exceed every client's, because compilation may be slow on a machine under load.
const PATIENT: [&str; 6] = ["--observer-timeout", "120", "--interceptor-timeout", "120", "--approval-timeout", "120"];

impl Process {
    fn start(config: &Value, more: &[&str]) -> Self {
        Self::laid_out(config, more, |folder| {
            fs::copy(examples::component("command-guard"), folder.join("guard.wasm")).unwrap();
        })
    }

    /// Starts a process in a folder with the files that the configuration names.
    fn laid_out(config: &Value, more: &[&str], lay_out: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path());
        let file = folder.path().join("hooks.json");
        fs::write(&file, config.to_string()).unwrap();
        Self::serving(&file, folder, more)
    }

    /// Starts a process with a configuration in that folder.
    fn serving(config: &Path, folder: tempfile::TempDir, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command.args(["stdio", "--config"]).arg(config).args(more);
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
        self.next_reply().expect("a reply")
    }

    /// Reads the next reply. `None`: stdout has ended.
    fn next_reply(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(line.is_empty() || line.ends_with('\n') && line.len() < 1 << 20, "no whole line: {line:?}");
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(request(1, method, params));
        let reply = self.reply();
        assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!(1)), "{reply}");
        reply
    }

    /// Closes stdin. Returns the exit code, stderr and the time it took.
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
fn the_handshake_names_unsupported_methods() {
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
fn overlapping_requests_are_each_answered_once() {
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
fn an_unreadable_request_is_never_approved() {
    let mut process = Process::start(&guarded(), &PATIENT);
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_tool","params":[]}"#, json!(-32602)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_tool","params":{}}"#, json!(-32602)),
        (r#"{"jsonrpc":"1.0","id":1,"method":"hook.before_tool"}"#, json!(-32600)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_compact","params":{}}"#, json!(-32601)),
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
    // These lines have no reply, and the process continues.
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

/// decisions.md#failures: "An unreadable event is a failure of every hook that is subscribed to it, and each failure is
/// settled by its hook's own policy."
#[test]
fn an_unreadable_request_is_settled_by_each_policy() {
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
fn a_slow_hook_is_answered_before_the_clients_timeout() {
    let slow = |closed: bool| {
        let hook = json!({ "type": "command", "command": "sleep 30", "timeout": 60, "intercept": ["before_tool", "approve_tool"] });
        json!({ "dialect": "picoclaw", "failClosed": closed, "hooks": { "slow": hook } })
    };
    let times = ["--interceptor-timeout", "1", "--approval-timeout", "1"];
    let began = Instant::now();
    let mut process = Process::start(&slow(true), &times);
    assert_eq!(process.ask("hook.before_tool", exec("ls"))["result"]["action"], "deny_tool");
    assert_eq!(process.ask("hook.approve_tool", exec("ls"))["result"]["approved"], false);
    // The command must not take the hook's 30 seconds. The exact time depends on the machine.
    assert!(began.elapsed() < Duration::from_secs(20));
    let (code, _, took) = process.end();
    assert!(code == Some(0) && took < Duration::from_secs(10), "{code:?} {took:?}");
}

#[test]
fn a_changed_file_replaces_the_old_one_unless_it_is_invalid() {
    let mut process = Process::start(&guarded(), &PATIENT);
    assert_eq!(process.ask("hook.before_tool", exec("rm -rf /"))["result"]["action"], "deny_tool");
    fs::write(process.config(), "{ broken").unwrap();
    let mut config = guarded();
    let until_it_says = |process: &mut Process, wanted: &str| {
        let deadline = Instant::now() + Duration::from_secs(30);
        while process.ask("hook.before_tool", exec("rm -rf /"))["result"]["action"] != wanted {
            assert!(Instant::now() < deadline, "it never said {wanted}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    // The wait is long enough to notice the invalid file. The old configuration stays in use.
    std::thread::sleep(Duration::from_millis(1200));
    until_it_says(&mut process, "deny_tool");
    config["hooks"] = json!({});
    fs::write(process.config(), config.to_string()).unwrap();
    until_it_says(&mut process, "continue");
    let (code, stderr, _) = process.end();
    assert!(code == Some(0) && stderr.contains("is not used") && stderr.contains("is loaded again"), "{stderr}");
}

/// The recorded lines of each client version, in the order of a turn, with one tool call that is denied and one that is not.
#[test]
fn the_transcripts_of_three_versions_get_the_replies_they_should() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples/picoclaw");
    let denied = "`rm -rf` is not allowed here";
    let unserved = "no hook here serves the mode `llm`";
    let goes_on = || json!({ "action": "continue" });
    for (version, event) in [("v0.2.6", "event"), ("v0.2.8", "event"), ("head", "runtime_event")] {
        let transcript = [
            ("hello", None),
            (event, None),
            ("before_llm", Some(goes_on())),
            ("before_llm.with_history", Some(goes_on())),
            ("after_llm", Some(goes_on())),
            ("after_llm.with_tool_calls", Some(goes_on())),
            ("before_tool", Some(goes_on())),
            ("before_tool.rm_rf", Some(json!({ "action": "deny_tool", "reason": denied }))),
            ("approve_tool", Some(json!({ "approved": true }))),
            ("approve_tool.rm_rf", Some(json!({ "approved": false, "reason": denied }))),
            ("after_tool", Some(goes_on())),
        ];
        let recorded = fs::read_dir(&samples).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let recorded = recorded.filter(|name| name.starts_with(version)).count();
        assert_eq!(recorded, transcript.len(), "{version}: each line that was recorded is said");
        let mut process = Process::start(&guarded(), &PATIENT);
        let mut expected = BTreeMap::new();
        for (number, (said, reply)) in (1_u64..).zip(transcript) {
            let path = samples.join(format!("{version}.hook.{said}.json"));
            let mut line: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            // Each line was recorded in a different turn.
            if line["id"].as_u64().is_some_and(|id| id != 0) {
                line["id"] = number.into();
            }
            let name = line["params"]["name"].clone();
            let hello = || json!({ "ok": true, "name": name, "warnings": [unserved] });
            let reply = reply.or_else(|| (said == "hello").then(hello));
            expected.extend(reply.map(|reply| (number, json!({ "jsonrpc": "2.0", "id": number, "result": reply }))));
            process.send(line.to_string());
        }
        while !expected.is_empty() {
            let reply = process.reply();
            assert_eq!(Some(&reply), expected.remove(&reply["id"].as_u64().unwrap()).as_ref(), "{version}");
        }
        let (code, stderr, _) = process.end();
        // The guard also gets events that it does not handle.
        let own = |line: &&str| line.starts_with("hookbox: ") && !line.contains("hook guard failed: load: ");
        let told: Vec<&str> = stderr.lines().filter(own).collect();
        assert_eq!((code, told), (Some(0), vec![format!("hookbox: hook.hello: {unserved}").as_str()]), "{version}");
    }
}

#[test]
fn a_disconnected_client_ends_the_process() {
    let mut process = Process::start(&guarded(), &PATIENT);
    assert_eq!(process.ask("hook.hello", json!({ "version": 1 }))["result"]["ok"], true);
    let Process { mut child, stdin, stdout, folder } = process;
    drop(stdout);
    let mut stdin = stdin.unwrap();
    // Until the process notices that its reader is gone.
    while writeln!(stdin, "{}", request(2, "hook.before_tool", exec("ls"))).is_ok()
        && child.try_wait().unwrap().is_none()
    {}
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(folder);
}

/// Requests that are in progress at the end get their replies, with either kind of hook, and no process remains.
#[test]
fn pending_requests_are_answered_at_shutdown() {
    let command = "echo $$ >pid; : >begun; while [ ! -e may ]; do sleep 0.01; done; \
                   echo '{\"action\":\"deny_tool\",\"reason\":\"at last\"}'";
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/processes/liar.py").canonicalize().unwrap();
    for hook in [json!({ "type": "command", "command": command }), json!({ "command": ["python3", script] })] {
        for terminate in [true, false] {
            let mut hook = hook.clone();
            hook.as_object_mut()
                .unwrap()
                .extend(json!({ "intercept": ["before_tool"], "timeout": 120 }).as_object().unwrap().clone());
            let mut process = Process::start(&json!({ "dialect": "picoclaw", "hooks": { "slow": hook } }), &PATIENT);
            let arguments = json!({ "tool": "exec", "arguments": { "text": "waits" } });
            process.send(request(1, "hook.before_tool", arguments));
            let file = |name: &str| process.folder.path().join(name);
            let (begun, may) = (file("begun"), file("may"));
            until(|| begun.exists(), "the hook begins");
            let children = children(process.child.id());
            assert!(!children.is_empty());
            if terminate {
                kill_process(Pid::from_child(&process.child), Signal::TERM).unwrap();
            } else {
                drop(process.stdin.take());
            }
            fs::write(may, "").unwrap();
            assert_eq!(process.reply()["result"]["reason"], "at last", "{hook} {terminate}");
            let (code, stderr, _) = process.end();
            assert_eq!(code, Some(0), "{stderr}");
            for child in children {
                until(|| !lives(child), "it ends too");
            }
        }
    }
}

/// A hook that does not end by itself counts as failed. hookbox does not wait for it.
#[test]
fn a_hook_that_never_ends_does_not_delay_the_exit() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/processes/liar.py").canonicalize().unwrap();
    let hook = json!({ "command": ["python3", script], "intercept": ["before_tool"], "timeout": 600 });
    let mut process = Process::start(&json!({ "dialect": "picoclaw", "hooks": { "stubborn": hook } }), &PATIENT);
    process.send(request(1, "hook.before_tool", json!({ "tool": "exec", "arguments": { "text": "waits" } })));
    let begun = process.folder.path().join("begun");
    until(|| begun.exists(), "the hook begins");
    let children = children(process.child.id());
    kill_process(Pid::from_child(&process.child), Signal::TERM).unwrap();
    assert_eq!(process.reply()["result"], json!({ "action": "continue" }));
    let (code, stderr, _) = process.end();
    assert!(code == Some(0) && stderr.contains("because hookbox ends"), "{code:?} {stderr}");
    for child in children {
        until(|| !lives(child), "it ends too");
    }
}

/// Returns the child processes of a process.
fn children(pid: u32) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("children")).ok());
    let pids: String = lists.collect();
    pids.split_whitespace().map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()).collect()
}

fn lives(pid: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

fn until(done: impl Fn() -> bool, what: &str) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !done() {
        assert!(Instant::now() < deadline, "in a minute: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the outputs of a vector's hooks, if they have no features that only commands have.
fn plain(vector: &Vector) -> Option<Vec<Value>> {
    let params = vector
        .event
        .get("params")
        .is_none_or(|params| params.is_object() && params.get("meta").is_none_or(Value::is_object));
    let asked = vector.event["id"].as_u64().is_some_and(|id| id != 0)
        && ["hook.before_llm", "hook.after_llm", "hook.before_tool", "hook.after_tool", "hook.approve_tool"]
            .iter()
            .any(|method| vector.event["method"] == *method);
    if !params || !asked || vector.profile.is_some() || !vector.config.is_empty() || vector.named.is_some() {
        return None;
    }
    let says = vector.hooks.iter().map(|hook| {
        let peculiar = hook.stdout.is_some()
            || hook.exit != 0
            || hook.on_failure.is_some()
            || hook.sleeps
            || hook.missing
            || hook.priority.is_some()
            || hook.intercept.is_some()
            || hook.observe.is_some()
            || hook.echo.is_some();
        hook.prints.clone().filter(|prints| !peculiar && prints.is_object())
    });
    says.collect()
}

/// `"*"` stands for any text that is not empty.
fn is(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::String(text), Value::String(any)) if any == "*" => !text.is_empty(),
        (Value::Object(found), Value::Object(expected)) => {
            found.len() == expected.len()
                && expected.iter().all(|(key, value)| found.get(key).is_some_and(|found| is(found, value)))
        }
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| is(found, expected))
        }
        _ => found == expected,
    }
}

/// Returns the vectors of picoclaw.
fn picoclaws(files: &[vectors::File]) -> impl Iterator<Item = &Vector> {
    files.iter().filter(|file| file.dialect == "picoclaw").flat_map(|file| &file.vectors)
}

/// Every suitable vector runs through one process that runs hook processes: all at the same time, in three orders.
#[test]
fn the_vectors_pass_in_one_process_in_any_overlap() {
    let files = vectors::all();
    let vectors: Vec<(&Vector, Vec<Value>)> =
        picoclaws(&files).filter_map(|vector| Some((vector, plain(vector)?))).collect();
    assert_eq!(vectors.len(), 96);
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/processes/by_vector.py").canonicalize().unwrap();
    let most = vectors.iter().map(|(_, says)| says.len()).max().unwrap();
    let mut hooks = serde_json::Map::new();
    for number in 0..most {
        let command = json!(["python3", script, format!("says{number}.json")]);
        let hook = json!({ "priority": number, "command": command, "timeout": 120, "startTimeout": 120,
            "intercept": ["before_llm", "after_llm", "before_tool", "after_tool", "approve_tool"] });
        hooks.insert(format!("hook{number}"), hook);
    }
    let mut process = Process::laid_out(&json!({ "dialect": "picoclaw", "hooks": hooks }), &PATIENT, |folder| {
        for number in 0..most {
            let says: BTreeMap<String, &Value> = vectors
                .iter()
                .enumerate()
                .filter_map(|(index, (_, says))| Some((format!("vector {index}"), says.get(number)?)))
                .collect();
            fs::write(folder.join(format!("says{number}.json")), json!(says).to_string()).unwrap();
        }
    });
    let count = vectors.len();
    // Three orders in which neighbours are far apart.
    for (round, stride) in
        (0..).zip([1, 7, 11].into_iter().filter(|stride| *stride == 1 || !count.is_multiple_of(*stride)))
    {
        let lines = (0..count).map(|place| {
            let index = place * stride % count;
            let mut line = vectors[index].0.event.clone();
            line["id"] = json!(round * count + index + 1);
            line["params"]["meta"]["TracePath"] = json!(format!("vector {index}"));
            format!("{line}\n")
        });
        let lines: String = lines.collect();
        let mut stdin = process.stdin.take().unwrap();
        // Written by another thread, so that full pipes cannot block both sides.
        let writing = std::thread::spawn(move || {
            stdin.write_all(lines.as_bytes()).unwrap();
            stdin
        });
        for _ in 0..count {
            let mut reply = process.reply();
            let id = usize::try_from(reply["id"].as_u64().unwrap()).unwrap();
            let vector = vectors[(id - 1) % count].0;
            assert_eq!((id - 1) / count, round, "{reply}");
            reply["id"] = vector.event["id"].clone();
            assert!(is(&reply, &vector.expect), "{}: {reply} is not {}", vector.name, vector.expect);
        }
        process.stdin = Some(writing.join().unwrap());
    }
    assert_eq!(process.end().0, Some(0));
}

/// Vectors with another result under `stdio`, and the reason.
const OTHERWISE: [(&str, &str); 1] = [(
    "a method nobody knows is answered with continue",
    "a request that no hook asks for is the error -32601: a process that stays must not pretend to know a method",
)];

/// Every other vector runs in its own process, because it has its own configuration. The event is sent three times at
/// once, between lines without meaning.
#[test]
fn the_other_vectors_pass_in_separate_processes() {
    let files = vectors::all();
    let others: Vec<&Vector> = picoclaws(&files).filter(|vector| plain(vector).is_none()).collect();
    for (name, why) in OTHERWISE {
        assert!(others.iter().any(|vector| vector.name == name), "{name}: {why}");
    }
    let others: Vec<_> =
        others.into_iter().filter(|vector| OTHERWISE.iter().all(|(name, _)| *name != vector.name)).collect();
    assert_eq!(others.len(), 69);
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(vector) = others.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    holds_alone(vector);
                }
            });
        }
    });
}

fn holds_alone(vector: &Vector) {
    let name = &vector.name;
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::serving(&vector.lay_out("picoclaw", folder.path()), folder, &PATIENT);
    let mut ids: Vec<Value> = vector.event.get("id").cloned().into_iter().collect();
    let of_its_id = vector.hooks.iter().any(|hook| hook.echo.as_deref() == Some("/id"));
    if vector.event["id"].as_u64().is_some_and(|id| id != 0) && !of_its_id {
        ids.extend([json!(1001), json!(1002)]);
    }
    let mut line = vector.event.clone();
    process.send("garbage");
    if ids.is_empty() {
        process.send(line.to_string());
    }
    for id in &ids {
        line["id"] = id.clone();
        process.send(line.to_string());
        process.send("[]");
    }
    let answered = if vector.expect.is_null() { 0 } else { ids.len() };
    for _ in 0..answered {
        let mut reply = process.reply();
        let place = ids.iter().position(|id| *id == reply["id"]);
        ids.remove(place.unwrap_or_else(|| panic!("{name}: nobody waits for {reply}")));
        reply["id"] = vector.expect["id"].clone();
        if vector.event["method"] == "hook.hello" {
            // A long-running process also reports the modes that it does not serve.
            reply["result"].as_object_mut().unwrap().remove("warnings");
        }
        assert!(is(&reply, &vector.expect), "{name}: {reply} is not {}", vector.expect);
    }
    // Notifications are processed to their end and have no reply.
    drop(process.stdin.take());
    let mut rest = String::new();
    process.stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "", "{name}");
    assert_eq!(process.child.wait().unwrap().code(), Some(0), "{name}");
    assert_eq!(vectors::ran(process.folder.path(), vector.hooks.len()), vector.should_run(), "{name}");
}

/// Returns the resident memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// `./just soak` sends many more requests.
#[test]
fn memory_does_not_grow_with_requests() {
    let requests: u64 = std::env::var("HOOKBOX_SOAK").ok().map_or(2_000, |number| number.parse().unwrap());
    let mut process = Process::start(&guarded(), &PATIENT);
    let mut before = 0;
    for from in (0..requests).step_by(50) {
        for id in from + 1..=from + 50 {
            process.send(request(id, "hook.before_tool", exec(if id % 2 == 0 { "ls" } else { "rm -rf /" })));
            process.send(r#"{"jsonrpc":"2.0","method":"hook.event","params":{"Kind":8,"Payload":{"Tool":"exec"}}}"#);
        }
        for _ in 0..50 {
            let reply = process.reply();
            let wanted = if reply["id"].as_u64().unwrap().is_multiple_of(2) { "continue" } else { "deny_tool" };
            assert_eq!(reply["result"]["action"], wanted, "{reply}");
        }
        // All slots of the pool have been used by then.
        if from <= requests / 4 {
            before = resident(process.child.id());
        }
    }
    let after = resident(process.child.id());
    println!("{before} KiB became {after} KiB after {requests} requests");
    assert!(after < before + 16 * 1024, "{before} KiB became {after} KiB after {requests} requests");
    assert_eq!(process.end().0, Some(0));
}

#[test]
fn a_custom_command_is_described_and_run() {
    let hooks = fs::read_to_string(examples::examples_dir().join("plugin-tool/hooks.json")).unwrap();
    let mut process = Process::laid_out(&serde_json::from_str(&hooks).unwrap(), &PATIENT, |folder| {
        fs::copy(examples::component("plugin-tool"), folder.join("plugin-tool.wasm")).unwrap();
    });
    let params = json!({ "context": {}, "model": "m", "messages": [{ "role": "user", "content": "draw" }] });
    let told = process.ask("hook.before_llm", params)["result"]["request"].clone();
    let prompt = told["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.starts_with("draw\n\n(The command `bar_chart 3 1 2` "), "{told}");
    let answered = process.ask("hook.before_tool", exec("bar_chart 3 1 2"))["result"].clone();
    assert_eq!(answered["action"], "respond");
    assert!(
        answered["result"]["for_user"].as_str().unwrap().ends_with(" 3\n███████ 1\n█████████████ 2\n"),
        "{answered}"
    );
    let wrong = process.ask("hook.before_tool", exec("bar_chart"))["result"].clone();
    assert_eq!((&wrong["action"], &wrong["result"]["is_error"]), (&json!("respond"), &json!(true)));
    assert_eq!(process.ask("hook.before_tool", exec("ls"))["result"], json!({ "action": "continue" }));
    assert_eq!(process.end().0, Some(0));
}

/// A hook process of hookbox, which is a hook process of `PicoClaw`. It ends with both.
#[test]
fn a_hook_process_behind_it_serves_and_ends_with_it() {
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/processes/review_gate.py").canonicalize().unwrap();
    let gate = json!({ "command": ["python3", script], "intercept": ["before_tool", "approve_tool"], "observe": ["*"],
        "timeout": 120, "startTimeout": 120 });
    let mut process =
        Process::start(&json!({ "dialect": "picoclaw", "failClosed": true, "hooks": { "gate": gate } }), &PATIENT);
    let hello = process.ask("hook.hello", json!({ "version": 1, "modes": ["observe", "tool", "approve"] }));
    assert_eq!(hello["result"], json!({ "ok": true }));
    assert_eq!(process.ask("hook.approve_tool", exec("rm -rf /"))["result"]["approved"], false);
    assert_eq!(process.ask("hook.approve_tool", exec("ls"))["result"], json!({ "approved": true }));
    let threads = fs::read_dir(format!("/proc/{}/task", process.child.id())).unwrap();
    // Any thread may have started it.
    let children: String =
        threads.map(|thread| fs::read_to_string(thread.unwrap().path().join("children")).unwrap()).collect();
    assert!(!children.is_empty(), "the hook process runs");
    let (code, stderr, _) = process.end();
    assert_eq!(code, Some(0), "{stderr}");
    for child in children.split_whitespace() {
        let deadline = Instant::now() + Duration::from_secs(30);
        while fs::read_to_string(format!("/proc/{child}/cmdline")).is_ok_and(|line| line.contains("review_gate")) {
            assert!(Instant::now() < deadline, "it is still there");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// An approver that cannot start does not approve.
#[test]
fn a_hook_process_that_does_not_start_approves_nothing() {
    for closed in [true, false] {
        let gone = json!({ "command": ["/nowhere/at/all"], "intercept": ["before_tool", "approve_tool"] });
        let config = json!({ "dialect": "picoclaw", "failClosed": closed, "hooks": { "gone": gone } });
        let mut process = Process::start(&config, &PATIENT);
        let approval = process.ask("hook.approve_tool", exec("ls"))["result"].clone();
        assert!(approval["approved"] == json!(false) && approval["reason"].is_string(), "{closed}: {approval}");
        let action = process.ask("hook.before_tool", exec("ls"))["result"]["action"].clone();
        assert_eq!(action == "deny_tool", closed, "{action}");
    }
}
