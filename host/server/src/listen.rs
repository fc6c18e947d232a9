//! Accepts connections, as many as there is room for.

mod connection;
mod listener;

use std::{sync::Arc, time::Duration};

use axum::Router;
use tokio::sync::{Semaphore, watch};

use self::connection::{Connection, LEAVING, draining};
pub use self::listener::{Listener, make_room};
use crate::{
    app::Phase,
    idle::{CloseResult, GRACE, Idle, TrackedConnection},
    tls::Tls,
};

/// The maximum number of new connections that wait for room. Further ones stay in the backlog.
const WAITING: usize = 256;
/// The pause after a failed `accept`, for example because file descriptors are exhausted.
const PAUSE: Duration = Duration::from_millis(100);

/// The shared state of all connections.
#[derive(Clone)]
pub struct Connections {
    most: u32,
    /// The permits for connections.
    room: Arc<Semaphore>,
    /// The permits for connections that wait for room. They need a file descriptor too.
    waiting: Arc<Semaphore>,
    idle: Arc<Idle>,
    /// The phase of the daemon. After `Serving`, no connections are accepted.
    phase: watch::Receiver<Phase>,
}

impl Connections {
    /// Allows this many connections until the daemon drains.
    pub fn new(most: u32, phase: watch::Receiver<Phase>) -> Self {
        let (room, waiting) = (Arc::new(Semaphore::new(most as usize)), Arc::new(Semaphore::new(WAITING)));
        Self { most, room, waiting, idle: Arc::new(Idle::new(most as usize, GRACE)), phase }
    }

    /// Accepts connections until the daemon drains. Without room for a new one, an old one that may be closed makes
    /// room. Otherwise the new one is closed immediately.
    pub async fn serve(mut self, listener: Listener, tls: Option<Arc<Tls>>, router: Router) {
        loop {
            // Connections that were asked to make room close soon, if at all.
            let waits = tokio::time::timeout(LEAVING, Arc::clone(&self.waiting).acquire_owned()).await;
            let taken = tokio::select! {
                () = draining(&mut self.phase) => return,
                taken = listener.accept() => taken,
            };
            let (stream, source) = match taken {
                Ok(taken) => taken,
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let room = Arc::clone(&self.room);
            let (permit, asked) = loop {
                if let Ok(permit) = Arc::clone(&room).try_acquire_owned() {
                    break (Some(permit), CloseResult::None);
                }
                let asked = if waits.is_ok() { self.idle.ask_one_to_leave() } else { CloseResult::None };
                if asked != CloseResult::Later {
                    break (None, asked);
                }
                // New connections keep their grace period. Meanwhile, further ones wait in the backlog.
                tokio::time::sleep(PAUSE / 10).await;
            };
            match (&permit, asked) {
                (Some(_), _) => {}
                (None, CloseResult::One) => metrics::counter!("hookbox_connections_made_room_total").increment(1),
                (None, _) => {
                    metrics::counter!("hookbox_connections_refused_total").increment(1);
                    continue;
                }
            }
            let tracked = Arc::new(TrackedConnection::new(&self.idle, source));
            let (tls, router, phase) = (tls.clone(), router.clone(), self.phase.clone());
            tokio::spawn(async move {
                let waiting = async {
                    match permit {
                        Some(permit) => Some(permit),
                        // A connection was asked to leave and closes soon. The semaphore is never closed.
                        None => room.acquire_owned().await.ok(),
                    }
                };
                let permit = tokio::select! {
                    biased;
                    permit = waiting => permit,
                    // It leaves, to make room for those behind it.
                    () = tracked.asked_to_leave() => None,
                };
                drop(waits);
                if permit.is_some() {
                    Connection { router, tracked, phase }.serve(stream, tls).await;
                }
            });
        }
    }

    /// Waits until all accepted connections have ended.
    pub async fn ended(&self) {
        // This cannot fail, because the semaphore is never closed.
        let _ = self.room.acquire_many(self.most).await;
    }
}
