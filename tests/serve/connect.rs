//! `hookbox run --connect`, a small process in front of the daemon.

use std::{
    io::{Read, Write},
    path::Path,
    process::{Command, Output},
};

use serde_json::{Value, json};

use crate::daemon::{Daemon, Files, bash, denies, token};

fn run(address: &str, event: &Value, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.args(["run", "--connect", address, "--tenant", "acme"]).args(more);
    command.env("HOOKBOX_TOKEN", token("acme"));
    hookbox_testing::process::fed(&mut command, event.to_string().as_bytes())
}

fn told(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

#[test]
fn the_daemon_decides() {
    let files = Files::new();
    files.settings(json!({ "listen": ["127.0.0.1:0", "unix:hookbox.sock"] }));
    let daemon = Daemon::start(files);
    let socket = format!("unix:{}", daemon.files.path("hookbox.sock").display());
    for address in [format!("http://{}", daemon.addresses[0]), socket] {
        let denied = run(&address, &bash("rm -rf /"), &[]);
        assert!(denies(&told(&denied)) && denied.status.code() == Some(0) && denied.stderr.is_empty(), "{denied:?}");
        assert_eq!(told(&run(&address, &bash("ls"), &[])), json!({}));
    }
}

/// A server that is not the daemon: a login page, a proxy, or another program on the port.
fn instead(answer: &'static [u8]) -> (String, std::thread::JoinHandle<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let (mut text, mut chunk) = (Vec::new(), [0; 4096]);
        while !text.windows(4).any(|end| end == b"\r\n\r\n") {
            let read = client.read(&mut chunk).unwrap();
            text.extend_from_slice(&chunk[..read]);
        }
        client.write_all(answer).unwrap();
        // Until the client disconnects. Endless responses are written until then.
        while answer.ends_with(b"chunked\r\n\r\n") && client.write_all(b"100\r\n").is_ok() {
            if client.write_all(&[b' '; 258]).is_err() {
                break;
            }
        }
        let _ = client.read_to_end(&mut Vec::new());
        String::from_utf8_lossy(&text).into_owned()
    });
    (address, asked)
}

/// The daemon's tenant fails closed, and the client has no `--fail-closed` of its own.
#[test]
fn an_event_without_a_certain_name_is_blocked_where_the_tenant_fails_closed() {
    let files = Files::new();
    files.write("tenants/acme-hooks.json", &crate::daemon::closed(crate::daemon::hooks("guard.wasm")));
    let daemon = Daemon::start(files);
    let address = format!("http://{}", daemon.addresses[0]);
    for (event, more) in [
        (bash("ls"), &["--event", "Stop"][..]),
        (json!({ "tool_name": "Bash", "tool_input": {} }), &[]),
        (json!([]), &[]),
    ] {
        let output = run(&address, &event, more);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{event} {more:?}: {output:?}");
        assert!(!output.stderr.is_empty(), "{output:?}");
    }
}

/// Only a daemon can give a verdict, and its deadline is shorter than the client's timeout.
#[test]
fn only_a_daemons_response_is_a_verdict() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\nconnection: close\r\n\r\n<a/>"[..],
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
        b"HTTP/1.1 307 Elsewhere\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nhookbox-verdict: nothing\r\ntransfer-encoding: chunked\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\nhookbox-verdict: nothing\r\nconnection: close\r\n\r\n",
        b"HTTP/1.1 307 Elsewhere\r\nhookbox-verdict: nothing\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n",
        // Responses that are cut off.
        b"HTTP/1.1 200 OK\r\nhookbox-verdict: nothing\r\ncontent-length: 3\r\nconnection: close\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nhookbox-verdict: nothing\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
        // An empty response.
        b"",
    ] {
        let (address, asked) = instead(answer);
        let output = run(&address, &bash("rm -rf /"), &["--fail-closed", "--deadline", "2"]);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{output:?}");
        assert!(asked.join().unwrap().contains("hookbox-timeout: 1.8\r\n"), "{output:?}");
    }
}

/// Interim responses keep a client busy that reads until none is there.
#[test]
fn interim_responses_without_end_are_a_failure_in_time() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let flood = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000);
        for mut client in listener.incoming().flatten() {
            while client.write_all(flood.as_bytes()).is_ok() {}
        }
    });
    let begin = std::time::Instant::now();
    let output = run(&address, &bash("ls"), &["--fail-closed", "--deadline", "2"]);
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{output:?}");
    assert!(begin.elapsed().as_secs_f64() < 4.0, "{:?}", begin.elapsed());
}

#[test]
fn a_problem_is_not_a_verdict() {
    for verdict in ["nothing", "allow"] {
        let answer = format!(
            "HTTP/1.1 200 OK\r\nhookbox-verdict: {verdict}\r\nhookbox-problem: busy\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}"
        );
        let (address, asked) = instead(answer.leak().as_bytes());
        let output = run(&address, &bash("rm -rf /"), &["--fail-closed", "--deadline", "2"]);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{output:?}");
        asked.join().unwrap();
    }
}

