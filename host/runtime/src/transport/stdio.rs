//! `PicoClaw`'s hook process: JSON-RPC 2.0 with one message per line, for the lifetime of the client. The specification
//! is `docs/spec/picoclaw.md`.
//!
//! ```text
//! lines in ─read→ message ─┬ hello, what cannot be read ────────────→ reply
//!                          ├ request ─(bounded, by id)→ hook set ───→ reply ─→ one writer
//!                          └ notification ─(bounded, may be dropped)→ hook set
//! ```

mod budget;
mod message;
mod refuse;
mod reload;
mod reply;
mod request;
mod server;

use std::{
    io,
    pin::pin,
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncBufRead, AsyncWrite, AsyncWriteExt},
    sync::{Semaphore, mpsc, watch},
    task::JoinSet,
};

use self::{
    budget::kind,
    message::Message,
    request::{Incomplete, Request},
    server::Server,
};
use crate::{HookSet, Response, config::Diagnostic, event::EventKind, lines};

pub use budget::Budget;
pub use refuse::refuse;
pub use reload::{Load, Loading, Reloading, Source, Unavailable};

/// The maximum number of requests whose hooks run concurrently, as `PicoClaw` overlaps requests. Further ones are
/// queued.
const REQUESTS: usize = 64;
/// The number of permits for requests that are read but not answered. With none left, reading stops.
const WAITING: usize = 256;
/// The bytes of a line per permit: 256 KiB. Thus at most 64 MiB of lines are in memory.
const PLACE: usize = 256 << 10;
/// The maximum number of concurrent notifications. Further ones are dropped and counted.
const NOTIFICATIONS: usize = 64;
/// The capacity of the reply queue. If the client does not read, the queue fills up and requests wait.
const REPLIES: usize = 16;
/// The maximum length of a line, in bytes. decisions.md#the-real-picoclaw: "Do not cap the *input* line below 64 MiB."
const LINE_LIMIT: usize = 64 << 20;
/// After a stop signal, the interval in which lines that the client sent before it are still read. Repeats while
/// requests are pending.
const LATE: Duration = Duration::from_millis(50);
/// The time for pending requests after the client closed its end or sent a stop signal. The process has to end within a
/// second.
const DRAIN: Duration = Duration::from_millis(350);
/// The time to answer the requests that are then still pending: their hooks count as failed. This is usually instant,
/// but takes longer on a machine under load.
const SETTLE: Duration = Duration::from_millis(1200);
/// The time for the client to read the last replies, and for hook processes to end.
const REST: Duration = Duration::from_millis(250);

/// Messages for the user, on stderr and in records. They are not part of the protocol.
#[derive(Debug)]
pub enum Notice<'a> {
    /// The hooks have decided on an event.
    Decided {
        /// The response.
        response: &'a Response,
        /// The hook set that decided.
        host: &'a HookSet,
        /// The line of the event.
        event: &'a [u8],
    },
    /// A message. It may quote the client's input.
    Line(String),
    /// A problem with the configuration or one of its hooks.
    Problem(Diagnostic),
}

