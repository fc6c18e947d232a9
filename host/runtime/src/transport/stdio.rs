//! `PicoClaw`'s hook process: JSON-RPC 2.0, one message a line, for as long as the client lives.
//! Specification: `docs/spec/picoclaw.md`.
//!
//! ```text
//! lines in ─read→ message ─┬ hello, what cannot be read ────────────→ reply
//!                          ├ request ─(bounded, by id)→ hook set ───→ reply ─→ one writer
//!                          └ notification ─(bounded, may be dropped)→ hook set
//! ```

mod message;
mod reload;

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncWrite, AsyncWriteExt},
    sync::{Semaphore, mpsc},
    task::JoinSet,
};

use self::message::{Message, RpcError};
use crate::{
    Asked, Dialect, Fault, Host, Judged,
    config::Diagnostic,
    dialect,
    event::EventKind,
    json::{Object, shorten},
    lines,
};

pub use reload::{Broken, Load, Loading, Reloading, Source};

/// Requests that are served at once. `PicoClaw` overlaps them; one more waits, and with it everything behind it.
const REQUESTS: usize = 64;
/// Notifications that are served at once; one more is dropped and counted.
const NOTIFICATIONS: usize = 64;
/// Replies that wait for the client to read. It reads nothing: we wait, and do not grow.
const REPLIES: usize = 16;
/// Bytes of one line at most. decisions.md#the-real-picoclaw: "Do not cap the *input* line below 64 MiB."
const LINE_LIMIT: usize = 64 << 20;
/// How long requests may go on once the client has closed its end or wants us gone. We are to be gone within a second.
const DRAIN: Duration = Duration::from_millis(600);
/// How long the client may take after that to read what is written, and hook processes to end.
const REST: Duration = Duration::from_millis(250);

/// How long the client waits for each kind of message. These are its own defaults.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Observers: `hook.event`, `hook.runtime_event`. 0.5 s.
    pub observer: Duration,
    /// Interceptors: `hook.before_llm`, `hook.after_llm`, `hook.before_tool`, `hook.after_tool`. 5 s.
    pub interceptor: Duration,
    /// `hook.approve_tool`. 60 s.
    pub approval: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            observer: Duration::from_millis(500),
            interceptor: Duration::from_secs(5),
            approval: Duration::from_mins(1),
        }
    }
}

impl Budget {
    /// How long the client waits for the answer to this method.
    fn of(self, method: &str) -> Duration {
        match kind(method) {
            Some(EventKind::AgentEvent) => self.observer,
            Some(EventKind::PermissionRequest) => self.approval,
            _ => self.interceptor,
        }
    }
}

/// What a method is about; `None` for one that the protocol does not know.
fn kind(method: &str) -> Option<EventKind> {
    dialect::picoclaw::DIALECT.spec_by_name(method).map(|spec| spec.kind)
}

/// What people are told, on stderr. Never part of the protocol.
#[derive(Debug)]
pub enum Told {
    /// In words; may quote what the client sent.
    Line(String),
    /// Something is wrong with the configuration or a hook of it.
    Problem(Diagnostic),
}

/// Tells people.
pub type Tell = Arc<dyn Fn(Told) + Send + Sync>;

/// Serves one client until it closes its end, `stop` is done, or its end of our output is closed.
///
/// # Errors
/// When reading fails; that the client is gone is not an error.
pub async fn serve<S: Source>(
    source: Arc<S>,
    budget: Budget,
    input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: impl Future<Output = ()>,
    tell: Tell,
) -> io::Result<()> {
    let (replies, waiting) = mpsc::channel(REPLIES);
    let writer = tokio::spawn(write(waiting, output));
    let server = Arc::new(Server { source, budget, replies, tell, dropped: AtomicU64::new(0) });
    let mut work = JoinSet::new();
    let read = tokio::select! {
        read = read(&server, input, &mut work) => read,
        () = stop => Ok(()),
        () = server.replies.closed() => Ok(()),
    };
    let drained = tokio::time::timeout(DRAIN, async { while work.join_next().await.is_some() {} }).await;
    if drained.is_err() {
        server.say(format!("{} requests were not answered when the client went away", work.len()));
    }
    work.shutdown().await;
    let source = Arc::clone(&server.source);
    drop(server);
    // A client that reads nothing does not keep us.
    let _ = tokio::join!(tokio::time::timeout(REST, writer), source.close(REST));
    read
}