/// The state that `run` keeps for a user is also kept for verdicts of the daemon.
#[test]
fn state_works_with_connect() {
    let files = Files::new();
    let keep_going = json!({ "type": "command", "command": "echo 'not yet' >&2; exit 2" });
    let mut tenant = crate::daemon::tenant("acme");
    tenant["allow"] = json!(["command"]);
    tenant["hooks"]["codex"] = "codex.json".into();
    files.write("tenants/codex.json", &json!({ "dialect": "codex", "hooks": { "Stop": [{ "hooks": [keep_going] }] } }));
    files.write("tenants/acme.json", &tenant);
    let daemon = files.start();
    let address = format!("http://{}", daemon.addresses[0]);
    let state = tempfile::tempdir().unwrap();
    let ask = |event: &Value, dialect: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command.args(["run", "--connect", &address, "--tenant", "acme", "--dialect", dialect]);
        command.env("HOOKBOX_TOKEN", token("acme")).env("XDG_STATE_HOME", state.path());
        told(&hookbox_testing::process::fed(&mut command, event.to_string().as_bytes()))
    };
    ask(&bash("ls"), "claude");
    let fired = |event: &str| {
        let folder = std::fs::read_dir(state.path().join("hookbox/fired")).unwrap();
        folder.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(event)).count()
    };
    assert_eq!(fired("claude.PreToolUse"), 1);
    let stop = |again: bool| json!({ "hook_event_name": "Stop", "session_id": "s", "turn_id": "t", "stop_hook_active": again });
    for round in 0..8 {
        assert_eq!(ask(&stop(round > 0), "codex")["decision"], "block", "{round}");
    }
    assert_eq!(ask(&stop(true), "codex"), json!({}));
    assert_eq!(ask(&stop(false), "codex")["decision"], "block", "the count starts at zero");
    assert_eq!(fired("codex.Stop"), 1);
}

/// The same as for local verdicts: a client that gets no verdict continues, unless the exit code blocks.
#[test]
fn an_unwritable_stdout_blocks_if_the_verdict_or_policy_does() {
    let daemon = Files::new().start();
    let address = format!("http://{}", daemon.addresses[0]);
    for (command, options, code) in
        [("ls", &[][..], 70), ("ls", &["--fail-closed"], 2), ("rm -rf /", &[], 2), ("rm -rf /", &["--fail-closed"], 2)]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let nobody = std::io::pipe().unwrap().1;
        for stdout in [std::process::Stdio::from(full), nobody.into()] {
            let mut run = Command::new(env!("CARGO_BIN_EXE_hookbox"));
            run.args(["run", "--connect", &address, "--tenant", "acme"])
                .args(options)
                .env("HOOKBOX_TOKEN", token("acme"));
            let mut child = run.stdin(std::process::Stdio::piped()).stdout(stdout).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            std::io::Write::write_all(&mut stdin, bash(command).to_string().as_bytes()).unwrap();
            drop(stdin);
            assert_eq!(child.wait().unwrap().code(), Some(code), "{command} {options:?}");
        }
    }
}

fn nobody(folder: &Path) -> String {
    format!("unix:{}", folder.join("nobody.sock").display())
}

#[test]
fn a_named_file_decides_if_the_daemon_is_unreachable() {
    let files = Files::new();
    let config = files.path("tenants/acme-hooks.json");
    let output = run(&nobody(&files.path("")), &bash("rm -rf /"), &["--config", config.to_str().unwrap()]);
    assert!(denies(&told(&output)), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("gives no verdict"), "{output:?}");
}

#[test]
fn a_missing_daemon_without_a_substitute_is_a_failure() {
    let files = Files::new();
    let address = nobody(&files.path(""));
    let open = run(&address, &bash("ls"), &[]);
    assert_eq!((open.status.code(), open.stdout.len()), (Some(70), 0), "{open:?}");
    let closed = run(&address, &bash("ls"), &["--fail-closed"]);
    assert_eq!(closed.status.code(), Some(2), "{closed:?}");
}

#[test]
fn an_invalid_response_is_a_failure() {
    let daemon = Files::new().start();
    let address = format!("http://{}", daemon.addresses[0]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.args(["run", "--connect", &address, "--tenant", "acme", "--fail-closed"]).env("HOOKBOX_TOKEN", "guess");
    let output = hookbox_testing::process::fed(&mut command, bash("ls").to_string().as_bytes());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("401"), "{output:?}");
}

