//! The number of streams of verdicts.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The maximum number of streams.
const ALL: usize = 64;
/// The maximum number of streams of one tenant's owners.
const PER_TENANT: usize = 8;

/// The number of open streams by tenant. Operators' streams have an empty name.
#[derive(Debug, Default)]
pub struct Streams(Arc<Mutex<HashMap<String, usize>>>);

/// The permit of one stream.
#[derive(Debug)]
pub struct StreamPermit {
    all: Arc<Mutex<HashMap<String, usize>>>,
    owner: String,
}

impl Streams {
    /// Takes a permit for a stream of this tenant's owner. `None` if all permits are in use.
    pub fn enter(&self, owner: &str) -> Option<StreamPermit> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (used, own) = (all.values().sum::<usize>(), all.get(owner).copied().unwrap_or_default());
        // Half of the permits are reserved for operators.
        let full = if owner.is_empty() { used >= ALL } else { own >= PER_TENANT || used >= ALL / 2 };
        if full {
            return None;
        }
        *all.entry(owner.to_owned()).or_default() += 1;
        Some(StreamPermit { all: Arc::clone(&self.0), owner: owner.to_owned() })
    }

    /// The number of open streams.
    pub fn open(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = all.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                all.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, PER_TENANT, Streams};

    #[test]
    fn streams_are_bounded_and_operators_find_room() {
        let streams = Streams::default();
        let mut permits: Vec<_> = (0..PER_TENANT).filter_map(|_| streams.enter("acme")).collect();
        assert!(streams.enter("acme").is_none());
        permits.extend((0..ALL).filter_map(|n| streams.enter(&format!("t{n}"))));
        assert_eq!(streams.open(), ALL / 2);
        permits.extend((0..ALL).filter_map(|_| streams.enter("")));
        assert_eq!(streams.open(), ALL);
        drop(permits);
        assert!(streams.enter("acme").is_some());
    }
}
