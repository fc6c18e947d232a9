//! The most recent verdicts: a row for the list and the record of each.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::seal::Seal;

/// The maximum number of verdicts, for all tenants together.
pub const KEPT: usize = 10_000;
/// The maximum size of them in bytes.
const BYTES: usize = 48 << 20;

/// The most recent verdicts, numbered from 1.
#[derive(Debug)]
pub struct Feed {
    /// The daemon's start. It is part of each id, so that ids of an earlier daemon are not mistaken for current ones.
    epoch: String,
    /// Ids have sealed numbers, because a number tells a tenant's owner how many verdicts other tenants had.
    seal: Seal,
    state: Mutex<State>,
    /// The number of the latest verdict.
    last: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<u64, Arc<Entry>>,
    /// The numbers of each tenant's verdicts, oldest first, and their size in bytes.
    owners: HashMap<Arc<str>, (VecDeque<u64>, usize)>,
    bytes: usize,
}

/// One verdict.
#[derive(Debug)]
pub struct Entry {
    pub tenant: Arc<str>,
    /// The row, as JSON.
    pub row: String,
    /// The record, as JSON.
    pub record: String,
}

/// Rows after a given number.
#[derive(Debug, Default)]
pub struct Rows {
    /// The number of the last verdict that was considered.
    pub last: u64,
    pub entries: Vec<Arc<Entry>>,
    /// The number of rows that are no longer kept, for all tenants.
    pub lost: u64,
}

impl Feed {
    /// Creates an empty feed. `started` is the start of the daemon, as Unix time in ms.
    pub fn new(started: i64) -> Self {
        Self {
            epoch: format!("{started:x}"),
            seal: Seal::default(),
            state: Mutex::default(),
            last: watch::Sender::new(0),
        }
    }

    /// The common part of this daemon's ids.
    pub fn epoch(&self) -> &str {
        &self.epoch
    }

    /// The id for a number.
    pub fn id(&self, number: u64) -> String {
        format!("{}-{}", self.epoch, self.seal.close(number))
    }

    /// The number of one of this daemon's ids.
    pub fn number(&self, id: &str) -> Option<u64> {
        let (epoch, sealed) = id.split_once('-')?;
        let number = self.seal.open(sealed).filter(|_| epoch == self.epoch)?;
        (number <= *self.last.borrow()).then_some(number)
    }

    /// Adds a verdict. `make` gets its id. If there is no room, the oldest one of the tenant with the most bytes is
    /// dropped.
    pub fn add(&self, tenant: &str, make: impl FnOnce(&str) -> (String, String)) -> String {
        let mut state = self.lock();
        let number = *self.last.borrow() + 1;
        let id = self.id(number);
        let (row, record) = make(&id);
        let bytes = row.len() + record.len();
        let tenant: Arc<str> = tenant.into();
        let (numbers, own) = state.owners.entry(Arc::clone(&tenant)).or_default();
        numbers.push_back(number);
        *own += bytes;
        state.bytes += bytes;
        state.entries.insert(number, Arc::new(Entry { tenant, row, record }));
        while state.entries.len() > KEPT || state.bytes > BYTES {
            if !state.drop_one() {
                break;
            }
        }
        drop(state);
        self.last.send_replace(number);
        id
    }

    /// The rows after a number for which `may_see` returns true, at most `limit`.
    pub fn since(&self, number: u64, limit: usize, may_see: impl Fn(&str) -> bool) -> Rows {
        let state = self.lock();
        let first = state.entries.first_key_value().map_or(0, |(first, _)| *first);
        let mut found = Rows { last: number, lost: first.saturating_sub(number.saturating_add(1)), ..Rows::default() };
        for (number, entry) in state.entries.range((Bound::Excluded(number), Bound::Unbounded)) {
            if found.entries.len() == limit {
                return found;
            }
            found.last = *number;
            if may_see(&entry.tenant) {
                found.entries.push(Arc::clone(entry));
            }
        }
        found
    }

    /// The verdict with this id.
    pub fn find(&self, id: &str) -> Option<Arc<Entry>> {
        self.lock().entries.get(&self.number(id)?).cloned()
    }

    /// Notifies of new verdicts.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Returns true if verdicts of this daemon are no longer kept.
    pub fn dropped(&self) -> bool {
        let (made, entries) = (*self.last.borrow(), self.lock().entries.len());
        usize::try_from(made).is_ok_and(|made| made > entries)
    }

