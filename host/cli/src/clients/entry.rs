//! Builds the entry for hookbox in a client's settings.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use super::{Client, Form, Scope, command::HookboxCommand, on_path, wiring::Wiring, words};

/// The name of hookbox in an entry: `hookbox` if the `PATH` contains this program, else its path.
pub fn program() -> anyhow::Result<String> {
    let own = std::env::current_exe()?;
    let same = |found: PathBuf| found.canonicalize().ok() == own.canonicalize().ok();
    Ok(if on_path("hookbox").is_some_and(same) { "hookbox".to_owned() } else { own.to_string_lossy().into_owned() })
}

/// The words of the command line in an entry.
pub fn command_words(client: &Client, wiring: &Wiring, program: String, config: String) -> Vec<String> {
    let mut words = vec![program];
    if client.form == Form::Process {
        words.push("stdio".into());
    } else {
        // Copilot also reads the settings of Claude Code, so `auto` recognises the caller by its event.
        let shared = client.dialect == "claude" && wiring.is_named_by_file;
        let dialect = if shared { "auto".to_owned() } else { wiring.dialect.clone() };
        words.extend(["run".into(), "--dialect".into(), dialect]);
    }
    if wiring.config.fail_closed {
        // This also applies if the file is missing.
        words.push("--fail-closed".into());
    }
    words.extend(["--config".into(), config]);
    words
}

/// The command line for `sh -c`. The configuration is relative to the project's folder if the client sets its variable.
pub fn command_line(client: &Client, scope: Scope, project: &Path, words: &[String]) -> String {
    let (config, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let below = Path::new(config).strip_prefix(project).ok();
    let config = match (scope, client.project_variable, below) {
        (Scope::Project, Some(variable), Some(below)) => {
            words::quoted_below(&reference(client, variable), &below.to_string_lossy())
        }
        _ => words::quoted(config),
    };
    before.iter().map(|word| words::quoted(word)).chain([config]).collect::<Vec<_>>().join(" ")
}

/// The end of a gate's command line that fails closed.
const CLOSED: &str = " || { [ $? = 2 ] || echo 'hookbox ended without a verdict' >&2; exit 2; }";

/// Returns true if the client blocks when the entry's program is missing or ends without a verdict.
pub fn blocks_without_hookbox(client: &Client, handler: &Value) -> bool {
    let line = ["command", "bash"].into_iter().find_map(|key| handler.get(key)?.as_str()).unwrap_or_default();
    let wrapped = line.split_once("||").is_some_and(|(_, rest)| rest.contains("exit 2"));
    // The shell's exit code 127 blocks there, and Copilot denies on every code except 0.
    wrapped
        || matches!(client.form, Form::Plugin | Form::Flat)
        || client.name == "gemini"
        || handler.get("onFailure") == Some(&json!("block"))
}

/// The command line of a gate that fails closed. It blocks even if hookbox is missing or is killed before it can
/// respond. Only for gates: blocking an agent from stopping would protect nothing.
pub fn fail_closed(client: &Client, wiring: &Wiring, event: &str, line: &str) -> String {
    if wiring.is_gate(event) && wiring.config.fail_closed && client.form == Form::Groups {
        format!("{line}{CLOSED}")
    } else {
        line.to_owned()
    }
}

/// The reference to a variable. Gemini replaces `$NAME` by a quoted path, which is wrong within quotes, and leaves
/// `${NAME}` to the shell.
fn reference(client: &Client, variable: &str) -> String {
    if client.name == "gemini" { format!("${{{variable}}}") } else { format!("${variable}") }
}

/// A command line as the client gives it to the shell.
pub fn expanded(client: &Client, project: &Path, line: &str) -> String {
    match client.project_variable {
        Some(variable) if client.name == "gemini" => {
            line.replace(&format!("${variable}"), &words::quoted(&project.to_string_lossy()))
        }
        _ => line.to_owned(),
    }
}

/// Returns true if the client changes the command line so that it names another configuration than it says.
pub fn is_misquoted(client: &Client, project: &Path, handler: &Value) -> bool {
    let Some(line) = handler.get("command").and_then(Value::as_str) else { return false };
    let expanded = expanded(client, project, line);
    let file = |line: &str| Some(HookboxCommand::of(&json!({ "command": line }))?.file(client, project));
    expanded != line && file(&expanded) != file(line)
}

/// The entry of one event, in the client's form.
pub fn entry(client: &Client, wiring: &Wiring, line: &str, time: Duration) -> Value {
    // `hookbox run` assumes the client's default timeout. With a shorter one, the client would continue before the
    // verdict.
    #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
    let seconds = time.as_secs_f64().ceil().max(client.patience as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "timeouts are a few weeks at most")]
    let timeout = if client.milliseconds { (seconds * 1000.0) as u64 } else { seconds as u64 };
    if client.form == Form::Flat {
        return json!({ "type": "command", "bash": line, "timeoutSec": timeout });
    }
    let mut handler = json!({ "type": "command", "command": line, "timeout": timeout });
    if let Some(handler) = handler.as_object_mut() {
        if client.name == "gemini" {
            handler.insert("name".into(), "hookbox".into());
        }
        // Since 2.1.295, a hook with this option blocks if it cannot start or times out. Older versions ignore the
        // option.
        if client.name == "claude" && wiring.config.fail_closed {
            handler.insert("onFailure".into(), "block".into());
        }
    }
    json!({ "hooks": [handler] })
}
