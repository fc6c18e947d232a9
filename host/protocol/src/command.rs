//! The output of a command that ran as a hook: its exit code and its texts.

use crate::{
    failure::{Cause, Failure},
    json::DecodeError,
    output::{Decision, HookOutput, Note},
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

/// Reads a command's output in the way of most clients. `read_stdout` decodes the stdout of exit code 0.
///
/// decisions.md#exit-codes: "Command handlers have the exit codes of the blade specification in every dialect (0 =
/// JSON, 2 = block with stderr as the reason, others = non-blocking failure)."
pub(crate) fn by_exit_code(ended: &CommandOutput, read_stdout: impl FnOnce(&[u8]) -> HandlerResult) -> HandlerResult {
    match ended.code {
        Some(0) => read_stdout(ended.stdout),
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

/// The failure of a command that was killed by a signal, or ended with an exit code that reports an error.
pub(crate) fn exited(code: Option<i32>, ended: &CommandOutput) -> Failure {
    match code {
        // A shell uses these codes for a program that it could not start.
        Some(126 | 127) if ended.stdout.is_empty() => {
            Failure::new(Cause::Spawn, format!("the command could not be started: {}", text(ended.stderr).trim()))
        }
        Some(code) => Failure::new(Cause::Exit, format!("exit code {code}")),
        None => Failure::new(Cause::Exit, "killed by a signal"),
    }
}

pub(crate) fn bad_output(error: &DecodeError) -> Failure {
    Failure::new(Cause::BadOutput, format!("output: {error}"))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