/// Checks every vector in the form of the daemon's responses.
#[tokio::test]
async fn header_and_body_of_every_verdict_agree() {
    let mut wrong = Vec::new();
    for file in hookbox_testing::vectors::all() {
        for vector in &file.vectors {
            let folder = tempfile::tempdir().unwrap();
            let config = vector.lay_out(&file.dialect, folder.path());
            let host = hookbox::HookSet::standalone().config_file(&config).unwrap().build().await.unwrap();
            let wire = vector.event.to_string();
            let verdict = match &vector.named {
                Some(name) => host.dispatch_as(name, &wire).await.unwrap(),
                None => host.dispatch(&wire).await.unwrap(),
            };
            let is_text = matches!(verdict.wire, Some(Value::String(_)));
            let word = verdict.outcome.output.word();
            let name = vector.named.as_deref();
            if let Err(why) =
                hookbox_server::agree(host.dialect(), wire.as_bytes(), name, word, &verdict.to_bytes(), is_text)
            {
                wrong.push(format!("{} {}: {why}: {:?}", file.dialect, vector.name, verdict.wire));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A daemon's response with these headers and this body.
fn answering(verdicts: &[&str], more: &str, body: &[u8]) -> &'static [u8] {
    let words: String = verdicts.iter().flat_map(|word| ["hookbox-verdict: ", word, "\r\n"]).collect();
    let head = format!("HTTP/1.1 200 OK\r\n{words}{more}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    Vec::leak([head.as_bytes(), body].concat())
}

#[test]
fn header_and_body_must_agree() {
    let decides = |word: &str| {
        json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": word } }).to_string()
    };
    let (deny, allow, ask) = (decides("deny"), decides("allow"), decides("ask"));
    let gzip = [&b"\x1f\x8b\x08\0\0\0\0\0\0\x03"[..], deny.as_bytes()].concat();
    let (json, text) = ("content-type: application/json\r\n", "content-type: text/plain\r\n");
    let twice = r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecision":"allow"}}"#;
    for (verdicts, more, body) in [
        (&["deny"][..], json, &b""[..]),
        (&["deny"], json, b"garbage"),
        (&["deny"], json, b"{}"),
        (&["deny"], json, b"[]"),
        (&["deny"], json, b"null"),
        (&["deny"], json, b"\xff\xfe"),
        (&["deny"], json, &deny.as_bytes()[..deny.len() - 1]),
        (&["deny"], json, twice.as_bytes()),
        (&["deny"], json, br#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"dney"}}"#),
        (&["deny"], json, br#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":1}}"#),
        // The client would reject these as a whole, and run the tool.
        (&["deny"], json, br#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#),
        (&["deny"], json, br#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":null}}"#),
        (&["deny"], json, br#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"},"systemMessage":null}"#),
        (&["nothing"], json, br#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","PermissionDecision":"deny"}}"#),
        (&["deny"], json, allow.as_bytes()),
        (&["deny"], json, ask.as_bytes()),
        (&["deny"], "content-encoding: gzip\r\n", &gzip),
        (&["deny"], "content-encoding: gzip\r\n", deny.as_bytes()),
        (&["deny"], "content-encoding: identity\r\ncontent-encoding: br\r\n", deny.as_bytes()),
        (&["deny"], text, deny.as_bytes()),
        (&["deny"], "content-type: text/html\r\n", b"<html>denied</html>"),
        (&["allow"], json, deny.as_bytes()),
        (&["allow"], json, b"{}"),
        (&["allow"], json, ask.as_bytes()),
        (&["nothing"], json, deny.as_bytes()),
        (&["nothing"], json, allow.as_bytes()),
        (&["none"], json, allow.as_bytes()),
        (&["nothing"], text, b"let it through"),
        (&["none"], text, b"let it through"),
        (&["ask"], json, allow.as_bytes()),
        (&["stop"], json, b"{}"),
        (&["respond"], json, b"{}"),
        (&["permit"], json, b"{}"),
        (&[""], json, b"{}"),
        (&["nothing, deny"], json, b"{}"),
        (&["deny", "allow"], json, deny.as_bytes()),
        (&["deny", "deny"], json, deny.as_bytes()),
        (&["nothing", "deny"], json, b"{}"),
        (&[], json, deny.as_bytes()),
    ] {
        let shown = format!("{verdicts:?} {more:?} {}", String::from_utf8_lossy(body));
        let (address, _) = instead(answering(verdicts, more, body));
        let closed = run(&address, &bash("rm -rf /"), &["--fail-closed"]);
        assert!(closed.status.code() == Some(2) && closed.stdout.is_empty(), "{shown}: {closed:?}");
        let (address, _) = instead(answering(verdicts, more, body));
        let open = run(&address, &bash("rm -rf /"), &[]);
        assert!(open.status.code() == Some(70) && open.stdout.is_empty(), "{shown}: {open:?}");
    }
    for (verdict, more, body) in [
        ("deny", json, deny.as_bytes()),
        ("DENY", "content-encoding: identity\r\n", deny.as_bytes()),
        ("ask", "", ask.as_bytes()),
        ("allow", json, allow.as_bytes()),
        ("nothing", json, b"{}"),
        ("none", json, br#"{"systemMessage":"seen"}"#),
        ("nothing", "", b""),
    ] {
        let (address, _) = instead(answering(&[verdict], more, body));
        let output = run(&address, &bash("rm -rf /"), &["--fail-closed"]);
        assert!(output.status.success(), "{verdict} {}: {output:?}", String::from_utf8_lossy(body));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), String::from_utf8_lossy(body));
    }
}
