//! One run of a process: writes requests and notifications, and assigns replies to requests by id.

mod shared;

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use hookbox_protocol::{Cause, Failure, json::Object};
use shared::Shared;
use tokio::{
    io::AsyncWriteExt,
    process::{ChildStderr, ChildStdin, ChildStdout, Command},
    sync::{mpsc, watch},
};

use super::{Spec, end::ProcessEnd, log::Log, message};
use crate::process::{DRAIN, Group};

/// The capacity of the request queue. Further callers wait.
const REQUESTS: usize = 16;
/// The capacity of the notification queue. Further notifications are dropped, because no caller waits for them.
const NOTIFICATIONS: usize = 64;
/// The time that a dropped process has to exit after its stdin closes. As in `PicoClaw`.
const GRACE: Duration = Duration::from_secs(2);
/// The time that a process without pending notifications has to exit.
const IDLE_GRACE: Duration = Duration::from_millis(500);

/// A connection to a process that runs or has ended. Dropping it ends the process.
pub(super) struct Connection {
    requests: mpsc::Sender<Vec<u8>>,
    notifications: mpsc::Sender<Vec<u8>>,
    stop: watch::Sender<Stop>,
    shared: Arc<Shared>,
}

/// The deadline for the process to exit, once it is to stop.
type Stop = Option<Instant>;

/// The result of sending a notification.
pub(super) enum Delivery {
    Queued,
    Dropped,
}

impl Connection {
    /// Starts the process.
    pub(super) fn open(spec: &Spec, log: &Arc<Log>) -> Result<Self, Failure> {
        let mut group = Group::spawn(command(spec), &spec.name)?;
        let shared = Arc::new(Shared {
            log: Arc::clone(log),
            open: Mutex::default(),
            ended: watch::Sender::new(None),
            dropped: AtomicU64::new(0),
            unacknowledged: AtomicU64::new(0),
            unread: AtomicU64::new(0),
            leaving: AtomicBool::new(false),
        });
        let (requests, to_write) = mpsc::channel(REQUESTS);
        let (notifications, to_tell) = mpsc::channel(NOTIFICATIONS);
        let stop = watch::Sender::new(None);
        let (stopped, child) = (stop.subscribe(), Arc::clone(&shared));
        let input =
            Input { requests: to_write, notifications: to_tell, stop: stopped.clone(), shared: Arc::clone(&shared) };
        let pipes = (group.child.stdin.take(), group.child.stdout.take(), group.child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(Failure::new(Cause::Spawn, format!("{} has no pipes", spec.name)));
        };
        tokio::spawn(async move {
            let failure = live(&mut group, input.write(stdin), stopped, stdout, stderr, &child).await;
            // Dropping the group also kills processes that the child has started.
            drop(group);
            child.end(&failure);
        });
        Ok(Self { requests, notifications, stop, shared })
    }

    /// Sends a request and waits for its `result`. Dropping the call abandons the request.
    pub(super) async fn ask(&self, line: Object) -> Result<Object, Failure> {
        let (waiting, answer) = self.shared.expect();
        let sent = self.requests.send(message(line, Some(waiting.id))).await;
        if sent.is_err() {
            return Err(self.shared.failure());
        }
        answer.await.unwrap_or_else(|_| Err(self.shared.failure()))
    }

    /// Queues a notification. Does not wait.
    pub(super) fn notify(&self, line: Object) -> Delivery {
        // Counted first, because it may be written immediately.
        self.shared.unread.fetch_add(1, Ordering::Relaxed);
        if self.notifications.try_send(message(line, None)).is_ok() {
            self.shared.unacknowledged.fetch_add(1, Ordering::Relaxed);
            return Delivery::Queued;
        }
        self.shared.unread.fetch_sub(1, Ordering::Relaxed);
        let dropped = self.shared.dropped.fetch_add(1, Ordering::Relaxed) + 1;
        // Without labels: a series with the hook's name would outlive the hook.
        metrics::counter!("hookbox_notifications_dropped_total").increment(1);
        if dropped.is_power_of_two() {
            self.shared.log.warn(format!("{dropped} notifications dropped so far: the process is too slow"));
        }
        Delivery::Dropped
    }

    /// The end of the process, if it has ended.
    pub(super) fn ended(&self) -> Option<ProcessEnd> {
        self.shared.ended.borrow().clone()
    }

    /// Returns true if the process may still reply. Otherwise waits until it has ended and returns false.
    pub(super) async fn answers(&self) -> bool {
        let leaving = self.shared.leaving.load(Ordering::Acquire);
        if leaving {
            self.shared.gone().await;
        }
        !leaving
    }

    /// Returns true if the process has replied to a request besides the handshake.
    pub(super) fn was_of_use(&self) -> bool {
        self.shared.open().answered > 1
    }

    /// The number of notifications sent since the last reply.
    pub(super) fn unacknowledged(&self) -> u64 {
        self.shared.unacknowledged.load(Ordering::Relaxed)
    }

