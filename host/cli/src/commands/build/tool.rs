//! Runs external compilers.

use std::{
    io::{self, BufRead, BufReader},
    process::{Command, Output, Stdio},
};

use crate::exit::Exit;

/// Runs a command with its messages on stderr, and returns its output. `missing` is the advice if the program is not
/// installed. `failed` creates the error if it fails; its own message is on stderr already.
pub fn run(command: &mut Command, missing: &str, failed: impl FnOnce() -> anyhow::Error) -> anyhow::Result<Output> {
    let output = start(command.stderr(Stdio::inherit()), missing)?;
    if output.status.success() { Ok(output) } else { Err(failed()) }
}

/// Runs a command with its messages on stderr, and passes each line of its output to `each` at once. Returns true if it
/// succeeded.
pub fn follow(command: &mut Command, missing: &str, mut each: impl FnMut(&[u8])) -> anyhow::Result<bool> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().map_err(|error| cannot_run(command, missing, &error))?;
    let mut lines = child.stdout.take().map(BufReader::new);
    let mut line = Vec::new();
    while let Some(lines) = &mut lines
        && lines.read_until(b'\n', &mut line)? > 0
    {
        each(&line);
        line.clear();
    }
    Ok(child.wait()?.success())
}

/// Runs a command without output on stderr, and returns its stdout. `None` if it fails.
pub fn ask(command: &mut Command, missing: &str) -> anyhow::Result<Option<String>> {
    let output = start(command.stderr(Stdio::null()), missing)?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned()))
}

fn start(command: &mut Command, missing: &str) -> anyhow::Result<Output> {
    command.stdin(Stdio::null()).output().map_err(|error| cannot_run(command, missing, &error))
}

fn cannot_run(command: &Command, missing: &str, error: &io::Error) -> anyhow::Error {
    let program = command.get_program().to_string_lossy();
    match error.kind() {
        io::ErrorKind::NotFound => Exit::Software.advised(format!("`{program}` is not installed"), &[missing]),
        _ => Exit::Software.error(format!("`{program}` cannot be run: {error}")),
    }
}
