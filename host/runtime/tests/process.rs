//! Hook processes: the examples of the specification, under several dialects, and processes that violate the protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::needless_pass_by_value)] // `json!` makes values

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use hookbox::{
    BuildError, Cause, HookReport, HookSet, Verdict,
    config::{Config, Diagnostic},
};
use serde_json::{Value, json};

fn script(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/processes").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// A hook set in a folder of its own, which is the working directory of its processes.
struct Stage {
    host: HookSet,
    folder: tempfile::TempDir,
}

impl Stage {
    async fn try_new(config: Value) -> Result<Self, BuildError> {
        let folder = tempfile::tempdir().unwrap();
        let loaded = Config::parse(&config.to_string(), &folder.path().join("hooks.json"), None).unwrap();
        let left_out = |warning: &Diagnostic| warning.message.contains("counts as failed");
        assert!(!loaded.warnings.iter().any(left_out), "{config}");
        Ok(Self { host: HookSet::standalone().config(loaded.config).build().await?, folder })
    }

    async fn new(config: Value) -> Self {
        Self::try_new(config).await.unwrap()
    }

    /// A hook set with one misbehaving process. Machines under load are slow, so only tests about timeouts set one.
    async fn liar(how: &str, more: Value) -> Self {
        let mut hook = json!({
            "command": ["python3", script("liar.py"), how], "intercept": ["before_tool", "approve_tool"],
            "timeout": 60, "startTimeout": 60,
        });
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Self::new(json!({ "dialect": "picoclaw", "hooks": { "liar": hook } })).await
    }

    async fn ask(&self, method: &str, params: Value) -> Verdict {
        self.host
            .dispatch(json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string())
            .await
            .unwrap()
    }

    async fn before(&self, text: &str) -> Verdict {
        self.ask("hook.before_tool", json!({ "tool": "echo", "arguments": { "text": text } })).await
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn result(verdict: &Verdict) -> Value {
    verdict.wire.as_ref().unwrap()["result"].clone()
}

fn denied(reason: &str) -> Value {
    json!({ "action": "deny_tool", "reason": reason })
}

fn failed(hook: &HookReport) -> (Cause, String) {
    let failure = hook.outcome().unwrap().as_ref().unwrap_err();
    (failure.cause, failure.message.clone())
}

fn logged(verdict: &Verdict) -> String {
    let logs = verdict.hooks.iter().filter_map(HookReport::run).flat_map(|run| &run.logs);
    logs.map(|line| line.message.clone() + "\n").collect()
}

/// Waits for an effect of another process.
async fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn gone(pid: &str) -> Option<()> {
    assert!(Path::new("/proc/self/status").exists(), "processes are looked for there");
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    (status.is_empty() || status.contains("State:\tZ")).then_some(())
}

#[tokio::test]
async fn the_review_gate_of_the_specification_runs_as_it_is_written() {
    let gate = json!({
        "enabled": true, "priority": 100, "transport": "stdio", "command": ["python3", script("review_gate.py")],
        "observe": ["tool_exec_start"], "intercept": ["before_tool", "approve_tool"], "env": { "LEVEL": "1" },
    });
    let stage = Stage::new(json!({ "dialect": "picoclaw", "hooks": { "py_review_gate": gate } })).await;
    let echo = |text: &str| json!({ "tool": "echo_text", "arguments": { "text": text } });
    let modified = stage.ask("hook.before_tool", echo("hello")).await;
    let call = json!({ "tool": "echo_text", "arguments": { "text": "modified hello" } });
    assert_eq!(result(&modified), json!({ "action": "modify", "call": call }));
    assert_eq!(result(&stage.ask("hook.before_tool", echo("")).await), denied("invalid arguments"));
    let run = |command: &str| json!({ "tool": "bash", "arguments": { "command": command } });
    let refused = json!({ "approved": false, "reason": "dangerous command, not to be run" });
    assert_eq!(result(&stage.ask("hook.approve_tool", run("rm -rf /")).await), refused);
    assert_eq!(result(&stage.ask("hook.approve_tool", run("ls")).await), json!({ "approved": true }));

    let event = json!({ "jsonrpc": "2.0", "method": "hook.event", "params": { "Kind": "tool_exec_start" } });
    assert_eq!(stage.host.dispatch(event.to_string()).await.unwrap().wire, None);
    // The line is written before the next reply, but on another stream.
    let mut log = String::new();
    while !log.contains("observed tool_exec_start") {
        log += &logged(&stage.ask("hook.before_tool", echo("")).await);
    }
}

#[tokio::test]
async fn the_plugin_tool_of_the_specification_runs_as_it_is_written() {
    let tool = json!({ "command": ["python3", script("plugin_tool.py")], "intercept": ["before_llm", "before_tool"] });
    let stage = Stage::new(json!({ "dialect": "picoclaw", "hooks": { "plugin": tool } })).await;
    let messages = json!([{ "role": "user", "content": "hello" }]);
    let asked =
        json!({ "model": "claude-sonnet", "messages": messages, "tools": [], "options": { "temperature": 0.7 } });
    let request = result(&stage.ask("hook.before_llm", asked).await)["request"].clone();
    assert_eq!(request["tools"][0]["function"]["name"], "my_plugin_tool");
    assert_eq!((&request["messages"], &request["options"]), (&messages, &json!({ "temperature": 0.7 })));
    let call = json!({ "tool": "my_plugin_tool", "arguments": { "input": "x" } });
    let answered = result(&stage.ask("hook.before_tool", call).await);
    let said = json!({ "for_llm": "The plugin ran, input: x", "silent": false, "is_error": false });
    assert_eq!(answered, json!({ "action": "respond", "result": said }));
    let other = json!({ "tool": "exec", "arguments": {} });
    assert_eq!(result(&stage.ask("hook.before_tool", other).await), json!({ "action": "continue" }));
}

#[tokio::test]
async fn the_handshake_names_the_hook_and_its_modes() {
    let stage = Stage::liar("", json!({ "observe": ["*"], "intercept": ["after_tool", "before_llm"] })).await;
    let hello =
        until("hello", || fs::read_to_string(stage.path("hello")).ok().filter(|text| text.ends_with('\n'))).await;
    let hello: Value = serde_json::from_str(&hello).unwrap();
    assert_eq!(hello, json!({ "name": "liar", "version": 1, "modes": ["observe", "llm", "tool"] }));
}

/// A component, a command and two processes form one chain by priority. Each gets the call as the previous ones rewrote
/// it, until one ends it.
#[tokio::test]
async fn processes_and_commands_are_one_chain() {
    let gate = |priority: i64| json!({ "priority": priority, "command": ["python3", script("review_gate.py")], "intercept": ["before_tool"] });
    let print = r#"{"action":"modify","call":{"arguments":{"text":"of the command"}}}"#;
    let command =
        json!({ "priority": 2, "type": "command", "command": format!("echo '{print}'"), "intercept": ["before_tool"] });
    let stage =
        Stage::new(json!({ "dialect": "picoclaw", "hooks": { "a": gate(3), "b": command, "c": gate(1) } })).await;
    let verdict = stage.ask("hook.before_tool", json!({ "tool": "echo_text", "arguments": { "text": "hello" } })).await;
    let names: Vec<&str> = verdict.hooks.iter().map(|hook| &*hook.name).collect();
    assert_eq!(names, ["c", "b", "a"]);
    assert_eq!(result(&verdict)["call"]["arguments"]["text"], "modified of the command");
}

#[tokio::test]
async fn unexpected_replies_are_logged_and_ignored() {
    let stage = Stage::liar("", json!({})).await;
    let verdict = stage.before("wrong id").await;
    assert_eq!(result(&verdict), denied("at last"));
    let log = logged(&verdict);
    for told in ["a reply without a request, not read: ", "a line that is not a reply, not read: ", "host.shell"] {
        assert!(log.contains(told), "{told}: {log}");
    }
    let twice = stage.before("twice").await;
    assert_eq!(result(&twice), denied("once"));
    // The second reply may arrive before the first is reported.
    let log = logged(&twice) + &logged(&stage.before("x").await);
    assert!(log.contains("a second reply to one request"), "{log}");
    let chatter = stage.before("chatter").await;
    assert_eq!(result(&chatter), denied("after chatter"));
    assert!(logged(&chatter).contains("Loading model..."));
}

#[tokio::test]
async fn late_replies_are_logged_and_ignored() {
    let stage = Stage::liar("", json!({})).await;
    {
        let late = stage.before("late");
        tokio::pin!(late);
        // Dropped, as at a client's deadline.
        assert!(tokio::time::timeout(Duration::from_secs(2), &mut late).await.is_err());
    }
    let verdict = stage.before("in time").await;
    assert_eq!(result(&verdict), denied("in time"));
    assert!(logged(&verdict).contains("a late reply"), "{}", logged(&verdict));
}

#[tokio::test]
async fn an_invalid_reply_fails_only_its_request() {
    let stage = Stage::liar("", json!({})).await;
    let pid = result(&stage.before("pid").await);
    for (lie, cause, why) in [
        ("half a line", Cause::BadOutput, "its reply is "),
        ("two keys", Cause::BadOutput, "its reply is "),
        ("no result", Cause::BadOutput, "neither `result` nor `error`"),
        ("a list", Cause::BadOutput, "a `result` that is not an object"),
        ("an error", Cause::Guest, "disk full"),
    ] {
        let verdict = stage.before(lie).await;
        let (found, message) = failed(&verdict.hooks[0]);
        assert!(found == cause && message.contains(why), "{lie}: {found:?} {message}");
        // decisions.md#picoclaw: "An interceptor that errors or times out is skipped (fail-open)".
        assert_eq!(result(&verdict), json!({ "action": "continue" }), "{lie}");
    }
    assert_eq!(result(&stage.before("pid").await), pid, "it lives");
    let approval = json!({ "tool": "echo", "arguments": { "text": "an error" } });
    assert_eq!(result(&stage.ask("hook.approve_tool", approval).await)["approved"], false);
}

#[tokio::test]
async fn a_crash_fails_pending_requests_and_the_next_call_restarts() {
    let stage = Stage::liar("", json!({ "onFailure": "block" })).await;
    let mut pid = result(&stage.before("pid").await)["reason"].clone();
    for (lie, cause, why) in [
        ("exit", Cause::Exit, "exit code 3"),
        ("a signal", Cause::Exit, "by a signal"),
        ("half a line and gone", Cause::BadOutput, "its reply is "),
        ("closes its stdout", Cause::Exit, "closed its stdout"),
        ("a long line", Cause::OutputTooLarge, "1 MiB or more"),
        ("a line without end", Cause::OutputTooLarge, "1 MiB or more"),
        ("forks", Cause::Exit, "exit code 0"),
    ] {
        let verdict = stage.before(lie).await;
        let (found, message) = failed(&verdict.hooks[0]);
        assert!(found == cause && message.contains(why), "{lie}: {found:?} {message}");
        assert_eq!(result(&verdict)["action"], "deny_tool", "{lie}");
        let next = stage.before("pid").await;
        assert!(next.hooks[0].outcome().unwrap().is_ok(), "{lie}: {:?}", next.hooks[0]);
        let next = result(&next)["reason"].clone();
        assert_ne!(next, pid, "{lie}");
        pid = next;
    }
    assert_eq!(result(&stage.before("no newline and gone").await), denied("last words"));
    // Processes that it had started ended with it.
    let forked = fs::read_to_string(stage.path("forked")).unwrap();
    until("the fork is gone", || gone(&forked)).await;
    stage.host.close(Duration::from_mins(1)).await;
    let closed = stage.before("x").await;
    assert!(failed(&closed.hooks[0]).1.contains("closed"));
    until("the process is gone", || gone(pid.as_str().unwrap())).await;
}

/// decisions.md#processes: "A process that keeps crashing is restarted with an increasing delay, from 0.2 s after the
/// second crash to 30 s; until then its hook fails."
#[tokio::test]
async fn one_that_keeps_crashing_is_a_failed_hook() {
    let stage = Stage::liar("crashes", json!({})).await;
    let approve = || stage.ask("hook.approve_tool", json!({ "tool": "echo", "arguments": {} }));
    let mut messages = Vec::new();
    // It answers no request, and after a few crashes it is not even started.
    let left_alone = |message: &String| message.contains("times in a row; restart in");
    while !messages.iter().any(left_alone) {
        let verdict = approve().await;
        // decisions.md#picoclaw: "an approver that errors, times out or crashes has denied (fail-closed)".
        assert_eq!(result(&verdict)["approved"], false);
        messages.push(failed(&verdict.hooks[0]).1);
        assert!(messages.len() < 20, "{messages:?}");
    }
    assert!(messages[0].contains("handshake: the process ended with exit code 1"), "{messages:?}");
    assert!(!stage.host.health().is_empty());
    assert!(fs::read_to_string(stage.path("hello")).unwrap().lines().count() < messages.len() + 1);
}

#[tokio::test]
async fn a_process_without_a_handshake_is_killed() {
    for (how, cause, why) in [
        ("no hello", Cause::Timeout, "no response to the handshake within 0.5 s"),
        ("refuses", Cause::Guest, "refused the handshake"),
        ("hello fails", Cause::Guest, "handshake: disk full"),
    ] {
        let start = if how == "no hello" { 0.5 } else { 60.0 };
        let stage = Stage::liar(how, json!({ "startTimeout": start })).await;
        let verdict = stage.before("x").await;
        let (found, message) = failed(&verdict.hooks[0]);
        assert!(found == cause && message.contains(why), "{how}: {found:?} {message}");
    }
}

#[tokio::test]
async fn one_that_cannot_be_started_does_not_load() {
    let hook = json!({ "command": ["/nowhere/at/all"], "intercept": ["before_tool"] });
    let refused = Stage::try_new(json!({ "dialect": "picoclaw", "hooks": { "none": hook } })).await;
    let error = refused.err().expect("an error").to_string();
    assert!(error.contains("`none`") && error.contains("could not be started"), "{error}");
}

#[tokio::test]
async fn each_stage_is_timed() {
    let stages = json!({ "timeout": 60, "interceptorTimeout": 0.2, "approvalTimeout": 0.3 });
    let stage = Stage::liar("", stages).await;
    let arguments = json!({ "tool": "echo", "arguments": { "text": "never" } });
    for (method, seconds) in [("hook.before_tool", "0.2"), ("hook.approve_tool", "0.3")] {
        let (cause, message) = failed(&stage.ask(method, arguments.clone()).await.hooks[0]);
        assert!(cause == Cause::Timeout && message.contains(seconds), "{method}: {message}");
    }
}

#[tokio::test]
async fn requests_of_one_process_overlap() {
    let stage = Stage::liar("", json!({})).await;
    // The first request is answered only after the second is sent.
    let (late, other) = tokio::join!(stage.before("late"), async {
        tokio::task::yield_now().await;
        stage.before("x").await
    });
    assert_eq!((result(&late), result(&other)), (denied("too late"), denied("x")));
    let texts: Vec<String> = (0..100).map(|number| format!("number {number}")).collect();
    let asked = futures_util::future::join_all(texts.iter().map(|text| stage.before(text))).await;
    for (text, verdict) in texts.iter().zip(asked) {
        assert_eq!(result(&verdict), denied(text));
    }
}

#[tokio::test]
async fn events_that_a_process_does_not_read_are_dropped_and_counted() {
    let stage = Stage::liar("deaf", json!({ "observe": ["*"] })).await;
    until("it has shaken hands", || stage.path("hello").exists().then_some(())).await;
    let payload = "x".repeat(10_000);
    let event = json!({ "jsonrpc": "2.0", "method": "hook.event", "params": { "Kind": "error", "Payload": payload } });
    let mut dropped = 0;
    for _ in 0..500 {
        let verdict = stage.host.dispatch(event.to_string()).await.unwrap();
        let notes = &verdict.hooks[0].run().unwrap().notes;
        dropped += usize::from(notes.iter().any(|note| note.text.contains("this event is dropped")));
    }
    // The pipe and the queue were full; everything else was dropped.
    assert!((400..450).contains(&dropped), "{dropped}");
}

/// Closing the hook set reports notifications that a process may have missed.
#[tokio::test]
async fn notifications_that_did_not_arrive_are_reported_at_the_end() {
    let event = json!({ "jsonrpc": "2.0", "method": "hook.event", "params": { "Kind": "error", "Payload": "x".repeat(10_000) } });
    for (how, missed) in [
        ("no hello", Some("1 notifications were not delivered: no response to the handshake in time")),
        ("refuses", Some("1 notifications were not delivered: refused the handshake")),
        ("", None),
    ] {
        let stage = Stage::liar(how, json!({ "observe": ["*"] })).await;
        stage.host.dispatch(event.to_string()).await.unwrap();
        let grace = Duration::from_secs(if missed.is_some() { 2 } else { 60 });
        let missed: Vec<_> = missed.into_iter().map(|missed| ("liar", missed.to_owned())).collect();
        assert_eq!(stage.host.close(grace).await, missed, "{how}");
    }
    let stage = Stage::liar("deaf", json!({ "observe": ["*"] })).await;
    until("it has shaken hands", || stage.path("hello").exists().then_some(())).await;
    for _ in 0..20 {
        stage.host.dispatch(event.to_string()).await.unwrap();
    }
    let missed = stage.host.close(Duration::from_secs(1)).await;
    assert!(missed[0].1.ends_with("of 20 notifications were not written in time"), "{missed:?}");
}

#[tokio::test]
async fn its_environment_has_only_granted_variables() {
    let more = json!({ "env": { "GIVEN": "given" }, "allowedEnvVars": ["CARGO_MANIFEST_DIR"] });
    let stage = Stage::liar("", more).await;
    let told = result(&stage.before("environment").await);
    let seen: Value = serde_json::from_str(told["reason"].as_str().unwrap()).unwrap();
    let of_cargo: Vec<&String> = seen.as_object().unwrap().keys().filter(|name| name.starts_with("CARGO")).collect();
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some() && of_cargo == ["CARGO_MANIFEST_DIR"], "{of_cargo:?}");
    assert_eq!((&seen["GIVEN"], &seen["HOOKBOX_DEPTH"]), (&json!("given"), &json!("1")));
    assert_eq!(seen["CARGO_MANIFEST_DIR"], env!("CARGO_MANIFEST_DIR"));
}

/// Under any dialect, a review gate runs beside a command. It gets requests in its own dialect, and the response is in
/// the client's.
#[tokio::test]
async fn a_process_is_a_hook_under_every_dialect() {
    let command = json!({ "type": "command", "command": "cat > seen; echo '{}'" });
    let gate = json!({ "type": "process", "command": ["python3", script("review_gate.py")], "timeout": 60 });
    let group = |hooks: Value| json!([{ "hooks": hooks }]);
    let stage = Stage::new(json!({ "dialect": "claude", "hooks": {
        "PreToolUse": group(json!([command, gate])), "PermissionRequest": group(json!([gate])), "SessionStart": group(json!([gate])),
    } }))
    .await;
    let ask = |event: &str, tool: &str, input: Value| {
        let wire = json!({ "hook_event_name": event, "session_id": "s", "tool_name": tool, "tool_input": input });
        let host = stage.host.clone();
        async move { host.dispatch(wire.to_string()).await.unwrap() }
    };
    let denied = ask("PreToolUse", "Bash", json!({ "text": "" })).await;
    let specific = &denied.wire.as_ref().unwrap()["hookSpecificOutput"];
    assert_eq!(
        (&specific["permissionDecision"], &specific["permissionDecisionReason"]),
        (&json!("deny"), &json!("invalid arguments"))
    );
    assert!(fs::read_to_string(stage.path("seen")).unwrap().contains("PreToolUse"));
    assert_eq!(ask("PreToolUse", "Bash", json!({ "command": "ls" })).await.wire, Some(json!({})));
    let refused = ask("PermissionRequest", "Bash", json!({ "command": "rm -rf /" })).await;
    let decision = &refused.wire.as_ref().unwrap()["hookSpecificOutput"]["decision"];
    assert_eq!(
        (&decision["behavior"], &decision["message"]),
        (&json!("deny"), &json!("dangerous command, not to be run"))
    );
    // It gets a notification of an event without a decision. The three entries are one process.
    stage.host.dispatch(r#"{"hook_event_name":"SessionStart","source":"startup"}"#).await.unwrap();
    let mut log = String::new();
    while !log.contains("observed session_start") {
        log += &logged(&ask("PreToolUse", "Bash", json!({})).await);
    }
}

/// The rewrite of a process is the input of the next hook of any type, also under another client's dialect.
#[tokio::test]
async fn processes_and_commands_are_one_chain_under_another_dialect() {
    let gate = json!({ "type": "process", "command": ["python3", script("review_gate.py")], "timeout": 60 });
    let command = json!({ "type": "command", "command": "cat > seen; echo '{}'" });
    let hooks = json!({ "PreToolUse": [gate, command] });
    let stage = Stage::new(json!({ "dialect": "blade-callback", "hooks": hooks })).await;
    let event = json!({ "event": "PreToolUse", "toolName": "echo_text", "toolInput": { "text": "hello" } });
    let verdict = stage.host.dispatch(event.to_string()).await.unwrap();
    assert_eq!(verdict.wire.unwrap()["modifiedInput"], json!({ "text": "modified hello" }));
    assert!(fs::read_to_string(stage.path("seen")).unwrap().contains("modified hello"));
}

/// An event that can be blocked, but has no request in the process's protocol, is not sent as a notification instead.
#[tokio::test]
async fn events_without_a_request_are_not_sent() {
    let gate = json!({ "type": "process", "command": ["python3", script("review_gate.py")] });
    let stage = Stage::new(json!({ "dialect": "claude", "hooks": { "Stop": [{ "hooks": [gate] }] } })).await;
    let found: Vec<String> = stage.host.check().await.iter().map(|found| found.message.clone()).collect();
    assert!(found.iter().any(|message| message.contains("does not handle Stop")), "{found:?}");
}

#[tokio::test]
async fn its_stderr_is_the_hooks_log() {
    let stage = Stage::liar("", json!({})).await;
    let log = {
        let mut log = logged(&stage.before("stderr").await);
        // stdout and stderr are separate streams: the reply may arrive first.
        while !log.contains("two\n") {
            log += &logged(&stage.before("x").await);
        }
        log
    };
    assert!(log.starts_with("one\ny") && log.len() < 10_000, "{}", log.len());
}

#[tokio::test]
async fn it_ends_with_its_hook_set() {
    let stage = Stage::liar("", json!({})).await;
    let pid = result(&stage.before("pid").await)["reason"].as_str().unwrap().to_owned();
    drop(stage);
    until("it is gone", || gone(&pid)).await;
}
