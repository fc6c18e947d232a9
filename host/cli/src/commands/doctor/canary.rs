//! Sends a harmless event through the exact command line that the client would run.

use std::{
    io::Write,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use hookbox_protocol::{
    Event, EventContext, ToolCall,
    event::{EventKind, Input},
};
use serde_json::{Value, json};

use super::Findings;
use crate::{
    child::{collect, within},
    clients::{Form, entry, search_path, settings::Found, wiring::Wiring},
    heartbeat, print,
};

/// The timeout of a canary.
pub const PATIENCE: Duration = Duration::from_mins(1);
/// The time to wait for the rest of its output after it has exited.
const DRAIN: Duration = Duration::from_secs(2);

/// Runs a canary for an entry and reports the result.
pub fn run(findings: &mut Findings, found: &Found, wiring: &Wiring) {
    let Some((event, wire)) = event(findings, found, wiring) else { return };
    let began = Instant::now();
    let (code, stdout, stderr) = match ask(findings, found, &wire) {
        Ok(answered) => answered,
        Err(error) => return findings.problem(format_args!("{event}: the canary cannot be run: {error}")),
    };
    let time = crate::report::time(began.elapsed());
    let answer = stdout.trim();
    let answer = match serde_json::from_str::<Value>(answer.lines().last().unwrap_or_default()) {
        Ok(value) => print::json_text(&value),
        Err(_) if answer.is_empty() => "nothing".to_owned(),
        Err(_) => print::plain(answer),
    };
    let failed = failures(&stderr);
    match code {
        // A gate that denies even this may have been meant so, but usually it is stuck.
        Some(0) if failed.is_empty() && wiring.is_gate(&event) && is_denied(&stderr) => {
            findings.problem(format_args!(
                "{event}: the canary is denied, although it is harmless: {answer}; unless your hooks mean that, every call is \
                 blocked"
            ));
        }
        Some(0) if failed.is_empty() => findings.line("canary", format_args!("{event}   {answer}   ({time})")),
        Some(0) => {
            let failed = print::plain(&failed.join("; "));
            findings.problem(format_args!("{event}: the outcome of the canary is {answer}, because {failed}"));
        }
        Some(2) => {
            let why = print::plain(stderr.trim());
            findings.problem(format_args!("{event}: every call is blocked: the canary blocks: {why}"));
        }
        code => {
            let code = code.map_or_else(|| "was killed or timed out".into(), |code| format!("ended with {code}"));
            findings.problem(format_args!("{event}: the canary {code}: {}", print::plain(stderr.trim())));
        }
    }
}

/// Returns true if the outcome of a canary is a denial, from the diagnostics of `hookbox run`.
fn is_denied(stderr: &str) -> bool {
    let mut reports = stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    reports.any(|report| report.get("event").is_some() && report.get("verdict") == Some(&json!("deny")))
}

/// The hooks that failed on a canary, from the diagnostics of `hookbox run`.
fn failures(stderr: &str) -> Vec<String> {
    let reports = stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let failed = reports.filter(|report| report.get("verdict") == Some(&json!("failed")));
    let text = |report: &Value, key: &str| report.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    failed.map(|report| format!("hook {} failed: {}", text(&report, "hook"), text(&report, "message"))).collect()
}

/// The name and the JSON of a harmless event.
fn event(findings: &Findings, found: &Found, wiring: &Wiring) -> Option<(String, Vec<u8>)> {
    let dialect = wiring.config.dialect;
    let shell = findings.client.shell;
    let input = if findings.client.form == Form::Process {
        json!({ "action": "run", "command": "true" })
    } else {
        json!({ "command": "true" })
    };
    let context = EventContext {
        session_id: Some("hookbox-doctor".into()),
        cwd: Some(findings.project.to_string_lossy().into_owned()),
        ..EventContext::default()
    };
    if findings.client.form == Form::Process {
        let request = found.handler.pointer("/intercept/0").and_then(Value::as_str)?;
        let method = format!("hook.{request}");
        let line =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "tool": shell, "arguments": input } });
        return Some((method, format!("{line}\n").into_bytes()));
    }
    let spec = dialect.spec_by_name(&found.event)?;
    let call = spec.kind.has_tool().then(|| ToolCall::new(shell, input));
    let mut event = Event::new(dialect, context, call, empty(spec.kind));
    found.event.clone_into(&mut event.name);
    if findings.client.form == Form::Flat {
        // With this spelling the payload has Claude's fields.
        event.raw = json!({ "hook_event_name": found.event }).into();
    }
    let mut wire = dialect.encode_event(&event);
    if let Some(wire) = wire.as_object_mut() {
        for (key, value) in marks(findings.client.name) {
            wire.entry(key).or_insert(value);
        }
    }
    Some((found.event.clone(), wire.to_string().into_bytes()))
}

