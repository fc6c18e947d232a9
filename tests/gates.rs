//! The reply when hookbox itself fails, for each dialect, event and kind of fault. Events are blocked in the client's
//! form if the configuration asks for it, and only then.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{fs, path::Path, process::Command};

use hookbox_testing::{examples, process::fed};
use serde_json::{Value, json};

/// The form of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Block {
    /// Exit code 2 with the reason on stderr, and an empty stdout.
    Code,
    /// Exit code 2, and this text on stdout. `""` stands for the reason, `0` for the id of the request.
    Words(&'static str),
    /// The same as `Words` with exit code 0, because code 2 does not block there.
    Zero(&'static str),
    /// The event cannot be blocked.
    Never,
}
use Block::{Code, Never, Words, Zero};

const DENY: Block = Words(r#"{"behavior":"deny","message":""}"#);
const SKIP: Block = Words(r#"{"action":"skip","reason":""}"#);
const ABORT: Block = Words(r#"{"action":"abort","reason":""}"#);
const TURN: Block = Words(r#"{"id":0,"jsonrpc":"2.0","result":{"action":"abort_turn","reason":""}}"#);
const HALT: Block = Zero(r#"{"continue":false,"systemMessage":""}"#);
const BLOCK: Block = Zero(r#"{"decision":"block","reason":""}"#);

/// The reply to each client, by the pages in `docs/spec/`.
fn table() -> Vec<(&'static str, Vec<(&'static str, Block)>)> {
    let claude = vec![
        ("PreToolUse", Code),
        ("PostToolUse", Code),
        ("PostToolUseFailure", Never),
        ("UserPromptSubmit", Code),
        ("Stop", Code),
        ("SubagentStart", Never),
        ("SubagentStop", Code),
        ("PreCompact", Code),
        ("PermissionRequest", Code),
        ("SessionStart", Never),
        ("SessionEnd", Never),
        ("Notification", Never),
    ];
    let codebuddy = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact"];
    let blade = vec![
        ("SessionStart", Never),
        ("UserPromptSubmit", Code),
        ("PreToolUse", Code),
        ("PermissionRequest", Code),
        ("PostToolUse", Never),
        ("Notification", Never),
        ("SubagentStop", Code),
        ("Stop", Code),
        ("TaskCompleted", Code),
        ("Compaction", Code),
        ("SessionEnd", Never),
        ("canUseTool", DENY),
    ];
    let callback = vec![
        ("SessionStart", Never),
        ("UserPromptSubmit", ABORT),
        ("PreToolUse", SKIP),
        ("PostToolUse", Never),
        ("PermissionRequest", SKIP),
        ("SessionEnd", Never),
        ("canUseTool", DENY),
    ];
    let picoclaw = vec![
        ("hook.before_llm", TURN),
        ("hook.after_llm", TURN),
        ("hook.before_tool", Words(r#"{"id":0,"jsonrpc":"2.0","result":{"action":"deny_tool","reason":""}}"#)),
        ("hook.after_tool", TURN),
        ("hook.approve_tool", Words(r#"{"id":0,"jsonrpc":"2.0","result":{"approved":false,"reason":""}}"#)),
    ];
    let codex = vec![
        ("PreToolUse", Code),
        ("PermissionRequest", Code),
        ("PostToolUse", Code),
        ("UserPromptSubmit", Code),
        ("Stop", Code),
        ("SubagentStop", Code),
        ("SessionStart", HALT),
        ("PreCompact", HALT),
        ("SessionEnd", Never),
    ];
    let copilot = vec![
        ("preToolUse", Code),
        ("PermissionRequest", Code),
        ("postToolUse", BLOCK),
        ("userPromptSubmitted", BLOCK),
        ("agentStop", BLOCK),
        ("sessionEnd", Never),
    ];
    let gemini = vec![
        ("BeforeTool", Code),
        ("AfterTool", Code),
        ("BeforeAgent", Code),
        ("AfterAgent", Code),
        ("BeforeModel", Code),
        ("AfterModel", Code),
        ("BeforeToolSelection", Never),
        ("SessionEnd", Never),
    ];
    let opencode = vec![("PreToolUse", Code), ("PostToolUse", Code), ("UserPromptSubmit", Code), ("Stop", Never)];
    let codebuddy = codebuddy.into_iter().map(|event| (event, Code)).collect();
    vec![
        ("claude", claude.clone()),
        ("claude@observed", claude),
        ("codebuddy", codebuddy),
        ("blade", blade),
        ("blade-callback", callback.clone()),
        ("blade-callback@observed", callback.into_iter().filter(|(_, block)| *block != Never).collect()),
        ("picoclaw", picoclaw),
        ("codex", codex),
        ("copilot", copilot),
        ("gemini", gemini),
        ("opencode", opencode),
    ]
}

/// The start of an event with this name and the tool `Bash`, before its other fields.
fn head(dialect: &str, event: &str) -> String {
    match dialect.trim_end_matches("@observed") {
        "picoclaw" => format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{event}","params":{{"tool":"Bash""#),
        "blade-callback" => format!(r#"{{"event":"{event}","sessionId":"s","toolName":"Bash""#),
        _ => format!(r#"{{"hook_event_name":"{event}","tool_name":"Bash""#),
    }
}

/// Faults after the head that make an event invalid.
const BROKEN: [&[u8]; 5] =
    [b",\"a\":[1,", b",\"a\":1,\"a\":2}}", b",\"a\":\"\xff\"}}", b",\"a\":\"\0\"}}", b"}} trailing"];

/// A configuration with one hook for this event and with these options. Its command gives an empty answer.
fn config(dialect: &str, event: &str, top: &Value, options: &Value) -> Value {
    let mut hook = options.clone();
    if hook.get("type").is_none() {
        hook["type"] = "command".into();
        hook["command"] = "cat >/dev/null".into();
    }
    let matcher = hook.as_object_mut().unwrap().remove("matcher");
    let mut config = if event == "canUseTool" {
        json!({ "canUseTool": hook })
    } else if dialect == "picoclaw" {
        hook["intercept"] = json!([event.trim_start_matches("hook.")]);
        json!({ "hooks": { "gate": hook } })
    } else if dialect.starts_with("blade-callback") {
        if let Some(matcher) = matcher {
            hook["matcher"] = matcher;
        }
        json!({ "hooks": { event: [hook] } })
    } else {
        let mut group = json!({ "hooks": [hook] });
        if let Some(matcher) = matcher {
            group["matcher"] = matcher;
        }
        json!({ "hooks": { event: [group] } })
    };
    config["dialect"] = dialect.into();
    config.as_object_mut().unwrap().extend(top.as_object().unwrap().clone());
    config
}

struct Told {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run(dir: &Path, options: &[&str], wire: &[u8]) -> Told {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.env("XDG_STATE_HOME", dir);
    let output = fed(command.current_dir(dir).args(["run", "--config", "hooks.json"]).args(options), wire);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Told { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Asserts that the reply blocks in the client's form and has the reason.
fn assert_blocked(told: &Told, block: Block, place: &str) {
    let (code, words) = match block {
        Code => (2, None),
        Words(words) => (2, Some(words)),
        Zero(words) => (0, Some(words)),
        Never => unreachable!(),
    };
    let Told { stdout, stderr, .. } = told;
    assert_eq!(told.code, Some(code), "{place}: {stdout} {stderr}");
    assert!(!stderr.trim().is_empty() && !stderr.contains("panicked"), "{place}: {stderr}");
    match words {
        None => assert_eq!(stdout, "", "{place}"),
        Some(words) => {
            let mut said: Value = serde_json::from_str(stdout).unwrap_or_else(|_| panic!("{place}: {stdout:?}"));
            if let Some(id) = said.get_mut("id") {
                assert_eq!(*id, 7, "{place}");
                *id = 0.into();
            }
            let at = if said.get("result").is_some() { "/result" } else { "" };
            let reason = ["reason", "message", "systemMessage"].map(|key| format!("{at}/{key}"));
            let reason = reason.iter().find(|pointer| said.pointer(pointer).is_some()).unwrap();
            let reason = said.pointer_mut(reason).unwrap();
            assert!(!reason.as_str().unwrap().is_empty(), "{place}");
            *reason = "".into();
            assert_eq!(said, serde_json::from_str::<Value>(words).unwrap(), "{place}");
        }
    }
}

/// Asserts that the reply does not block.
fn assert_open(told: &Told, dialect: &str, code: i32, place: &str) {
    // Clients that block on hookbox's own codes get another one.
    let code = if matches!(dialect, "copilot" | "gemini") { 0 } else { code };
    assert_eq!((told.code, &*told.stdout), (Some(code), ""), "{place}: {}", told.stderr);
    assert_eq!(told.stderr.is_empty(), dialect == "gemini", "{place}: {}", told.stderr);
}

/// Runs the test for each dialect in its own folder, all at the same time.
fn each(test: impl Fn(&Path, &'static str, &'static str, Block) + Sync) {
    std::thread::scope(|scope| {
        for (dialect, events) in table() {
            let test = &test;
            scope.spawn(move || {
                let dir = tempfile::tempdir().unwrap();
                for (event, block) in events {
                    test(dir.path(), dialect, event, block);
                }
            });
        }
    });
}

fn write(dir: &Path, config: &Value) {
    fs::write(dir.join("hooks.json"), config.to_string()).unwrap();
}

/// decisions.md#failures: "An unreadable event is a failure of every hook that is subscribed to it, and each failure is
/// settled by its hook's own policy."
#[test]
fn an_event_that_cannot_be_read_is_settled_by_each_hooks_policy() {
    each(|dir, dialect, event, block| {
        for (broken, options, top) in [
            (BROKEN[0], json!({ "onFailure": "block" }), json!({})),
            (BROKEN[1], json!({}), json!({ "failClosed": true })),
            (BROKEN[2], json!({ "onFailure": "block", "matcher": "Bash" }), json!({})),
            (BROKEN[3], json!({ "onFailure": "block" }), json!({})),
            (BROKEN[4], json!({ "onFailure": "block" }), json!({})),
        ] {
            if dialect == "picoclaw" && options.get("matcher").is_some()
                || event == "canUseTool" && options.get("matcher").is_some()
            {
                continue;
            }
            write(dir, &config(dialect, event, &top, &options));
            let wire = [head(dialect, event).as_bytes(), broken].concat();
            let place = format!("{dialect} {event} {}", String::from_utf8_lossy(broken));
            let told = run(dir, &[], &wire);
            match block {
                Never => assert_open(&told, dialect, 65, &place),
                block => {
                    assert_blocked(&told, block, &place);
                    assert!(told.stderr.contains("(event: "), "{place}: {}", told.stderr);
                }
            }
        }
    });
}

#[test]
fn an_unreadable_event_opens_no_fail_closed_gate() {
    each(|dir, dialect, event, _| {
        let wire = [head(dialect, event).as_bytes(), BROKEN[0]].concat();
        let other = if dialect == "picoclaw" { "hook.event" } else { "Other" };
        let mut cases = vec![
            ("its hook does not mind", config(dialect, event, &json!({}), &json!({ "onFailure": "ignore" }))),
            (
                "its hook does not mind, whatever else fails closed",
                config(dialect, event, &json!({ "failClosed": true }), &json!({ "onFailure": "ignore" })),
            ),
        ];
        if dialect != "picoclaw" {
            let subscribed_elsewhere = config(dialect, other, &json!({ "failClosed": true }), &json!({}));
            cases.push(("nobody is subscribed", subscribed_elsewhere));
        }
        for (why, config) in cases {
            write(dir, &config);
            assert_open(&run(dir, &[], &wire), dialect, 65, &format!("{dialect} {event}: {why}"));
        }
    });
}

/// Ends of an event that exceed a limit of its reader. A model can produce them.
fn beyond_limits() -> [String; 4] {
    let (deep, many) = ("[".repeat(1001), "0,".repeat(250_000));
    [
        format!(",\"a\":{deep}"),
        ",\"a\":1e999}}".to_owned(),
        format!(",\"a\":{deep}{}}}}}", "]".repeat(1001)),
        format!(",\"a\":[{many}0]}}}}"),
    ]
}

/// decisions.md#failures: "A component that may only restrict denies when it exceeds one of its limits before a tool
/// runs"; "The limits of the JSON parser are such limits".
#[test]
fn an_event_beyond_the_readers_limits_does_not_open_a_gate() {
    let gate = json!({ "type": "wasm", "component": examples::component("command-guard") });
    each(|dir, dialect, event, block| {
        let shut = matches!(
            event.trim_start_matches("hook."),
            "PreToolUse"
                | "preToolUse"
                | "BeforeTool"
                | "before_tool"
                | "PermissionRequest"
                | "approve_tool"
                | "canUseTool"
        );
        // Reading 250,000 values is slow.
        let tried = if dialect == "claude" { 4 } else { 2 };
        for (number, end) in beyond_limits().into_iter().enumerate().take(tried) {
            let wire = [head(dialect, event).as_bytes(), end.as_bytes()].concat();
            let place = format!("{dialect} {event} {number}");
            write(dir, &config(dialect, event, &json!({}), &gate));
            let told = run(dir, &[], &wire);
            if shut {
                assert_blocked(&told, block, &place);
                assert!(told.stderr.contains("event-too-large"), "{place}: {}", told.stderr);
            } else if told.code == Some(2) {
                panic!("{place}: {}", told.stderr);
            }
            // An explicit policy overrides the default.
            let mut ignored = gate.clone();
            ignored["onFailure"] = "ignore".into();
            write(dir, &config(dialect, event, &json!({}), &ignored));
            assert_open(&run(dir, &[], &wire), dialect, 65, &place);
            // A command is not restricted to denying. Copilot and PicoClaw's approvals block by default.
            if dialect != "copilot" && event != "hook.approve_tool" {
                write(dir, &config(dialect, event, &json!({}), &json!({})));
                assert_open(&run(dir, &[], &wire), dialect, 65, &format!("{place}: a command"));
            }
        }
    });
}

#[test]
fn an_event_of_more_than_64_mib_does_not_open_a_gate() {
    let dir = tempfile::tempdir().unwrap();
    let gate = json!({ "type": "wasm", "component": examples::component("command-guard") });
    write(dir.path(), &config("claude", "PreToolUse", &json!({}), &gate));
    let long = "x".repeat(64 << 20);
    let wire = format!(r#"{},"tool_input":{{"command":"{long}"}}}}"#, head("claude", "PreToolUse"));
    let told = run(dir.path(), &[], wire.as_bytes());
    assert_blocked(&told, Code, "64 MiB");
    assert!(told.stderr.contains("event-too-large"), "{}", told.stderr);
}

#[test]
fn a_hook_of_another_tool_has_no_say_in_a_broken_event() {
    let dir = tempfile::tempdir().unwrap();
    for (matcher, code) in [("Write", 65), ("Bash", 2), ("Write|Bash", 2)] {
        write(
            dir.path(),
            &config("claude", "PreToolUse", &json!({}), &json!({ "onFailure": "block", "matcher": matcher })),
        );
        let wire = [head("claude", "PreToolUse").as_bytes(), BROKEN[0]].concat();
        assert_eq!(run(dir.path(), &[], &wire).code, Some(code), "{matcher}");
        // The tool is unknown, because the event has two.
        let twice = br#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Edit"}"#;
        assert_eq!(run(dir.path(), &[], twice).code, Some(2), "{matcher}");
    }
}

/// An `ask` is a verdict like any other. The client asks its user.
#[test]
fn a_hook_that_fails_into_an_ask_asks() {
    let dir = tempfile::tempdir().unwrap();
    for (dialect, asks) in [("claude", true), ("blade", true), ("codebuddy", false), ("codex", false)] {
        write(dir.path(), &config(dialect, "PreToolUse", &json!({}), &json!({ "onFailure": "ask" })));
        let told = run(dir.path(), &[], &[head(dialect, "PreToolUse").as_bytes(), BROKEN[0]].concat());
        assert_eq!(told.code, Some(if asks { 0 } else { 2 }), "{dialect}: {}", told.stderr);
        assert_eq!(told.stdout.contains(r#""permissionDecision":"ask""#), asks, "{dialect}: {}", told.stdout);
    }
}

/// A text without an event name may be the event that a hook guards.
#[test]
fn an_unnamed_event_is_blocked_by_a_gate() {
    let dir = tempfile::tempdir().unwrap();
    for wire in ["", "{", "rm -rf /", r#"{"tool_name":"Bash"}"#, r#"{"hook_event_name":5}"#] {
        for (event, options, top, code) in [
            ("PreToolUse", json!({ "onFailure": "block" }), json!({}), 2),
            ("PreToolUse", json!({}), json!({ "failClosed": true }), 2),
            ("PreToolUse", json!({}), json!({}), 65),
            ("PreToolUse", json!({ "onFailure": "block", "mode": "monitor" }), json!({}), 65),
            ("PreToolUse", json!({ "onFailure": "ignore" }), json!({ "failClosed": true }), 2),
            ("Notification", json!({ "onFailure": "block" }), json!({}), 65),
        ] {
            write(dir.path(), &config("claude", event, &top, &options));
            let told = run(dir.path(), &[], wire.as_bytes());
            assert_eq!((told.code, &*told.stdout), (Some(code), ""), "{wire} {event} {options} {top} {}", told.stderr);
        }
    }
}

/// A configuration that is missing, invalid or not UTF-8, with a readable event.
#[test]
fn without_a_configuration_the_event_is_settled_in_its_clients_words() {
    each(|dir, dialect, event, block| {
        let wire = format!("{}}}{}", head(dialect, event), if dialect == "picoclaw" { "}" } else { "" });
        let closed = format!(r#"{{"dialect":"{dialect}","failClosed":true,"hooks":{{"#);
        let latin = [closed.as_bytes(), b"\"\xe9\":1"].concat();
        let utf16: Vec<u8> = closed.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let escaped = closed.replace("failClosed", "fail\\u0043losed");
        let single = closed.replace('"', "'");
        let named = ["--dialect", dialect, "--fail-closed"];
        let wrong = config(dialect, event, &json!({ "failClosed": true, "limits": 5 }), &json!({})).to_string();
        let as_text = config(dialect, event, &json!({ "failClosed": "true" }), &json!({})).to_string();
        let of_a_hook =
            config(dialect, event, &json!({}), &json!({ "onFailure": "block", "timeout": "soon" })).to_string();
        for (why, text, options) in [
            ("it is missing", None, &named[..]),
            ("it is broken", Some(closed.as_bytes()), &[]),
            ("it is not UTF-8", Some(&latin), &[]),
            ("it is UTF-16", Some(&utf16), &[]),
            ("its quotes are not JSON's", Some(single.as_bytes()), &[]),
            ("its key is escaped", Some(escaped.as_bytes()), &[]),
            ("it has an error", Some(wrong.as_bytes()), &[]),
            ("its `failClosed` is the error", Some(as_text.as_bytes()), &[]),
            ("its hook's own failures block", Some(of_a_hook.as_bytes()), &[]),
            ("it has no policy", Some(b"{"), &named),
        ] {
            let path = dir.join("hooks.json");
            let _ = fs::remove_file(&path);
            if let Some(text) = text {
                fs::write(&path, text).unwrap();
            }
            for wire in [wire.as_bytes(), &[wire.as_bytes(), b"x"].concat()] {
                let place = format!("{dialect} {event}: {why}");
                let told = run(dir, options, wire);
                match block {
                    Never => assert_open(&told, dialect, 78, &place),
                    block => assert_blocked(&told, block, &place),
                }
            }
        }
        fs::write(dir.join("hooks.json"), format!(r#"{{"dialect":"{dialect}","hooks":"#)).unwrap();
        assert_open(&run(dir, &[], wire.as_bytes()), dialect, 78, &format!("{dialect} {event}: nothing is to block"));
    });
}

/// With exit code 2 the client gives stderr to the model. The reason comes first, and warnings follow.
#[test]
fn the_reason_is_the_first_thing_on_stderr() {
    let dir = tempfile::tempdir().unwrap();
    let config = json!({
        "dialect": "claude", "failClosed": true, "unheardOf": 1,
        "hooks": { "PreToolUse": [{ "matcher": "Task", "hooks": [{ "type": "command", "command": "cat" }] }] },
    });
    for options in [&[][..], &["--diagnostics", "json"]] {
        write(dir.path(), &config);
        // Warnings are printed once for each state of the file.
        let _ = fs::remove_dir_all(dir.path().join("hookbox"));
        let told = run(dir.path(), options, b"{");
        assert_eq!(told.code, Some(2), "{}", told.stderr);
        assert!(told.stderr.starts_with("hookbox failed; blocking because of `failClosed`: "), "{}", told.stderr);
        assert!(told.stderr.contains("`unheardOf` is not a setting"), "{}", told.stderr);
    }
}

/// `--fail-closed` is the same as `failClosed`, for every rule that depends on it.
#[test]
fn fail_closed_on_the_command_line_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let wire = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    write(dir.path(), &config("claude", "PreToolUse", &json!({}), &json!({})));
    let told = run(dir.path(), &["--fail-closed"], wire);
    assert!(!told.stderr.contains("no failure policy applies"), "{}", told.stderr);
    let told = run(dir.path(), &[], wire);
    assert!(told.stderr.contains("no failure policy applies"), "{}", told.stderr);

    // A `failureBehavior` does not cover timeouts, so `--fail-closed` applies to them.
    let slow = json!({ "type": "command", "command": "sleep 60", "timeoutMs": 50 });
    let hooks = json!({ "failureBehavior": "ask", "PreToolUse": [{ "hooks": [slow] }] });
    write(dir.path(), &json!({ "dialect": "blade", "hooks": hooks }));
    let told = run(dir.path(), &["--fail-closed"], wire);
    assert!(told.stdout.contains(r#""permissionDecision":"deny""#), "{} {}", told.stdout, told.stderr);
}

/// decisions.md#who-is-calling: "A name that contradicts the event's own makes the event unreadable".
#[test]
fn a_name_that_contradicts_the_event_opens_no_gate() {
    let dir = tempfile::tempdir().unwrap();
    let wire = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    for options in [json!({ "failClosed": true }), json!({})] {
        let hook = if options == json!({}) { json!({ "onFailure": "block" }) } else { json!({}) };
        write(dir.path(), &config("claude", "PreToolUse", &options, &hook));
        for name in ["Stop", "PostToolUse", "Notification", "SessionStart", "NoSuchEvent"] {
            assert_blocked(&run(dir.path(), &["--event", name], wire), Code, &format!("{name} {options}"));
        }
    }
}

/// The event's name may come from the command line.
#[test]
fn a_name_that_is_given_counts_where_the_event_is_broken() {
    let dir = tempfile::tempdir().unwrap();
    for (dialect, event, block) in [
        ("claude", "PreToolUse", Code),
        ("claude", "Notification", Never),
        ("blade", "canUseTool", DENY),
        ("blade-callback", "PreToolUse", SKIP),
        ("codex", "SessionStart", HALT),
        ("copilot", "preToolUse", Code),
        ("copilot", "agentStop", BLOCK),
    ] {
        let options = ["--dialect", dialect, "--event", event];
        for (closed, hooks) in
            [(true, None), (false, Some(config(dialect, event, &json!({}), &json!({ "onFailure": "block" }))))]
        {
            let path = dir.path().join("hooks.json");
            let _ = fs::remove_file(&path);
            if let Some(hooks) = hooks {
                write(dir.path(), &hooks);
            }
            let options: Vec<&str> = options.into_iter().chain(closed.then_some("--fail-closed")).collect();
            let told = run(dir.path(), &options, br#"{"a":"#);
            match block {
                Never => assert_open(&told, dialect, if closed { 78 } else { 65 }, event),
                block => assert_blocked(&told, block, &format!("{dialect} {event}")),
            }
        }
    }
}

/// decisions.md#failures: "A handler that hookbox does not run, a component that does not handle an event which its entry names,
/// and an entry that cannot be loaded are hooks that failed, with the cause `load`."
#[test]
fn unsupported_hooks_count_as_failed() {
    each(|dir, dialect, event, block| {
        fs::copy(examples::component("task-check"), dir.join("tasks.wasm")).unwrap();
        let wire = format!("{}}}{}", head(dialect, event), if dialect == "picoclaw" { "}" } else { "" });
        let wire = wire.replace(r#""Bash""#, r#""Bash","tool_input":{},"toolInput":{},"arguments":{},"prompt":"x""#);
        for (handler, why) in [
            (json!({ "type": "mcp_tool", "server": "a", "tool": "b" }), "hookbox does not run"),
            (json!({ "type": "wasm", "component": "tasks.wasm" }), "does not handle it"),
        ] {
            if event == "TaskCompleted" {
                // The component handles this event.
                continue;
            }
            for (top, own, shut) in [
                (json!({ "failClosed": true }), None, true),
                (json!({}), Some("block"), true),
                (json!({ "failClosed": true }), Some("ignore"), false),
            ] {
                let mut options = handler.clone();
                if let Some(policy) = own {
                    options["onFailure"] = policy.into();
                }
                write(dir, &config(dialect, event, &top, &options));
                let told = run(dir, &["--diagnostics", "off"], wire.as_bytes());
                let place = format!("{dialect} {event} {options} {top}: {} {}", told.stdout, told.stderr);
                assert_eq!(told.code, Some(0), "{place}");
                let says_why = told.stdout.contains("failed (load: ") && told.stdout.contains(why);
                assert_eq!(says_why, shut && block != Never, "{place}");
            }
        }
    });
}

/// By default, an approver that fails denies.
#[test]
fn an_approver_that_is_left_out_does_not_approve() {
    let dir = tempfile::tempdir().unwrap();
    let wire = r#"{"jsonrpc":"2.0","id":7,"method":"hook.approve_tool","params":{"tool":"exec","arguments":{}}}"#;
    for handler in [
        json!({ "type": "mcp_tool", "server": "a", "tool": "b" }),
        json!({ "type": "wasm", "component": "missing.wasm" }),
    ] {
        for top in [json!({}), json!({ "failClosed": true })] {
            write(dir.path(), &config("picoclaw", "hook.approve_tool", &top, &handler));
            let told = run(dir.path(), &[], wire.as_bytes());
            assert!(told.stdout.contains(r#""approved":false"#), "{handler} {top}: {} {}", told.stdout, told.stderr);
        }
    }
}

#[test]
fn a_gemini_command_that_is_killed_after_its_answer_is_a_failure_where_failures_block() {
    let dir = tempfile::tempdir().unwrap();
    let event = br#"{"hook_event_name":"BeforeTool","session_id":"s","tool_name":"run_shell_command","tool_input":{}}"#;
    for (closed, answer, stdout) in [
        (false, "{}", "{}\n"),
        (true, "{}", r#"{"decision":"deny","reason":"hook echo failed"#),
        (true, r#"{"decision":"deny","reason":"no"}"#, "{\"decision\":\"deny\",\"reason\":\"no\"}\n"),
    ] {
        let hook = json!({ "type": "command", "command": format!("echo '{answer}'; kill -9 $$") });
        write(
            dir.path(),
            &json!({ "dialect": "gemini", "failClosed": closed, "hooks": { "BeforeTool": [{ "hooks": [hook] }] } }),
        );
        let told = run(dir.path(), &[], event);
        assert!(told.stdout.starts_with(stdout), "{closed} {answer}: {}", told.stdout);
    }
}
