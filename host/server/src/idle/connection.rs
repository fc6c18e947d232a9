//! A connection with its group.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::Notify;

use super::{
    candidates::Idle,
    queue::{Queue, Signals},
    source::Source,
};

/// The group of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Group {
    /// It has not sent a token.
    Stranger,
    /// It has not sent a token, and a request was rejected.
    Refused,
    /// It is authenticated and has no pending request.
    Resting,
    /// It is receiving the body of a request of this tenant.
    Reading(Arc<str>),
    /// Its event is being decided.
    Busy,
}

/// One connection.
#[derive(Debug)]
pub struct TrackedConnection {
    idle: Arc<Idle>,
    source: Source,
    signals: Arc<Signals>,
    /// Its group, and its number there.
    state: Mutex<(Group, u64)>,
}

impl TrackedConnection {
    /// Adds a new connection. If its address has too many unauthenticated ones, asks the oldest of them to leave.
    pub fn new(idle: &Arc<Idle>, source: Source) -> Self {
        let signals = Arc::new(Signals { since: Instant::now(), leave: Notify::new(), hurry: Notify::new() });
        let mut queue = idle.lock();
        queue.last += 1;
        let number = queue.last;
        queue.strangers.add(&source, number, Arc::clone(&signals));
        let crowded = queue.strangers.count_of(&source) + queue.refused.count_of(&source) > idle.per_address;
        let oldest = || {
            let is_ripe = queue.strangers.is_ripe(&source, idle.grace);
            queue.refused.pop_of(&source).or_else(|| is_ripe.then(|| queue.strangers.pop_of(&source)).flatten())
        };
        if let Some(oldest) = crowded.then(oldest).flatten() {
            metrics::counter!("hookbox_connections_made_room_total").increment(1);
            oldest.leave.notify_one();
        }
        drop(queue);
        Self { idle: Arc::clone(idle), source, signals, state: Mutex::new((Group::Stranger, number)) }
    }

    /// Marks the connection as authenticated by this tenant's token. The request is pending until the returned value is
    /// dropped.
    pub fn admit(self: &Arc<Self>, tenant: &str) -> Admitted {
        self.move_to(Group::Reading(tenant.into()));
        Admitted(Arc::clone(self))
    }

    /// Marks the connection as authenticated by another known token, without a pending request.
    pub fn know(&self) {
        self.move_to(Group::Resting);
    }

    /// Marks the connection as idle after a response that needs no further work.
    pub fn done(&self) {
        self.move_to(if self.is_strange() { Group::Refused } else { Group::Resting });
    }

    /// Returns true if the connection is not authenticated.
    pub fn is_strange(&self) -> bool {
        matches!(self.state().0, Group::Stranger | Group::Refused)
    }

    /// Returns true if the connection has no pending admitted request.
    pub fn is_idle(&self) -> bool {
        matches!(self.state().0, Group::Stranger | Group::Refused | Group::Resting)
    }

    /// Waits until the connection has to make room.
    pub async fn asked_to_leave(&self) {
        self.signals.leave.notified().await;
    }

    fn state(&self) -> MutexGuard<'_, (Group, u64)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn move_to(&self, group: Group) {
        let mut queue = self.idle.lock();
        let mut own = self.state();
        self.leave_group(&mut queue, &own);
        queue.last += 1;
        let (number, signals) = (queue.last, Arc::clone(&self.signals));
        match &group {
            Group::Stranger => queue.strangers.add(&self.source, number, signals),
            Group::Refused => queue.refused.add(&self.source, number, signals),
            Group::Resting => drop(queue.resting.insert(number, signals)),
            Group::Reading(tenant) => queue.reading.add(tenant, number, signals),
            Group::Busy => {}
        }
        *own = (group, number);
    }

    fn leave_group(&self, queue: &mut Queue, (group, number): &(Group, u64)) {
        match group {
            Group::Stranger => queue.strangers.remove(&self.source, *number),
            Group::Refused => queue.refused.remove(&self.source, *number),
            Group::Resting => drop(queue.resting.remove(number)),
            Group::Reading(tenant) => queue.reading.remove(tenant, *number),
            Group::Busy => {}
        }
    }
}

impl Drop for TrackedConnection {
    fn drop(&mut self) {
        let mut queue = self.idle.lock();
        self.leave_group(&mut queue, &self.state());
    }
}

/// A pending request. See [`TrackedConnection::admit`].
#[derive(Debug)]
pub struct Admitted(Arc<TrackedConnection>);

impl Admitted {
    /// Marks the body as complete. From now on the connection stays open.
    pub fn is_read(&self) {
        self.0.move_to(Group::Busy);
    }

    /// Waits until the request has to be given up, because its connection has to make room.
    pub async fn hurried(&self) {
        self.0.signals.hurry.notified().await;
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.0.move_to(Group::Resting);
    }
}
