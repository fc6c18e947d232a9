//! Running somebody else's compiler.

use std::{
    io,
    process::{Command, Output, Stdio},
};

use crate::exit::Exit;

/// Runs it with its messages on our stderr, and returns what it printed. `missing` is what to do when it is not
/// installed, `failed` what could not be done when it fails: its own message is on stderr already.
pub fn run(command: &mut Command, missing: &str, failed: impl FnOnce() -> String) -> anyhow::Result<Output> {
    let output = start(command.stderr(Stdio::inherit()), missing)?;
    if output.status.success() { Ok(output) } else { Err(Exit::Software.error(failed())) }
}

/// Runs it and returns what it printed, without a word on stderr.
pub fn ask(command: &mut Command, missing: &str) -> anyhow::Result<Option<String>> {
    let output = start(command.stderr(Stdio::null()), missing)?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned()))
}

fn start(command: &mut Command, missing: &str) -> anyhow::Result<Output> {
    command.stdin(Stdio::null()).output().map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        match error.kind() {
            io::ErrorKind::NotFound => Exit::Software.error(format!("`{program}` is not installed\n   {missing}")),
            _ => Exit::Software.error(format!("`{program}` cannot be run: {error}")),
        }
    })
}