    /// The number of verdicts and their size in bytes.
    pub fn size(&self) -> (usize, usize) {
        let state = self.lock();
        (state.entries.len(), state.bytes)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Drops the oldest verdict of the tenant with the most bytes, so that no tenant displaces the verdicts of others.
    fn drop_one(&mut self) -> bool {
        let Some(owner) = self.owners.iter().max_by_key(|(_, (_, bytes))| *bytes).map(|(owner, _)| Arc::clone(owner))
        else {
            return false;
        };
        let Some((numbers, bytes)) = self.owners.get_mut(&owner) else { return false };
        let gone = numbers.pop_front().and_then(|number| self.entries.remove(&number));
        let size = gone.map_or(0, |gone| gone.row.len() + gone.record.len());
        *bytes = bytes.saturating_sub(size);
        self.bytes = self.bytes.saturating_sub(size);
        if numbers.is_empty() {
            self.owners.remove(&owner);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::{BYTES, Feed, KEPT};

    fn add(feed: &Feed, tenant: &str, text: &str) -> String {
        feed.add(tenant, |id| (id.to_owned(), text.to_owned()))
    }

    #[test]
    fn ids_are_those_of_one_daemon() {
        let (feed, earlier) = (Feed::new(2000), Feed::new(1000));
        let id = add(&feed, "acme", "record");
        assert_eq!(feed.find(&id).unwrap().record, "record");
        assert!(!feed.dropped());
        assert!(feed.find(&add(&earlier, "acme", "")).is_none());
        assert!(feed.find("").is_none() && feed.find("7d0-x").is_none());
    }

    #[test]
    fn ids_do_not_tell_the_number_of_verdicts() {
        let feed = Feed::new(2000);
        let ids: Vec<String> = (0..100).map(|_| add(&feed, "acme", "record")).collect();
        let numbers: Vec<u64> = ids.iter().filter_map(|id| feed.number(id)).collect();
        assert_eq!(numbers, (1..=100).collect::<Vec<_>>());
        let mut sorted = ids.clone();
        sorted.sort();
        assert!(sorted != ids && ids.iter().all(|id| id.len() == ids[0].len()), "{ids:?}");
        // Another daemon of the same start has other ids.
        assert_ne!(add(&Feed::new(2000), "acme", "record"), ids[0]);
    }

    #[test]
    fn ids_that_were_never_given_are_unknown() {
        let feed = Feed::new(0);
        let id = add(&feed, "acme", "record");
        let later = feed.id(2);
        for wrong in [later.as_str(), "0-18446744073709551615", "0-ffffffffffffffff", "0-1", "0-", "0-+000000000000001"]
        {
            assert_eq!(feed.number(wrong), None, "{wrong}");
        }
        assert_eq!(feed.number(&id), Some(1));
        assert!(feed.since(u64::MAX, 10, |_| true).entries.is_empty());
    }

    #[test]
    fn a_viewer_gets_its_rows_after_a_number() {
        let feed = Feed::new(0);
        for n in 0..10 {
            add(&feed, if n % 2 == 0 { "a" } else { "b" }, "");
        }
        let found = feed.since(4, 100, |tenant| tenant == "a");
        let rows: Vec<&str> = found.entries.iter().map(|entry| entry.row.as_str()).collect();
        assert_eq!(rows, [feed.id(5), feed.id(7), feed.id(9)]);
        assert_eq!((found.last, found.lost), (10, 0));
        let some = feed.since(0, 2, |_| true);
        assert_eq!((some.entries.len(), some.last), (2, 2));
    }

    #[test]
    fn a_loud_tenant_evicts_its_own_entries() {
        let feed = Feed::new(0);
        let quiet = add(&feed, "quiet", "x");
        for _ in 0..KEPT + 100 {
            add(&feed, "loud", "x");
        }
        assert_eq!(feed.size().0, KEPT);
        assert!(feed.find(&quiet).is_some() && feed.dropped());
        let large = "x".repeat(BYTES / 4);
        (0..10).for_each(|_| drop(add(&feed, "large", &large)));
        assert!(feed.size().1 <= BYTES && feed.find(&quiet).is_some());
        // A late reader learns that rows were dropped.
        assert_eq!(feed.since(0, 1, |_| true).lost, 0);
        (0..KEPT + 100).for_each(|_| drop(add(&feed, "quiet", "x")));
        assert!(feed.since(1, 1, |_| true).lost > 0);
    }
}
