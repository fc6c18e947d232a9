//! The connections that may be closed, by group and owner.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::source::Source;

/// The groups.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The last assigned number. Within a group, the lowest number is the oldest connection.
    pub(super) last: u64,
    pub(super) refused: ByOwner<Source>,
    pub(super) strangers: ByOwner<Source>,
    pub(super) resting: BTreeMap<u64, Arc<Signals>>,
    pub(super) reading: ByOwner<Arc<str>>,
}

/// Connections of one group by owner.
#[derive(Debug)]
pub(super) struct ByOwner<K>(HashMap<K, BTreeMap<u64, Arc<Signals>>>);

impl<K> Default for ByOwner<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Clone + Eq + Hash> ByOwner<K> {
    pub(super) fn add(&mut self, owner: &K, number: u64, signals: Arc<Signals>) {
        self.0.entry(owner.clone()).or_default().insert(number, signals);
    }

    pub(super) fn remove(&mut self, owner: &K, number: u64) {
        if let Some(own) = self.0.get_mut(owner) {
            own.remove(&number);
            if own.is_empty() {
                self.0.remove(owner);
            }
        }
    }

    pub(super) fn count_of(&self, owner: &K) -> usize {
        self.0.get(owner).map_or(0, BTreeMap::len)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if the oldest connection of an owner is past its grace period.
    pub(super) fn is_ripe(&self, owner: &K, grace: Duration) -> bool {
        self.0.get(owner).is_some_and(|own| is_ripe(own, grace))
    }

    /// Removes the oldest connection of an owner.
    pub(super) fn pop_of(&mut self, owner: &K) -> Option<Arc<Signals>> {
        let own = self.0.get_mut(owner)?;
        let (number, signals) = own.pop_first()?;
        self.remove(owner, number);
        Some(signals)
    }

    /// Removes the oldest connection of the owner with the most. Skips owners whose oldest connection is in its grace
    /// period.
    pub(super) fn pop(&mut self, grace: Duration) -> Option<Arc<Signals>> {
        let ripe = self.0.iter().filter(|(_, own)| is_ripe(own, grace));
        let owner = ripe.max_by_key(|(_, own)| own.len())?.0.clone();
        self.pop_of(&owner)
    }
}

fn is_ripe(connections: &BTreeMap<u64, Arc<Signals>>, grace: Duration) -> bool {
    connections.first_key_value().is_some_and(|(_, oldest)| oldest.is_older(grace))
}

/// The signals that tell a connection to make room.
#[derive(Debug)]
pub(super) struct Signals {
    /// The start of the connection.
    pub(super) since: Instant,
    /// For the task that serves the connection.
    pub(super) leave: Notify,
    /// For the request that reads a body.
    pub(super) hurry: Notify,
}

impl Signals {
    pub(super) fn is_older(&self, grace: Duration) -> bool {
        self.since.elapsed() >= grace
    }
}
