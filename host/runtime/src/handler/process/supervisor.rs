//! The life cycle of a process: started, and restarted after a crash with an increasing delay.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use hookbox_protocol::{Cause, Failure, json::Object};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::{Spec, connection::Connection, end::ProcessEnd, log::Log};

/// The delay before a restart after the second crash in a row. It doubles after each further crash. The first restart
/// is immediate, because a single event may have caused the crash.
const BACK_OFF: Duration = Duration::from_millis(200);
/// The maximum delay.
const MOST: Duration = Duration::from_secs(30);

/// Starts a process and restarts it. At most one instance runs.
pub(super) struct Supervisor {
    spec: Arc<Spec>,
    log: Arc<Log>,
    now: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Current>,
    /// Crashes in a row. A run counts if it ended before it replied to any request.
    crashes: u32,
    /// The last crash, from which the restart delay counts.
    wait: Option<ProcessEnd>,
    closed: bool,
}

/// A running process, during or after its handshake. It keeps running even if the call that started it is dropped.
struct Current {
    connection: Arc<Connection>,
    ready: Ready,
    driver: AbortHandle,
}

/// Completes with the handshake.
type Ready = Shared<BoxFuture<'static, Result<(), ProcessEnd>>>;

impl Drop for Current {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Supervisor {
    pub(super) fn new(spec: Spec, log: Arc<Log>) -> Self {
        Self { spec: Arc::new(spec), log, now: Mutex::default() }
    }

    /// The process. Starts it unless it runs. The handshake may still be pending.
    pub(super) fn opened(&self) -> Result<Arc<Connection>, Failure> {
        self.current().map(|(connection, _)| connection)
    }

    /// The process, after its handshake.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, Failure> {
        loop {
            let (connection, ready) = self.current()?;
            ready.await.map_err(|ended| ended.failure)?;
            if connection.answers().await {
                return Ok(connection);
            }
        }
    }

    /// Stops the process: closes its stdin, and kills it if it has not exited by the deadline. It is not restarted.
    ///
    /// # Errors
    /// Notifications that the process may not have read.
    pub(super) async fn stop(&self, by: Instant) -> Result<(), String> {
        let current = {
            let mut now = self.now();
            now.closed = true;
            now.current.as_ref().map(|current| (Arc::clone(&current.connection), current.ready.clone()))
        };
        let Some((connection, ready)) = current else { return Ok(()) };
        // A process reads notifications from before the end of its handshake only after it.
        let ready = tokio::time::timeout_at(by.into(), ready).await;
        let unacknowledged = connection.unacknowledged();
        let unread = connection.stop(by).await;
        match ready {
            _ if unacknowledged == 0 => Ok(()),
            Ok(Ok(())) if unread == 0 => Ok(()),
            Ok(Ok(())) => Err(format!("{unread} of {unacknowledged} notifications were not written in time")),
            Ok(Err(ended)) => {
                Err(format!("{unacknowledged} notifications were not delivered: {}", ended.failure.message))
            }
            Err(_) => {
                Err(format!("{unacknowledged} notifications were not delivered: no response to the handshake in time"))
            }
        }
    }

    /// Returns `Ok` if the process runs, or the next call would start it.
    pub(super) fn health(&self) -> Result<(), Failure> {
        let mut now = self.now();
        now.notice();
        match &now.wait {
            Some(ended) if now.current.is_none() => Err(ended.failure.clone()),
            _ => Ok(()),
        }
    }

    fn now(&self) -> MutexGuard<'_, State> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Result<(Arc<Connection>, Ready), Failure> {
        let mut now = self.now();
        if now.closed {
            return Err(Failure::new(Cause::Spawn, "its hook set is closed"));
        }
        now.notice();
        if let Some(current) = &now.current {
            return Ok((Arc::clone(&current.connection), current.ready.clone()));
        }
        now.left_alone()?;
        let connection = Connection::open(&self.spec, &self.log).map(Arc::new).inspect_err(|failure| {
            now.count(ProcessEnd { failure: failure.clone(), at: Instant::now() });
        })?;
        let ready = handshake(Arc::clone(&self.spec), Arc::clone(&connection)).boxed().shared();
        // Polled once now, so that no message precedes the handshake.
        let _ = ready.clone().now_or_never();
        let driver = tokio::spawn(ready.clone().map(drop)).abort_handle();
        now.current = Some(Current { connection: Arc::clone(&connection), ready: ready.clone(), driver });
        Ok((connection, ready))
    }
}

impl State {
    /// Checks if the current run has ended.
    fn notice(&mut self) {
        let Some(current) = &self.current else { return };
        let ended = match current.ready.peek() {
            Some(Ok(())) => current.connection.ended(),
            Some(Err(ended)) => Some(ended.clone()),
            None => None,
        };
        if ended.is_some() && current.connection.was_of_use() {
            self.crashes = 0;
        }
        if let Some(ended) = ended {
            self.current = None;
            self.count(ended);
        }
    }

    fn count(&mut self, ended: ProcessEnd) {
        self.crashes = self.crashes.saturating_add(1);
        self.wait = Some(ended);
    }

    /// Returns an error during the restart delay of a process that keeps crashing.
    fn left_alone(&self) -> Result<(), Failure> {
        let Some(ended) = &self.wait else { return Ok(()) };
        let left = back_off(self.crashes).saturating_sub(ended.at.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        let (times, left, Failure { cause, message }) = (self.crashes, left.as_secs_f64(), &ended.failure);
        let why = format!("ended {times} times in a row; restart in {left:.1} s; last: {message}");
        Err(Failure::new(*cause, why))
    }
}

/// The restart delay after this many crashes in a row.
fn back_off(crashes: u32) -> Duration {
    let Some(doublings) = crashes.checked_sub(2) else { return Duration::ZERO };
    2_u32.checked_pow(doublings).and_then(|times| BACK_OFF.checked_mul(times)).map_or(MOST, |wait| wait.min(MOST))
}

/// picoclaw.md#hookhello: "The handshake has to be completed at start; otherwise the hook process is ended."
async fn handshake(spec: Arc<Spec>, connection: Arc<Connection>) -> Result<(), ProcessEnd> {
    let params = json!({ "name": spec.name, "version": 1, "modes": spec.modes });
    let hello = [("jsonrpc", "2.0".into()), ("method", "hook.hello".into()), ("params", params)];
    let hello: Object = hello.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let limit = spec.process.start;
    let failure = match tokio::time::timeout(limit, connection.ask(hello)).await {
        Ok(Ok(result)) if result.get("ok") != Some(&Value::Bool(false)) => return Ok(()),
        Ok(Ok(_)) => Failure::new(Cause::Guest, "refused the handshake"),
        Ok(Err(failure)) => Failure::new(failure.cause, format!("handshake: {}", failure.message)),
        Err(_) => {
            let seconds = limit.as_secs_f64();
            Failure::new(Cause::Timeout, format!("no response to the handshake within {seconds} s"))
        }
    };
    connection.kill();
    Err(ProcessEnd { failure, at: Instant::now() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_back_off_doubles_up_to_a_bound() {
        let waits = [0, 1, 2, 3, 4, 9, 10, 40, u32::MAX].map(|crashes| back_off(crashes).as_millis());
        assert_eq!(waits, [0, 0, 200, 400, 800, 25_600, 30_000, 30_000, 30_000]);
    }
}