struct Server<S> {
    source: Arc<S>,
    budget: Budget,
    replies: mpsc::Sender<Value>,
    tell: Tell,
    dropped: AtomicU64,
}

/// Reads lines until there are no more. Waits for a place before it reads on, so that a client that sends faster than
/// hooks run is slowed down and not buffered.
async fn read<S: Source>(
    server: &Arc<Server<S>>,
    mut input: impl AsyncBufRead + Unpin,
    work: &mut JoinSet<()>,
) -> io::Result<()> {
    let (requests, notifications) = (Arc::new(Semaphore::new(REQUESTS)), Arc::new(Semaphore::new(NOTIFICATIONS)));
    loop {
        let Some(lines::Line { bytes: mut line, cut }) = lines::next(&mut input, LINE_LIMIT).await? else {
            return Ok(());
        };
        if cut {
            server.say("a line of more than 64 MiB is not read");
            lines::skip(&mut input).await?;
            line.truncate(1024);
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        while work.try_join_next().is_some() {}
        let (id, method, broken) = match Message::read(&line) {
            Message::Request { id, method } if method == "hook.hello" => {
                server.send(server.hello(&id, &line)).await;
                continue;
            }
            // decisions.md#picoclaw: "`hook.event` is a notification: never answered."
            Message::Request { id, method } if kind(&method) != Some(EventKind::AgentEvent) => (id, method, None),
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
            Message::Broken { id, method, error } => {
                server.say(format!("a line that is not a message: {}", error.message));
                match (id, method) {
                    // The hooks that would have been asked have a say.
                    (Some(id), Some(method)) => (id, method, Some(Incomplete { error, too_large: cut })),
                    (Some(id), None) => {
                        server.send(error.reply(&id)).await;
                        continue;
                    }
                    (None, _) => continue,
                }
            }
        };
        let Ok(place) = Arc::clone(&requests).acquire_owned().await else { return Ok(()) };
        let server = Arc::clone(server);
        work.spawn(async move {
            let reply = server.request(&id, &method, &line, broken).await;
            server.send(reply).await;
            drop(place);
        });
    }
}

/// The only one that writes: each reply is one line, whole. Ends when the client no longer reads.
async fn write(mut replies: mpsc::Receiver<Value>, mut output: impl AsyncWrite + Unpin) {
    while let Some(reply) = replies.recv().await {
        let line = format!("{reply}\n");
        if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

impl<S: Source> Server<S> {
    fn say(&self, line: impl Into<String>) {
        (self.tell)(Told::Line(line.into()));
    }

    async fn send(&self, reply: Value) {
        // Closed: the client is gone, which `serve` notices.
        let _ = self.replies.send(reply).await;
    }

    /// picoclaw.md#hookhello: "The handshake has to be completed at start; otherwise the hook process is ended." So it is
    /// answered at once, whatever hooks are still to be compiled; what we cannot serve is told beside it.
    fn hello(&self, id: &Value, line: &[u8]) -> Value {
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        let params = line.get("params").unwrap_or(&Value::Null);
        let mut warnings = Vec::new();
        for key in ["version", "protocol_version"] {
            match params.get(key) {
                None | Some(Value::Null) => {}
                Some(version) if version.as_f64() == Some(1.0) => {}
                Some(other) => {
                    warnings.push(format!("`{key}` is {}, this hook speaks 1", shorten(&other.to_string(), 40)));
                }
            }
        }
        if let Some(modes) = params.get("modes").and_then(Value::as_array) {
            let served = self.source.modes();
            let unserved = modes.iter().filter_map(Value::as_str).filter(|mode| !served.contains(mode));
            warnings.extend(unserved.map(|mode| format!("no hook here serves the mode `{}`", shorten(mode, 40))));
        }
        for warning in &warnings {
            self.say(format!("hook.hello: {warning}"));
        }
        let mut result = Object::from_iter([("ok".to_owned(), true.into())]);
        if let Some(name) = params.get("name").and_then(Value::as_str) {
            result.insert("name".into(), shorten(name, 200).into());
        }
        if !warnings.is_empty() {
            result.insert("warnings".into(), warnings.into());
        }
        json!({ "jsonrpc": "2.0", "id": id, "result": result })
    }

    /// The reply to a request, in the client's time. `broken`: why it is none that can be read.
    async fn request(&self, id: &Value, method: &str, line: &[u8], broken: Option<Incomplete>) -> Value {
        let current = self.source.current().await;
        // decisions.md#picoclaw: "A method nobody knows is an interceptor", where a hook names it.
        let named =
            |host: &Host| host.config().hooks.iter().any(|hook| hook.events.iter().any(|event| event == method));
        if kind(method).is_none() && !current.as_ref().is_ok_and(|host| named(host)) {
            return RpcError::method(method).reply(id);
        }
        let asked = Asked::new(line).within(Some(self.budget.of(method)));
        let asked = match &broken {
            Some(Incomplete { error, too_large: true }) => asked.too_large(&error.message),
            Some(Incomplete { error, .. }) => asked.unread(Some(&error.message)),
            None => asked,
        };
        let judged = match current {
            Ok(host) => host.judge(&asked).await,
            Err(broken) => {
                let client = Some(&dialect::picoclaw::DIALECT as &dyn Dialect);
                Judged::without_hooks(&asked, client, broken.closed, Fault::Internal, &broken.reason)
            }
        };
        let Some(failed) = judged.failed else {
            let wire = judged.verdict.and_then(|verdict| verdict.wire);
            return wire.unwrap_or_else(|| RpcError::ours("there is no answer to this").reply(id));
        };
        self.say(format!("{method}: {}", failed.message));
        let error = match (broken, failed.fault) {
            (Some(broken), _) => broken.error,
            (None, Fault::Event) => RpcError::params(&failed.message),
            (None, _) => RpcError::ours(&failed.message),
        };
        // What need not block is an error, which the client passes over.
        failed.told.stdout.unwrap_or_else(|| refusal(id, method, &error))
    }

    async fn notification(&self, method: &str, line: &[u8]) {
        if kind(method).is_none() {
            self.say(format!("nobody waits for an answer to this `{}`: not read", shorten(method, 60)));
            return;
        }
        let Ok(host) = self.source.current().await else { return };
        let asked = Asked::new(line).within(Some(self.budget.of(method)));
        if let Judged { failed: Some(failed), .. } = host.judge(&asked).await {
            self.say(format!("{method}: {}", failed.message));
        }
    }

    fn count_dropped(&self) {
        let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
        metrics::counter!("hookbox_notifications_dropped_total").increment(1);
        if dropped.is_power_of_two() {
            self.say(format!("{dropped} notifications dropped so far: observers are slower than the client"));
        }
    }
}

/// A request that cannot be read to its end.
struct Incomplete {
    error: RpcError,
    /// The line is longer than any that is read.
    too_large: bool,
}

/// An error by id. decisions.md#the-real-picoclaw: "`approve_tool` answered with `{}` or an action means *denied*"; an
/// error is read as one too, but a refusal with its reason says why.
fn refusal(id: &Value, method: &str, error: &RpcError) -> Value {
    if method == "hook.approve_tool" {
        let reason = shorten(&error.message, 4096);
        return json!({ "jsonrpc": "2.0", "id": id, "result": { "approved": false, "reason": reason } });
    }
    error.reply(id)
}