    /// Closes the stdin of the process and waits for it to exit. Kills it at the deadline. Returns the number of
    /// notifications that were not written.
    pub(super) async fn stop(&self, by: Instant) -> u64 {
        let idle = self.unacknowledged() == 0;
        self.stop.send_replace(Some(if idle { by.min(Instant::now() + IDLE_GRACE) } else { by }));
        self.shared.gone().await;
        self.shared.unread.load(Ordering::Relaxed)
    }

    /// Kills the process.
    pub(super) fn kill(&self) {
        self.stop.send_replace(Some(Instant::now()));
    }
}

/// decisions.md#processes: "A hook process gets a clean environment: `PATH`, `HOME`, `TMPDIR`, `TZ`, the language,
/// `HOOKBOX_DEPTH`, and what its entry names."
fn command(spec: &Spec) -> Command {
    /// Most interpreters do not start without these variables, or not in the user's language.
    const BASE: [&str; 6] = ["PATH", "HOME", "TMPDIR", "TZ", "LANG", "LANGUAGE"];
    let process = &spec.process;
    let (executable, arguments) =
        process.command.split_first().map_or(("", &[] as &[_]), |(first, rest)| (first, rest));
    let mut command = Command::new(executable);
    command.args(arguments).current_dir(&process.dir).env_clear();
    let granted = |name: &str| {
        BASE.contains(&name) || name.starts_with("LC_") || process.variables.iter().any(|given| given == name)
    };
    command.envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(granted)));
    command.envs(&process.env);
    command
}

/// The queues of messages to the process.
struct Input {
    requests: mpsc::Receiver<Vec<u8>>,
    notifications: mpsc::Receiver<Vec<u8>>,
    stop: watch::Receiver<Stop>,
    shared: Arc<Shared>,
}

impl Input {
    /// Writes messages until the queues are closed. Requests have priority, because callers wait for them.
    async fn write(mut self, mut stdin: ChildStdin) -> io::Result<()> {
        let mut stopping = false;
        loop {
            let (line, notifies) = tokio::select! {
                biased;
                Some(line) = self.requests.recv() => (line, false),
                Some(line) = self.notifications.recv() => (line, true),
                _ = self.stop.wait_for(Option::is_some), if !stopping => {
                    stopping = true;
                    self.requests.close();
                    self.notifications.close();
                    continue;
                }
                else => return Ok(()),
            };
            stdin.write_all(&line).await?;
            stdin.flush().await?;
            if notifies {
                self.shared.unread.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

/// Drives the process from start to end. Returns the reason why it ended.
async fn live(
    group: &mut Group,
    write: impl Future<Output = io::Result<()>>,
    mut stop: watch::Receiver<Stop>,
    stdout: ChildStdout,
    stderr: ChildStderr,
    shared: &Shared,
) -> Failure {
    let (read, log) = (shared.read(stdout), shared.log(stderr));
    tokio::pin!(write, read, log);
    let (mut writing, mut reading, mut logging) = (true, true, true);
    let mut limit: Option<(Instant, &str)> = None;
    let soon = || Instant::now() + DRAIN;
    let status = loop {
        let until = limit.map(|(until, _)| until);
        tokio::select! {
            status = group.child.wait() => break status,
            done = &mut read, if reading => match done {
                Ok(()) => {
                    reading = false;
                    limit.get_or_insert((soon(), "closed its stdout"));
                }
                Err(failure) => return failure,
            },
            done = &mut write, if writing => {
                writing = false;
                if done.is_err() {
                    limit.get_or_insert((soon(), "closed its stdin"));
                }
            }
            () = &mut log, if logging => logging = false,
            by = stopped(&mut stop), if limit.is_none() => limit = Some((by, "was stopped")),
            () = async { tokio::time::sleep_until(until.unwrap_or_else(Instant::now).into()).await }, if until.is_some() => {
                return Failure::new(Cause::Exit, limit.map_or("ended", |(_, why)| why));
            }
        }
    };
    // Output from before the exit counts. A background process that it left may hold the pipes open, so the wait is
    // limited.
    let rest = async {
        let read = if reading { read.await } else { Ok(()) };
        if logging {
            log.await;
        }
        read
    };
    if let Ok(Err(failure)) = tokio::time::timeout(DRAIN, rest).await {
        return failure;
    }
    let message = match status {
        Ok(status) => match status.code() {
            Some(code) => format!("ended with exit code {code}"),
            None => "killed by a signal".to_owned(),
        },
        Err(error) => format!("cannot be waited for: {error}"),
    };
    Failure::new(Cause::Exit, message)
}

/// Waits until the process is to stop. Returns the deadline for its exit.
async fn stopped(stop: &mut watch::Receiver<Stop>) -> Instant {
    let by = stop.wait_for(Option::is_some).await;
    by.ok().and_then(|by| *by).unwrap_or_else(|| Instant::now() + GRACE)
}
