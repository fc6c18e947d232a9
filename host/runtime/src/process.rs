//! Children of ours: each in a process group of its own, which ends as a whole. Nothing else starts one.

use std::{io, os::unix::process::CommandExt, process::Stdio, time::Duration};

use hookbox_protocol::{Cause, Failure};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// Environment variable of children: how many hooks they run inside of. A command that runs `hookbox run` with the
/// configuration it stands in would otherwise start processes for ever.
const DEPTH: &str = "HOOKBOX_DEPTH";

/// Commands inside commands at most. One or two happen: an agent's hook that starts another agent.
const MAX_DEPTH: u32 = 4;

/// How long output is waited for after a child itself has ended: something it left in the background may hold the pipes
/// open, and must not turn a block into a timeout.
pub(crate) const DRAIN: Duration = Duration::from_millis(100);

/// How many hooks this process itself runs inside of. What is not a number was not set by us.
fn depth() -> u32 {
    std::env::var(DEPTH).ok().and_then(|depth| depth.parse().ok()).unwrap_or(0)
}

/// A child in a process group that is not ours, with pipes. The group is killed when this is dropped before it is `done`.
pub(crate) struct Group {
    pub(crate) child: Child,
    /// Ends the group when this process is gone, whatever ended it.
    guard: Guard,
    /// What the child has left behind may go on: it ended by itself.
    pub(crate) done: bool,
}

impl Group {
    /// Starts a command, called `name` in messages.
    ///
    /// # Errors
    /// [`Cause::Spawn`]: it cannot be started. [`Cause::TooDeep`]: hookbox runs inside itself.
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
        let failed = |e| Failure::new(Cause::Spawn, format!("nobody could be started to end {name} with us: {e}"));
        let guard = Guard::start().map_err(failed)?;
        command.process_group(guard.group.as_raw_nonzero().get()).kill_on_drop(true);
        let child =
            command.spawn().map_err(|e| Failure::new(Cause::Spawn, format!("{name} could not be started: {e}")))?;
        Ok(Self { child, guard, done: false })
    }
}

/// A shell that waits for the end of a pipe of which only this process has the other end, and kills its own group then. No
/// signal can be caught that ends a process for sure, and none follows a whole process on every system. It leads the group,
/// and is there before the child is: so there is no moment in which a child has nobody to end it.
struct Guard {
    shell: std::process::Child,
    group: Pid,
}

impl Guard {
    fn start() -> io::Result<Self> {
        let mut shell = std::process::Command::new("sh");
        // What is sent to our own group must not end it first.
        shell.args(["-c", "read -r _; kill -s KILL 0"]).process_group(0);
        let shell = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let group = Pid::from_child(&shell);
        Ok(Self { shell, group })
    }
}

impl Drop for Guard {
    /// Before the pipe ends.
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
