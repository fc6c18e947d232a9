//! The requests that wait for a reply, and the readers that deliver replies to them.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use hookbox_protocol::{
    Cause, Failure,
    glimpse::number,
    json::{self, Object, shorten},
};
use serde_json::Value;
use tokio::{
    io::BufReader,
    process::{ChildStderr, ChildStdout},
    sync::{oneshot, watch},
};

use super::super::{end::ProcessEnd, log::Log};
use crate::lines;

/// The longest reply line in bytes, as in the client's reader. decisions.md#the-real-picoclaw: "A reply line of 1 MiB
/// or more kills the client's reader for good".
const REPLY_LIMIT: usize = 1024 * 1024 - 1;
/// The maximum number of lines between two replies that are not replies themselves.
const STRAY_LIMIT: u32 = 10_000;
/// The maximum length of a stderr line in the log, in bytes.
const STDERR_LIMIT: usize = 4096;
/// The number of abandoned requests that are remembered, to recognise late replies.
const GIVEN_UP: usize = 256;

/// The state that calls share with the task of the process.
pub(super) struct Shared {
    pub(super) log: Arc<Log>,
    pub(super) open: Mutex<Open>,
    pub(super) ended: watch::Sender<Option<ProcessEnd>>,
    pub(super) dropped: AtomicU64,
    /// Notifications sent since the last reply. The process may still be handling them.
    pub(super) unacknowledged: AtomicU64,
    /// Notifications that are not written yet.
    pub(super) unread: AtomicU64,
    /// True if the process sends no more replies and is about to end.
    pub(super) leaving: AtomicBool,
}

#[derive(Default)]
pub(super) struct Open {
    /// The id of the last request.
    pub(super) last_id: u64,
    pub(super) answered: u64,
    pub(super) waiting: HashMap<u64, oneshot::Sender<Result<Object, Failure>>>,
    pub(super) given_up: VecDeque<u64>,
}

/// A request whose caller waits for the reply.
pub(super) struct Waiting<'a> {
    pub(super) id: u64,
    shared: &'a Shared,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut open = self.shared.open();
        if open.waiting.remove(&self.id).is_some() {
            open.given_up.push_back(self.id);
            if open.given_up.len() > GIVEN_UP {
                open.given_up.pop_front();
            }
        }
    }
}

impl Shared {
    pub(super) fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn expect(&self) -> (Waiting<'_>, oneshot::Receiver<Result<Object, Failure>>) {
        let (sender, answer) = oneshot::channel();
        let mut open = self.open();
        open.last_id += 1;
        let id = open.last_id;
        open.waiting.insert(id, sender);
        (Waiting { id, shared: self }, answer)
    }

    pub(super) fn failure(&self) -> Failure {
        let ended = self.ended.borrow().as_ref().map(|ended| ended.failure.clone());
        ended.unwrap_or_else(|| Failure::new(Cause::Exit, "ended"))
    }

    /// Waits until the process has ended.
    pub(super) async fn gone(&self) {
        // This cannot fail, because `self` owns the sender.
        let _ = self.ended.subscribe().wait_for(Option::is_some).await;
    }

    /// Marks the process as ended, and fails all pending requests.
    pub(super) fn end(&self, failure: &Failure) {
        let failure = Failure::new(failure.cause, format!("the process {}", failure.message));
        self.ended.send_replace(Some(ProcessEnd { failure: failure.clone(), at: Instant::now() }));
        for (_, waiting) in std::mem::take(&mut self.open().waiting) {
            let _ = waiting.send(Err(failure.clone()));
        }
    }

    /// Reads replies until the end of stdout.
    pub(super) async fn read(&self, stdout: ChildStdout) -> Result<(), Failure> {
        let (mut stdout, mut stray) = (BufReader::new(stdout), 0);
        while let Ok(Some(line)) = lines::next(&mut stdout, REPLY_LIMIT).await {
            if line.cut {
                self.leaving.store(true, Ordering::Release);
                return Err(Failure::new(Cause::OutputTooLarge, "wrote a line of 1 MiB or more"));
            }
            stray = if self.reply(&line.bytes) { 0 } else { stray + 1 };
            if stray > STRAY_LIMIT {
                self.leaving.store(true, Ordering::Release);
                let why = format!("wrote more than {STRAY_LIMIT} lines that are not replies");
                return Err(Failure::new(Cause::OutputTooLarge, why));
            }
        }
        self.leaving.store(true, Ordering::Release);
        Ok(())
    }

    /// Delivers a reply to its request. Logs and drops a line that matches no pending request, and returns false.
    fn reply(&self, line: &[u8]) -> bool {
        if line.trim_ascii().is_empty() {
            return false;
        }
        let (id, result) = match json::parse_object(line) {
            Ok(mut reply) => (reply.get("id").and_then(Value::as_u64), read_reply(&mut reply)),
            Err(error) => (number("id", line), Err(Failure::new(Cause::BadOutput, format!("its reply is {error}")))),
        };
        let mut open = self.open();
        let waiting = id.and_then(|id| open.waiting.remove(&id));
        if let Some(waiting) = waiting {
            open.answered += 1;
            // The handshake was answered before the process read any notification.
            if open.answered > 1 {
                self.unacknowledged.store(0, Ordering::Relaxed);
            }
            // Fails if the caller has just abandoned the request.
            let _ = waiting.send(result);
            return true;
        }
        let what = match id {
            None => "a line that is not a reply",
            Some(id) if open.given_up.contains(&id) => {
                open.given_up.retain(|given_up| *given_up != id);
                "a late reply"
            }
            Some(id) if (1..=open.last_id).contains(&id) => "a second reply to one request",
            Some(_) => "a reply without a request",
        };
        drop(open);
        self.log.warn(format!("{what}, not read: {}", shorten(&String::from_utf8_lossy(line), 200)));
        false
    }

    pub(super) async fn log(&self, stderr: ChildStderr) {
        let mut stderr = BufReader::new(stderr);
        while let Ok(Some(line)) = lines::next(&mut stderr, STDERR_LIMIT).await {
            self.log.line(String::from_utf8_lossy(&line.bytes).trim_end_matches('\r'));
            if line.cut && lines::skip(&mut stderr).await.is_err() {
                return;
            }
        }
    }
}

/// Reads the `result` or the `error` of a reply, see picoclaw.md#what-it-is.
fn read_reply(reply: &mut Object) -> Result<Object, Failure> {
    let bad = |why: &str| Err(Failure::new(Cause::BadOutput, format!("its reply has {why}")));
    match (reply.shift_remove("error").filter(|error| !error.is_null()), reply.shift_remove("result")) {
        (Some(error), _) => {
            let message = error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
            Err(Failure::new(Cause::Guest, shorten(&message, 4096)))
        }
        (None, Some(Value::Object(result))) => Ok(result),
        (None, Some(_)) => bad("a `result` that is not an object"),
        (None, None) => bad("neither `result` nor `error`"),
    }
}
