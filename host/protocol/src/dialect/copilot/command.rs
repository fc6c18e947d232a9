//! Reads the output of a command by the rules of copilot.md#exit-codes.

use serde_json::Value;

use super::is_gate;
use crate::{
    command::{CommandOutput, HandlerResult, exited, text},
    event::{Event, EventKind},
    failure::{Cause, Failure},
    json::parse,
    output::{Decision, HookOutput},
    protocol::Dialect,
};

pub(super) fn read(dialect: &dyn Dialect, event: &Event, ended: &CommandOutput<'_>) -> HandlerResult {
    let gate = is_gate(event.kind());
    match ended.code {
        Some(0) => dialect.read_stdout(event, &without_progress(ended.stdout)),
        // decisions.md#exit-codes: "Exit 2: blocking error on a blockable event, reason = stderr verbatim".
        Some(2) if gate => {
            let why = stderr_text(ended).unwrap_or_else(|| exited(Some(2), ended).message);
            Ok((HookOutput::decided(Decision::Deny, why), Vec::new()))
        }
        // "Before a tool runs every exit code but 0 denies, whatever stdout says, and so does a command that is missing or
        // was ended by a signal." This is the default of a failed hook, which `onFailure` overrides.
        code if gate => {
            let failed = exited(code, ended);
            let why = stderr_text(ended).filter(|_| failed.cause == Cause::Exit);
            let message = why.map_or_else(|| failed.message.clone(), |why| format!("{}: {why}", failed.message));
            Err(Failure::new(failed.cause, message))
        }
        // "On `postToolUseFailure` exit code 2 gives stderr to the model."
        Some(2) if event.kind() == EventKind::PostToolUseFailure => {
            Ok((HookOutput { context: stderr_text(ended), ..HookOutput::default() }, Vec::new()))
        }
        code => Err(exited(code, ended)),
    }
}

/// The command's stderr, without the newline of the last line.
fn stderr_text(ended: &CommandOutput<'_>) -> Option<String> {
    let stderr = text(ended.stderr);
    let stderr_text = stderr.strip_suffix('\n').unwrap_or(&stderr);
    (!stderr_text.is_empty()).then(|| stderr_text.to_owned())
}

/// Removes progress lines. copilot.md#answers: "A line that is an object with `"type": "progress"` is taken out first."
fn without_progress(stdout: &[u8]) -> Vec<u8> {
    // "a byte order mark before the object" does no harm.
    let stdout = stdout.strip_prefix("\u{feff}".as_bytes()).unwrap_or(stdout);
    let is_progress = |line: &&[u8]| {
        parse(line.trim_ascii()).is_ok_and(|value| value.get("type").and_then(Value::as_str) == Some("progress"))
    };
    stdout.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_progress(line)).collect::<Vec<_>>().concat()
}