/// Passes a message to the user. It must not block, because requests wait for it.
pub type Reporter = Arc<dyn Fn(Notice<'_>) + Send + Sync>;

/// Serves one client until it closes its end, `stop` completes, or the output is closed.
///
/// # Errors
/// An error of reading. A client that has gone away is not an error.
pub async fn serve<S: Source>(
    source: Arc<S>,
    budget: Budget,
    input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: impl Future<Output = ()>,
    reporter: Reporter,
) -> io::Result<()> {
    let (replies, waiting) = mpsc::channel(REPLIES);
    let writer = tokio::spawn(write(waiting, output));
    let (ending, ended) = watch::channel(false);
    let (running, waiting) = (Semaphore::new(REQUESTS), Arc::new(Semaphore::new(WAITING)));
    let dropped = AtomicU64::new(0);
    let server = Arc::new(Server { source, budget, replies, reporter, dropped, ended, running, waiting });
    let mut work = JoinSet::new();
    let mut until = None;
    let read = {
        let mut reading = pin!(read(&server, input, &mut work));
        tokio::select! {
            read = &mut reading => read,
            () = server.replies.closed() => Ok(()),
            () = stop => {
                let end = *until.insert(Instant::now() + DRAIN);
                loop {
                    match tokio::time::timeout(LATE, &mut reading).await {
                        Ok(read) => break read,
                        Err(_) if server.is_idle() || Instant::now() >= end + SETTLE / 2 => break Ok(()),
                        // From here on, each request is answered as soon as it is read.
                        Err(_) => drop(ending.send(Instant::now() >= end)),
                    }
                }
            }
        }
    };
    let until = until.unwrap_or_else(|| Instant::now() + DRAIN);
    let drained = tokio::time::timeout_at(until.into(), async { while work.join_next().await.is_some() {} }).await;
    // The client treats a gate without an answer as open after its timeout, so every request gets an answer.
    let _ = ending.send(true);
    let settled = tokio::time::timeout(SETTLE, async { while work.join_next().await.is_some() {} }).await;
    if drained.is_err() && settled.is_err() {
        server.say(format!("{} requests were not answered when the client went away", work.len()));
    }
    work.shutdown().await;
    let source = Arc::clone(&server.source);
    drop(server);
    // A client that does not read must not delay the end.
    let _ = tokio::join!(tokio::time::timeout(REST, writer), source.close(REST));
    read
}

/// Reads lines until the input ends. Waits for permits before it reads on, so that a client that sends too fast is
/// slowed down instead of buffered.
async fn read<S: Source>(
    server: &Arc<Server<S>>,
    mut input: impl AsyncBufRead + Unpin,
    work: &mut JoinSet<()>,
) -> io::Result<()> {
    let notifications = Arc::new(Semaphore::new(NOTIFICATIONS));
    loop {
        let Some(lines::Line { bytes: mut line, cut }) = lines::next(&mut input, LINE_LIMIT).await? else {
            return Ok(());
        };
        if cut {
            server.say("a line of more than 64 MiB is not read");
            lines::skip(&mut input).await?;
            line.truncate(1024);
            line.shrink_to_fit();
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        while work.try_join_next().is_some() {}
        let (id, method, broken) = match Message::read(&line) {
            Message::Request { id, method } if method == "hook.hello" => {
                server.send(server.hello(&id, &line).to_string()).await;
                continue;
            }
            // decisions.md#picoclaw: "`hook.event` is a notification, which has no reply."
            Message::Request { id, method } if kind(&method) != Some(EventKind::AgentEvent) => (id, Some(method), None),
            Message::Notification { method } | Message::Request { method, .. } => {
                match Arc::clone(&notifications).try_acquire_owned() {
                    Ok(place) => {
                        let server = Arc::clone(server);
                        work.spawn(async move {
                            server.notification(&method, &line).await;
                            drop(place);
                        });
                    }
                    Err(_) => server.count_dropped(),
                }
                continue;
            }
            Message::Invalid { id, method, error } => {
                server.say(format!("a line that is not a message: {}", error.message));
                // The hooks still decide on a request with an invalid line, even if its method is unknown.
                let Some(id) = id else { continue };
                (id, method, Some(Incomplete { error, too_large: cut }))
            }
        };
        let places = u32::try_from((line.len() / PLACE + 1).min(WAITING)).unwrap_or(1);
        let request = Request { id, method, line, since: Instant::now(), broken };
        let Ok(place) = Arc::clone(&server.waiting).acquire_many_owned(places).await else { return Ok(()) };
        let server = Arc::clone(server);
        work.spawn(async move {
            server.answer(request).await;
            drop(place);
        });
    }
}

/// The only writer of the output, so that each reply is one whole line. Ends if the client closes its end.
async fn write(mut replies: mpsc::Receiver<String>, mut output: impl AsyncWrite + Unpin) {
    while let Some(reply) = replies.recv().await {
        let line = format!("{reply}\n");
        if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}
