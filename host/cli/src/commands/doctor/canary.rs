//! A harmless event through the very command line that the client would run.

use std::{
    io::{Read, Write},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use hookbox_protocol::{
    Event, EventContext, ToolCall,
    event::{EventKind, Input},
};
use serde_json::{Value, json};

use super::{Findings, line};
use crate::{
    clients::{Form, entry::Wiring, settings::Found},
    heartbeat, print,
};

/// How long a canary may take.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Runs one and shows what came of it.
pub fn run(findings: &mut Findings, found: &Found, wiring: &Wiring) {
    let Some((event, wire)) = event(findings, found, wiring) else { return };
    let began = Instant::now();
    let (code, stdout, stderr) = match ask(findings, found, &wire) {
        Ok(answered) => answered,
        Err(error) => return findings.problem(format_args!("{event}: the canary cannot be run: {error}")),
    };
    let time = crate::report::time(began.elapsed());
    let said = stdout.trim();
    let said = match serde_json::from_str::<Value>(said.lines().last().unwrap_or_default()) {
        Ok(value) => print::json_text(&value),
        Err(_) if said.is_empty() => "nothing".to_owned(),
        Err(_) => print::plain(said),
    };
    match code {
        Some(0) => line("canary", format_args!("{event}   {said}   ({time})")),
        Some(2) => {
            line("canary", format_args!("{event}   blocks: {}   ({time})", print::plain(stderr.trim())));
        }
        code => {
            let code =
                code.map_or_else(|| "was killed, or had not ended in time".into(), |code| format!("ended with {code}"));
            findings.problem(format_args!("{event}: the canary {code}: {}", print::plain(stderr.trim())));
        }
    }
}

/// The name and the bytes of an event that harms nobody.
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
        let asked = found.handler.pointer("/intercept/0").and_then(Value::as_str)?;
        let method = format!("hook.{asked}");
        let line =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "tool": shell, "arguments": input } });
        return Some((method, format!("{line}\n").into_bytes()));
    }
    let spec = dialect.spec_by_name(&found.event)?;
    let call = spec.kind.has_tool().then(|| ToolCall::new(shell, input));
    let mut event = Event::new(dialect, context, call, empty(spec.kind));
    found.event.clone_into(&mut event.name);
    if findings.client.form == Form::Flat {
        // Under this spelling the payload has Claude's fields.
        event.raw = json!({ "hook_event_name": found.event }).into();
    }
    let mut wire = dialect.encode_event(&event);
    if let (Form::Flat, Some(wire)) = (findings.client.form, wire.as_object_mut()) {
        wire.insert("timestamp".into(), "1970-01-01T00:00:00Z".into());
    }
    Some((found.event.clone(), wire.to_string().into_bytes()))
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

/// Runs the entry as the client would, with what the client sets for its hooks.
fn ask(findings: &Findings, found: &Found, wire: &[u8]) -> std::io::Result<(Option<i32>, String, String)> {
    let text = |key: &str| found.handler.get(key).and_then(Value::as_str);
    let line = text("bash").or(text("command")).filter(|_| found.handler.get("args").is_none());
    let words = found.ours.words.iter().map(String::as_str);
    let mut words: Vec<&str> = line.map_or_else(|| words.collect(), |line| vec!["sh", "-c", line]);
    let program = if words.is_empty() { "hookbox" } else { words.remove(0) };
    let mut command = Command::new(program);
    command.args(words);
    command.current_dir(&findings.project).env(heartbeat::CANARY, "1");
    if let Some(variable) = findings.client.project_variable {
        command.env(variable, &findings.project);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that ends without reading says why otherwise.
        let _ = stdin.write_all(wire);
    }
    let stderr = child.stderr.take();
    let stderr = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.map(|mut stderr| stderr.read_to_end(&mut text));
        text
    });
    let stdout = within(&mut child, PATIENCE).unwrap_or_default();
    let code = child.wait()?.code();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((code, text(stdout), text(stderr.join().unwrap_or_default())))
}

/// What a process prints before it ends; one that does not end in time is killed.
pub fn within(child: &mut Child, time: Duration) -> Option<Vec<u8>> {
    let mut stdout = child.stdout.take()?;
    let (send, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.read_to_end(&mut text);
        let _ = send.send(text);
    });
    let printed = done.recv_timeout(time).ok();
    if printed.is_none() {
        let _ = child.kill();
    }
    let _ = child.wait();
    printed
}
