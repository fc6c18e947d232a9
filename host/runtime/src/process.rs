//! Child processes. Each runs in its own process group, which is killed as a whole. Only this module starts children.

use std::{io, os::unix::process::CommandExt, process::Stdio, time::Duration};

use hookbox_protocol::{Cause, Failure};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// The environment variable with the nesting depth of hooks. Without a limit, a command that runs `hookbox run` with
/// its own configuration would start processes forever.
const DEPTH: &str = "HOOKBOX_DEPTH";

/// The maximum nesting depth. One or two are normal: an agent's hook that starts another agent.
const MAX_DEPTH: u32 = 4;

/// The time to wait for output after a child has exited. A background process that it left may hold the pipes open, and
/// must not turn a block into a timeout.
pub(crate) const DRAIN: Duration = Duration::from_millis(100);

/// The nesting depth of this process. An invalid number is not from hookbox, so it counts as zero.
fn depth() -> u32 {
    std::env::var(DEPTH).ok().and_then(|depth| depth.parse().ok()).unwrap_or(0)
}

/// A child in its own process group, with pipes. Dropping it kills the group, unless `done` is set.
pub(crate) struct Group {
    pub(crate) child: Child,
    /// Kills the group when this process ends, for any reason.
    guard: Guard,
    /// True if the child exited by itself. Its background processes may then continue.
    pub(crate) done: bool,
}

impl Group {
    /// Starts a command. Messages call it `name`.
    ///
    /// # Errors
    /// [`Cause::Spawn`] if it cannot be started. [`Cause::TooDeep`] if hookbox is nested too deep in itself.
    pub(crate) fn spawn(mut command: Command, name: &str) -> Result<Self, Failure> {
        let depth = depth();
        if depth >= MAX_DEPTH {
            let why = format!(
                "{name} was not started: hookbox already runs inside itself {depth} deep ({DEPTH}); does the command run the \
                 configuration it stands in?"
            );
            return Err(Failure::new(Cause::TooDeep, why));
        }
        command.env(DEPTH, (depth + 1).to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |e| Failure::new(Cause::Spawn, format!("cannot start the watchdog for {name}: {e}"));
        let guard = Guard::start().map_err(failed)?;
        command.process_group(guard.group.as_raw_nonzero().get()).kill_on_drop(true);
        let child = command.spawn().map_err(|e| Failure::new(Cause::Spawn, format!("cannot start {name}: {e}")))?;
        Ok(Self { child, guard, done: false })
    }
}

/// The watchdog of a process group: a shell that waits for the end of a pipe, then kills its own group. Only this
/// process holds the other end, so the pipe ends even if this process is killed. The shell leads the group and starts
/// before the child, so no child runs without a watchdog.
struct Guard {
    shell: std::process::Child,
    group: Pid,
}

impl Guard {
    fn start() -> io::Result<Self> {
        let mut shell = std::process::Command::new("sh");
        // A separate group: a signal to hookbox's group must not kill the watchdog first.
        shell.args(["-c", "read -r _; kill -s KILL 0"]).process_group(0);
        let shell = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let group = Pid::from_child(&shell);
        Ok(Self { shell, group })
    }
}

impl Drop for Guard {
    /// Kills the watchdog before the pipe closes.
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.done {
            let _ = kill_process_group(self.guard.group, Signal::KILL);
        }
    }
}
