//! Reads the output of a command by Codex's rules: codex.md#exit-codes.

use crate::{
    command::{CommandOutput, HandlerResult, exited, text},
    event::{Event, EventKind},
    failure::{Cause, Failure},
    output::{Decision, HookOutput},
    protocol::Dialect,
};

pub(super) fn read(dialect: &dyn Dialect, event: &Event, ended: &CommandOutput) -> HandlerResult {
    match ended.code {
        Some(0) => match plain_text(event, ended.stdout) {
            Some(context) => Ok((HookOutput { context: Some(context), ..HookOutput::default() }, Vec::new())),
            None => dialect.read_stdout(event, ended.stdout),
        },
        Some(2) => blocked(dialect, event, text(ended.stderr).trim()),
        code => Err(exited(code, ended)),
    }
}

/// codex.md#exit-codes: "Exit code 2 with text on stderr blocks `PreToolUse`, `PermissionRequest`, `PostToolUse`,
/// `UserPromptSubmit`, `Stop` and `SubagentStop`". These are the events that a hook can deny.
fn blocked(dialect: &dyn Dialect, event: &Event, reason: &str) -> HandlerResult {
    if dialect.spec_of(event).expressible.decisions.is_empty() {
        return Err(Failure::new(Cause::Exit, format!("exit code 2, which does nothing on {}", event.name)));
    }
    if reason.is_empty() {
        return Err(Failure::new(Cause::Exit, "exit code 2 without a reason on stderr, which Codex ignores"));
    }
    Ok((HookOutput::decided(Decision::Deny, reason), Vec::new()))
}

/// Returns plain text that is context. codex.md#reading-an-answer: "Plain text on stdout is context on `SessionStart`
/// and `UserPromptSubmit`." Text that contains an object was probably meant as an answer.
fn plain_text(event: &Event, stdout: &[u8]) -> Option<String> {
    let takes_text = matches!(event.kind(), EventKind::SessionStart | EventKind::UserPromptSubmit);
    let text = std::str::from_utf8(stdout).ok()?.trim();
    let plain = takes_text && !text.is_empty() && !text.starts_with('[') && !text.contains('{');
    plain.then(|| text.to_owned())
}
