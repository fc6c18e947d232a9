//! A command that reads the event's JSON on stdin and prints an output.
//!
//! The dialect interprets its exit code and output ([`hookbox_protocol::Dialect::read_command`]).

use std::{io, path::PathBuf};

use async_trait::async_trait;
use hookbox_protocol::{Cause, Failure, HookOutput, Note, command::CommandOutput, event::Raw};
use hookbox_sandbox::{LogLevel, LogLine, Run};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt, BufWriter},
    process::{ChildStdin, Command as Process},
};

use super::{Call, Handler, bytes};
use crate::process::{DRAIN, Group};

/// A command handler.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    /// The command line, or the executable if there are `args`.
    pub(crate) line: String,
    /// The arguments. With them, no shell is used.
    pub(crate) args: Option<Vec<String>>,
    /// The configuration's folder.
    pub(crate) dir: PathBuf,
    /// The limit of stdout and of stderr, in KiB.
    pub(crate) output_kib: u32,
}

/// The folders of the clients' own settings files.
const SETTINGS: [&str; 4] = [".claude", ".codebuddy", ".codex", ".gemini"];

/// The part of a command's stderr that becomes log lines.
const LOG_BYTES: usize = 16 * 1024;
const LOG_LINES: usize = 200;

#[async_trait]
impl Handler for Command {
    async fn call(&self, call: Call<'_>) -> Run {
        let (result, stderr) = match self.run(&call).await {
            Ok(output) => {
                let stderr = text(&output.stderr);
                (self.output(&call, &output), stderr)
            }
            Err(failure) => (Err(failure), String::new()),
        };
        let mut report = Run::from(result);
        report.logs = log(&stderr);
        report
    }
}

struct Output {
    status: std::process::ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Command {
    async fn run(&self, call: &Call<'_>) -> Result<Output, Failure> {
        let mut group = Group::spawn(self.process(call), &self.line)?;
        let child = &mut group.child;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let event = call.dialect.for_commands(call.event);
        // Concurrent with reading: a command may answer without reading its input, which closes the pipe.
        let write = async move {
            if let Some(mut stdin) = stdin {
                let _ = put(&event, &mut stdin).await;
            }
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = {
            let limit = bytes(self.output_kib);
            let read = async { tokio::try_join!(fill(stdout, limit, &mut out), fill(stderr, limit, &mut err)) };
            tokio::pin!(read, write);
            let (mut reading, mut writing) = (true, true);
            let status = loop {
                tokio::select! {
                    status = child.wait() => break status,
                    done = &mut read, if reading => {
                        done.map_err(|TooMuch| self.too_much())?;
                        reading = false;
                    }
                    () = &mut write, if writing => writing = false,
                }
            };
            if reading {
                // The outcome must not depend on whether the process or its output ended first.
                tokio::time::timeout(DRAIN, read).await.unwrap_or(Ok(((), ()))).map_err(|TooMuch| self.too_much())?;
            }
            status
        };
        group.done = true;
        let status = status.map_err(|e| Failure::new(Cause::Spawn, format!("{}: {e}", self.line)))?;
        Ok(Output { status, stdout: out, stderr: err })
    }

    fn too_much(&self) -> Failure {
        Failure::new(Cause::OutputTooLarge, format!("more than {} KiB of output", self.output_kib))
    }

    fn process(&self, call: &Call<'_>) -> Process {
        let mut process = match &self.args {
            None => {
                let mut shell = Process::new("sh");
                shell.arg("-c").arg(&self.line);
                shell
            }
            Some(args) => {
                let mut process = Process::new(&self.line);
                process.args(args);
                process
            }
        };
        process.current_dir(self.working_dir(call));
        // The client sets these variables for its own hooks, so hooks may rely on them.
        let context = &call.event.context;
        let project = context.project_dir.as_ref().or(context.cwd.as_ref());
        let names = [Some("CLAUDE_PROJECT_DIR"), call.dialect.usage().project_variable];
        let unset = names.into_iter().flatten().filter(|name| std::env::var_os(name).is_none());
        process.envs(unset.filter_map(|name| Some((name, project?))));
        process
    }

    /// The working directory: the configuration's folder. For a client's own settings file, the folder in which the
    /// client would run it.
    fn working_dir(&self, call: &Call<'_>) -> PathBuf {
        let settings = self.dir.file_name().is_some_and(|name| SETTINGS.iter().any(|folder| name == *folder));
        let cwd = call.event.context.cwd.as_ref().map(PathBuf::from).filter(|cwd| cwd.is_dir());
        match (settings, cwd, self.dir.parent()) {
            (true, Some(cwd), _) => cwd,
            (true, None, Some(project)) => project.to_owned(),
            _ => self.dir.clone(),
        }
    }

    /// Reads the output as the dialect's client would.
    fn output(&self, call: &Call<'_>, output: &Output) -> Result<(HookOutput, Vec<Note>), Failure> {
        let ended = CommandOutput { code: output.status.code(), stdout: &output.stdout, stderr: &output.stderr };
        call.dialect.read_command(call.event, &ended).map_err(|failure| match failure.cause {
            Cause::Spawn => Failure::new(Cause::Spawn, format!("{}: {}", self.line, failure.message)),
            _ => failure,
        })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A command's stderr as log lines, cut to a readable length.
fn log(stderr: &str) -> Vec<LogLine> {
    let line = |message: String| LogLine { level: LogLevel::Info, message };
    let (mut lines, mut bytes) = (Vec::new(), 0);
    for text in stderr.split_inclusive('\n') {
        if bytes + text.len() > LOG_BYTES || lines.len() == LOG_LINES {
            lines.push(line(format!("… and {} more bytes", stderr.len() - bytes)));
            break;
        }
        bytes += text.len();
        lines.push(line(text.trim_end_matches(['\n', '\r']).to_owned()));
    }
    lines
}

/// Writes the event as one line. Large parts of it are written without a copy.
async fn put(event: &Raw, stdin: &mut ChildStdin) -> io::Result<()> {
    let mut stdin = BufWriter::new(stdin);
    for piece in event.pieces() {
        stdin.write_all(piece.as_bytes()).await?;
    }
    stdin.write_all(b"\n").await?;
    stdin.flush().await
}

/// The output exceeds the limit.
struct TooMuch;

/// Reads to the end of the stream. An error if there is more than the limit.
async fn fill<R: AsyncRead + Unpin>(from: Option<R>, limit: usize, into: &mut Vec<u8>) -> Result<(), TooMuch> {
    if let Some(mut from) = from {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut chunk).await {
            into.extend_from_slice(chunk.get(..read).unwrap_or_default());
            if into.len() > limit {
                return Err(TooMuch);
            }
        }
    }
    Ok(())
}
