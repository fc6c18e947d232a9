//! `PicoClaw`'s hook process: JSON-RPC 2.0 with one message per line, for the lifetime of the client. The specification
//! is `docs/spec/picoclaw.md`.
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
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncWrite, AsyncWriteExt},
    sync::{Semaphore, mpsc, watch},
    task::JoinSet,
};

use self::message::{Message, RpcError};
use crate::{
    Dialect, ErrorKind, HookSet, Response,
    config::Diagnostic,
    dialect,
    event::EventKind,
    json::{Object, shorten},
    lines, time_for_hooks,
};

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

/// The client's timeouts by type of message. The default is `PicoClaw`'s own defaults.
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
    /// The client's timeout for this method.
    fn of(self, method: &str) -> Duration {
        match kind(method) {
            Some(EventKind::AgentEvent) => self.observer,
            Some(EventKind::PermissionRequest) => self.approval,
            _ => self.interceptor,
        }
    }
}

/// The event kind of a method. `None` for an unknown method.
fn kind(method: &str) -> Option<EventKind> {
    dialect::picoclaw::DIALECT.spec_by_name(method).map(|spec| spec.kind)
}

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

struct Server<S> {
    source: Arc<S>,
    budget: Budget,
    replies: mpsc::Sender<String>,
    reporter: Reporter,
    dropped: AtomicU64,
    /// True once the time of requests is up.
    ended: watch::Receiver<bool>,
    /// Permits of requests whose hooks run.
    running: Semaphore,
    /// Permits of requests that are not answered yet.
    waiting: Arc<Semaphore>,
}

