//! The lives of a process: started, started again after a crash, later and later when it keeps crashing.

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

use super::{Spec, connection::Connection, log::Log};

/// How long it is left alone after a second crash in a row; twice as long after each further one. After the first it is
/// started again at once: it may have been something in that one event.
const BACK_OFF: Duration = Duration::from_millis(200);
/// At most so long.
const MOST: Duration = Duration::from_secs(30);

/// Starts a process, and keeps at most one alive.
pub(super) struct Life {
    spec: Arc<Spec>,
    log: Arc<Log>,
    now: Mutex<Now>,
}

#[derive(Default)]
struct Now {
    current: Option<Current>,
    /// Lives in a row that ended before they had answered anything.
    crashes: u32,
    /// Until when it is left alone, and why.
    wait: Option<Ended>,
    closed: bool,
}

/// How a life ended, and when.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) failure: Failure,
    pub(super) at: Instant,
}

/// A process that shakes hands, or has. It goes on whether or not the calls wait that wanted it.
struct Current {
    connection: Arc<Connection>,
    ready: Ready,
    driver: AbortHandle,
}

/// Done with the handshake.
type Ready = Shared<BoxFuture<'static, Result<(), Ended>>>;

impl Drop for Current {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Life {
    pub(super) fn new(spec: Spec, log: Arc<Log>) -> Self {
        Self { spec: Arc::new(spec), log, now: Mutex::default() }
    }

    /// The process, started unless it lives. It may still be at its handshake.
    pub(super) fn opened(&self) -> Result<Arc<Connection>, Failure> {
        self.current().map(|(connection, _)| connection)
    }

    /// The process, once it has shaken hands.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, Failure> {
        loop {
            let (connection, ready) = self.current()?;
            ready.await.map_err(|ended| ended.failure)?;
            if connection.answers().await {
                return Ok(connection);
            }
        }
    }

    /// Ends the process: its stdin is closed, and when it has not ended by then it is killed. It is not started again.
    ///
    /// # Errors
    /// It was told of events that it may not have read.
    pub(super) async fn stop(&self, by: Instant) -> Result<(), String> {
        let current = {
            let mut now = self.now();
            now.closed = true;
            now.current.as_ref().map(|current| (Arc::clone(&current.connection), current.ready.clone()))
        };
        let Some((connection, ready)) = current else { return Ok(()) };
        // It reads notifications that came before its handshake was done once it has started.
        let ready = tokio::time::timeout_at(by.into(), ready).await;
        let told = connection.told();
        let unread = connection.stop(by).await;
        match ready {
            _ if told == 0 => Ok(()),
            Ok(Ok(())) if unread == 0 => Ok(()),
            Ok(Ok(())) => Err(format!("{unread} of {told} notifications were not written in time")),
            Ok(Err(ended)) => Err(format!("{told} notifications were not delivered: {}", ended.failure.message)),
            Err(_) => Err(format!("{told} notifications were not delivered: it did not answer the handshake in time")),
        }
    }

    /// Returns true if it lives, or would be started by the next call.
    pub(super) fn health(&self) -> Result<(), Failure> {
        let mut now = self.now();
        now.notice();
        match &now.wait {
            Some(ended) if now.current.is_none() => Err(ended.failure.clone()),
            _ => Ok(()),
        }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
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
            now.count(Ended { failure: failure.clone(), at: Instant::now() });
        })?;
        let ready = handshake(Arc::clone(&self.spec), Arc::clone(&connection)).boxed().shared();
        // Now, so that nothing goes before it.
        let _ = ready.clone().now_or_never();
        let driver = tokio::spawn(ready.clone().map(drop)).abort_handle();
        now.current = Some(Current { connection: Arc::clone(&connection), ready: ready.clone(), driver });
        Ok((connection, ready))
    }
}

impl Now {
    /// Sees whether the current life has ended.
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

    fn count(&mut self, ended: Ended) {
        self.crashes = self.crashes.saturating_add(1);
        self.wait = Some(ended);
    }

    /// Refuses while a process that keeps crashing is left alone.
    fn left_alone(&self) -> Result<(), Failure> {
        let Some(ended) = &self.wait else { return Ok(()) };
        let left = back_off(self.crashes).saturating_sub(ended.at.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        let (times, left, Failure { cause, message }) = (self.crashes, left.as_secs_f64(), &ended.failure);
        let why = format!("ended {times} times in a row and is started again in {left:.1} s; last: {message}");
        Err(Failure::new(*cause, why))
    }
}

/// How long it is left alone after so many crashes in a row.
fn back_off(crashes: u32) -> Duration {
    let Some(doublings) = crashes.checked_sub(2) else { return Duration::ZERO };
    2_u32.checked_pow(doublings).and_then(|times| BACK_OFF.checked_mul(times)).map_or(MOST, |wait| wait.min(MOST))
}

/// picoclaw.md#hookhello: "The handshake has to be completed at start; otherwise the hook process is ended."
async fn handshake(spec: Arc<Spec>, connection: Arc<Connection>) -> Result<(), Ended> {
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
            Failure::new(Cause::Timeout, format!("did not answer the handshake within {seconds} s"))
        }
    };
    connection.kill();
    Err(Ended { failure, at: Instant::now() })
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
