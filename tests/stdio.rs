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

use hookbox_testing::{
    examples,
    vectors::{self, Vector},
};
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
        Self::laid_out(config, more, |folder| {
            fs::copy(examples::component("command-guard"), folder.join("guard.wasm")).unwrap();
        })
    }

    /// In a folder with what the configuration names.
    fn laid_out(config: &Value, more: &[&str], lay_out: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path());
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

/// What the hooks of a vector say, where that is all there is to them: what is peculiar to commands has its own tests.
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

/// Every vector that a hook process can be, through one process that runs hook processes: all at once, in three orders.
#[test]
fn the_vectors_hold_in_one_process_however_they_overlap() {
    let files = vectors::all();
    let vectors: Vec<(&Vector, Vec<Value>)> = files
        .iter()
        .filter(|file| file.dialect == "picoclaw")
        .flat_map(|file| &file.vectors)
        .filter_map(|vector| Some((vector, plain(vector)?)))
        .collect();
    assert!(vectors.len() > 40, "{}", vectors.len());
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
        // Beside, so that neither side waits for the other with a full pipe.
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

/// Resident memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// `./just soak` sends many more.
#[test]
fn memory_stays_as_it_is_however_many_requests_there_are() {
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
        // By then every place of the pool has been used.
        if from <= requests / 4 {
            before = resident(process.child.id());
        }
    }
    let after = resident(process.child.id());
    assert!(after < before + 16 * 1024, "{before} KiB became {after} KiB after {requests} requests");
    assert_eq!(process.end().0, Some(0));
}

#[test]
fn a_tool_of_a_hooks_own_is_told_of_and_answered_for() {
    let hooks = fs::read_to_string(examples::examples_dir().join("plugin-tool/hooks.json")).unwrap();
    let mut process = Process::laid_out(&serde_json::from_str(&hooks).unwrap(), &PATIENT, |folder| {
        fs::copy(examples::component("plugin-tool"), folder.join("plugin-tool.wasm")).unwrap();
    });
    let other = json!({ "type": "function", "function": { "name": "exec" } });
    let told = process.ask("hook.before_llm", json!({ "model": "m", "messages": [], "tools": [other] }));
    let request = &told["result"]["request"];
    assert_eq!((&request["model"], &request["tools"][0]), (&json!("m"), &other));
    let name = request["tools"][1]["function"]["name"].clone();
    let answered =
        process.ask("hook.before_tool", json!({ "tool": name, "arguments": { "values": [3, 1] } }))["result"].clone();
    assert_eq!(answered["action"], "respond");
    assert!(answered["result"]["media"][0].as_str().unwrap().starts_with("data:image/svg+xml,"), "{answered}");
    assert_eq!(answered["result"]["artifact_tags"], json!(["[artifact:chart.svg]"]));
    let wrong = process.ask("hook.before_tool", json!({ "tool": name, "arguments": {} }))["result"].clone();
    assert_eq!((&wrong["action"], &wrong["result"]["is_error"]), (&json!("respond"), &json!(true)));
    assert_eq!(process.ask("hook.before_tool", exec("ls"))["result"], json!({ "action": "continue" }));
    assert_eq!(process.end().0, Some(0));
}

/// A hook process behind hookbox, behind `PicoClaw`: it ends with both.
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
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", process.child.id())).unwrap_or_default();
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

/// What is to approve and cannot be run does not approve.
#[test]
fn a_hook_process_that_cannot_be_started_approves_nothing() {
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