/// A request with those fields that could be read from its line.
struct Request {
    id: Value,
    /// The method. `None` if the line is invalid before its method.
    method: Option<String>,
    line: Vec<u8>,
    /// The time at which its line had been read.
    since: Instant,
    /// The error, if the line is invalid.
    broken: Option<Incomplete>,
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
            Message::Unavailable { id, method, error } => {
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

impl<S: Source> Server<S> {
    fn say(&self, line: impl Into<String>) {
        (self.reporter)(Notice::Line(line.into()));
    }

    async fn send(&self, reply: String) {
        // Fails if the client has gone away, which `serve` notices.
        let _ = self.replies.send(reply).await;
    }

    /// picoclaw.md#hookhello: "The handshake has to be completed at start; otherwise the hook process is ended." So the
    /// reply does not wait for hooks to compile. Unsupported versions and modes are warnings in the reply.
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

    fn is_idle(&self) -> bool {
        self.waiting.available_permits() == WAITING
    }

    async fn answer(&self, request: Request) {
        let reply = self.request(request).await;
        self.send(reply).await;
    }

    /// Waits until the time of requests is up.
    async fn ending(&self) {
        let mut ended = self.ended.clone();
        if ended.wait_for(|ended| *ended).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// The reply to a request, within the client's timeout.
    async fn request(&self, request: Request) -> String {
        let Request { id, method, line, since, broken } = request;
        let current = tokio::select! {
            biased;
            current = self.source.current() => current,
            // The configuration is not known yet, so the request is blocked.
            () = self.ending() => Err(Unavailable { reason: "hookbox ends before its hooks are loaded".into(), closed: true }),
        };
        let shown = method.as_deref().unwrap_or("a request without a method");
        if let Some(method) = &method {
            // decisions.md#picoclaw: "An unknown method is an interceptor", where a hook names it.
            let named =
                |host: &HookSet| host.config().hooks.iter().any(|hook| hook.events.iter().any(|event| event == method));
            if kind(method).is_none() && !current.as_ref().is_ok_and(|host| named(host)) {
                return RpcError::method(method).reply(&id).to_string();
            }
        }
        let budget = method.as_deref().map_or(self.budget.interceptor, |method| self.budget.of(method));
        let asked = crate::Request::new(&line).received_at(since).timeout(Some(budget));
        let asked = match &broken {
            Some(Incomplete { error, too_large: true }) => asked.too_large(&error.message),
            Some(Incomplete { error, .. }) => asked.incomplete(Some(&error.message)),
            None => asked,
        };
        let response = match current {
            Ok(host) => {
                let response = self.decide(&host, asked, time_for_hooks(budget), shown).await;
                (self.reporter)(Notice::Decided { response: &response, host: &host, event: &line });
                response
            }
            Err(broken) => {
                let client = Some(&dialect::picoclaw::DIALECT as &dyn Dialect);
                Response::without_hooks(&asked, client, broken.closed, ErrorKind::Internal, &broken.reason)
            }
        };
        if let Some(failed) = &response.error {
            self.say(format!("{shown}: {}", failed.message));
        }
        if !response.stdout.is_empty() {
            return response.stdout;
        }
        let Some(failed) = response.error else {
            return RpcError::ours("there is no answer to this").reply(&id).to_string();
        };
        let error = match (broken, failed.kind) {
            (Some(broken), _) => broken.error,
            (None, ErrorKind::Event) => RpcError::params(&failed.message),
            (None, _) => RpcError::ours(&failed.message),
        };
        if response.blocks {
            let reason = response.undelivered.as_deref().unwrap_or(&failed.message);
            block(&id, method.as_deref(), &line, reason).to_string()
        } else {
            // An error that does not block. The client ignores it.
            refusal(&id, method.as_deref(), &error).to_string()
        }
    }

    /// Runs the hooks once there is a permit. They count as failed if there is no permit in time, or if the time of
    /// requests is up.
    async fn decide(&self, host: &HookSet, asked: crate::Request<'_>, time: Duration, shown: &str) -> Response {
        let ended = *self.ended.borrow();
        let in_time = async {
            if ended {
                return std::future::pending().await;
            }
            let place = tokio::time::timeout(time, self.running.acquire()).await;
            let response = host.decide(asked).await;
            drop(place);
            response
        };
        tokio::select! {
            biased;
            response = in_time => response,
            () = self.ending() => {
                self.say(format!("{shown}: answered before its hooks were done, because hookbox ends"));
                host.decide(asked.timeout(Some(Duration::ZERO))).await
            }
        }
    }

    async fn notification(&self, method: &str, line: &[u8]) {
        if kind(method).is_none() {
            self.say(format!("unexpected reply to `{}`: ignored", shorten(method, 60)));
            return;
        }
        let Ok(host) = self.source.current().await else { return };
        let asked = crate::Request::new(line).timeout(Some(self.budget.of(method)));
        let response = host.decide(asked).await;
        (self.reporter)(Notice::Decided { response: &response, host: &host, event: line });
        if let Some(failed) = response.error {
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

/// The error of a request with an invalid line.
struct Incomplete {
    error: RpcError,
    /// True if the line exceeds the length limit.
    too_large: bool,
}

/// A block in the words of the method. For an unknown method, in words that every possible method accepts; `line` may
/// show that the request is about a tool.
fn block(id: &Value, method: Option<&str>, line: &[u8], why: &str) -> Value {
    let reason = shorten(why, 4096);
    let seen = |name| dialect::picoclaw::DIALECT.glimpse(line, name);
    let tool = || seen(None).or_else(|| seen(Some("hook.before_tool"))).and_then(|seen| seen.tool);
    let result = match method.map(kind) {
        Some(Some(EventKind::PermissionRequest)) => json!({ "approved": false, "reason": reason }),
        Some(Some(EventKind::PreToolUse)) => json!({ "action": "deny_tool", "reason": reason }),
        Some(_) => json!({ "action": "abort_turn", "reason": reason }),
        None if tool().is_some() => json!({ "action": "deny_tool", "approved": false, "reason": reason }),
        None => json!({ "action": "abort_turn", "approved": false, "reason": reason }),
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// An error reply. decisions.md#the-real-picoclaw: "`approve_tool` answered with `{}` or an action means *denied*". An
/// error means the same, but a refusal includes the reason.
fn refusal(id: &Value, method: Option<&str>, error: &RpcError) -> Value {
    if method == Some("hook.approve_tool") {
        let reason = shorten(&error.message, 4096);
        return json!({ "jsonrpc": "2.0", "id": id, "result": { "approved": false, "reason": reason } });
    }
    error.reply(id)
}
