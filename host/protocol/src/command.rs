//! The output of a command that ran as a hook: its exit code and its texts.

use crate::{
    event::Event,
    failure::{Cause, Failure},
    json::{DecodeError, parse_object},
    output::{Decision, HookOutput, Note},
    protocol::Dialect,
};

/// A command that ended.
#[derive(Debug, Clone, Copy)]
pub struct CommandOutput<'a> {
    /// Exit code. `None`: a signal ended the command.
    pub code: Option<i32>,
    /// The command's stdout.
    pub stdout: &'a [u8],
    /// The command's stderr: messages for people, or the reason of exit code 2.
    pub stderr: &'a [u8],
}

/// A hook's output with its notes, or the hook's failure.
pub type HandlerResult = Result<(HookOutput, Vec<Note>), Failure>;

/// Reads a command's output in the way of most clients.
///
/// decisions.md#exit-codes: "Command handlers have the exit codes of the blade specification in every dialect (0 =
/// JSON, 2 = block with stderr as the reason, others = non-blocking failure)."
pub(crate) fn by_exit_code<D: Dialect + ?Sized>(dialect: &D, event: &Event, ended: &CommandOutput) -> HandlerResult {
    match ended.code {
        Some(0) => printed(dialect, event, ended.stdout),
        // decisions.md#exit-codes: "The newline at the end of the stderr of exit 2 is removed; the rest is the reason
        // verbatim."
        Some(2) => {
            let stderr = text(ended.stderr);
            let reason = stderr.strip_suffix('\n').unwrap_or(&stderr).to_owned();
            let reason = (!reason.is_empty()).then_some(reason);
            Ok((HookOutput { decision: Some(Decision::Deny), reason, ..HookOutput::default() }, Vec::new()))
        }
        code => Err(exited(code, ended)),
    }
}

/// Decodes the stdout of a handler that speaks the dialect's JSON: one object, or nothing.
///
/// # Errors [`Cause::BadOutput`]. decisions.md#outputs: "An output is exactly one JSON object without duplicate keys,
/// with optional white space around it. Anything else is an invalid output: the handler has failed."
pub fn printed<D: Dialect + ?Sized>(dialect: &D, event: &Event, stdout: &[u8]) -> HandlerResult {
    let trimmed = stdout.trim_ascii();
    if trimmed.is_empty() {
        return Ok((HookOutput::default(), Vec::new()));
    }
    let plain = std::str::from_utf8(stdout).ok().filter(|_| !trimmed.starts_with(b"{"));
    if let Some(output) = plain.and_then(|text| dialect.decode_text(event, text)) {
        return Ok((output, Vec::new()));
    }
    let object = parse_object(stdout).map_err(|error| bad_output(&error))?;
    dialect.decode_output(event, &object).map_err(|error| bad_output(&error))
}

/// The failure of a command that ended by a signal or with an exit code that reports an error.
pub(crate) fn exited(code: Option<i32>, ended: &CommandOutput) -> Failure {
    match code {
        // A shell uses these codes for a program that it could not start.
        Some(126 | 127) if ended.stdout.is_empty() => {
            Failure::new(Cause::Spawn, format!("the command could not be started: {}", text(ended.stderr).trim()))
        }
        Some(code) => Failure::new(Cause::Exit, format!("exit code {code}")),
        None => Failure::new(Cause::Exit, "ended by a signal"),
    }
}

pub(crate) fn bad_output(error: &DecodeError) -> Failure {
    Failure::new(Cause::BadOutput, format!("output: {error}"))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