/// Fields that the real client adds to every event, by which hookbox recognises the client.
fn marks(client: &str) -> Vec<(&'static str, Value)> {
    let transcript = |below: &str| {
        let home = std::env::var("HOME").unwrap_or_default();
        ("transcript_path", json!(format!("{home}/{below}/hookbox-doctor.jsonl")))
    };
    let time = ("timestamp", json!("1970-01-01T00:00:00.000Z"));
    match client {
        "claude" => vec![transcript(".claude/projects/hookbox-doctor"), ("prompt_id", json!("hookbox-doctor"))],
        "codebuddy" => {
            let version = ("version", json!(env!("CARGO_PKG_VERSION")));
            vec![transcript(".codebuddy/projects/hookbox-doctor"), ("client", json!("hookbox-doctor")), version]
        }
        "codex" => vec![transcript(".codex/sessions"), ("turn_id", json!("hookbox-doctor"))],
        "gemini" => vec![transcript(".gemini/tmp/hookbox-doctor/chats"), time],
        "blade" => vec![("hook_execution_id", json!("hookbox-doctor")), time],
        "copilot" => vec![time],
        _ => Vec::new(),
    }
}

fn empty(kind: EventKind) -> Input {
    match Input::empty(kind) {
        Input::UserPromptSubmit(mut submitted) => {
            submitted.prompt = Some("hookbox doctor".into());
            Input::UserPromptSubmit(submitted)
        }
        other => other,
    }
}

/// Runs the entry as the client would, with the variables that the client sets for its hooks.
fn ask(findings: &Findings, found: &Found, wire: &[u8]) -> std::io::Result<(Option<i32>, String, String)> {
    let text = |key: &str| found.handler.get(key).and_then(Value::as_str);
    let line = text("bash").or(text("command")).filter(|_| found.handler.get("args").is_none());
    let line = line.map(|line| entry::expanded(findings.client, &findings.project, line));
    let words = found.command.words.iter().map(String::as_str);
    let mut words: Vec<&str> = line.as_deref().map_or_else(|| words.collect(), |line| vec!["sh", "-c", line]);
    let program = if words.is_empty() { "hookbox" } else { words.remove(0) };
    let mut command = Command::new(program);
    command.args(words);
    command.current_dir(&findings.project).env(heartbeat::CANARY, "1");
    // The shell must not find programs of the checkout either.
    if let Ok(path) = std::env::join_paths(search_path()) {
        command.env("PATH", path);
    }
    if let Some(variable) = findings.client.project_variable {
        command.env(variable, &findings.project);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A process that exits without reading reports its error otherwise.
        let _ = stdin.write_all(wire);
    }
    let stderr = child.stderr.take();
    let stderr = stderr.map(collect);
    let stdout = within(&mut child, PATIENCE).unwrap_or_default();
    let code = child.wait()?.code();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    // A background process may keep the pipe open.
    let stderr = stderr.and_then(|stderr| stderr.recv_timeout(DRAIN).ok()).unwrap_or_default();
    Ok((code, text(stdout), text(stderr)))
}
