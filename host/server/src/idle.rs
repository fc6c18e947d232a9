//! Selects connections to close when there is no room for a new one: first those with a rejected request, then other
//! unauthenticated ones, then idle authenticated ones, then those whose request body is incomplete. Connections with an
//! event that is being decided stay open.
//!
//! Among unauthenticated connections, the address with the most loses one; among incomplete bodies, the tenant with the
//! most. So no address or tenant with many connections locks out the others. An authenticated connection is never
//! closed because of its address, which the clients of a proxy share.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

/// The minimum number of unauthenticated connections that each address may have.
const PER_ADDRESS: usize = 16;

/// The time that a new connection has to send a token before it may be closed. Otherwise a burst of new connections
/// would close each other before any is served.
pub const GRACE: Duration = Duration::from_millis(250);

/// The origin of a connection, which identifies its owner as far as possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// An IP address. For IPv6 the /64 network, in which one machine can use any number of addresses.
    Address(IpAddr),
    /// A Unix socket.
    Local,
}

impl Source {
    /// The source of a TCP connection.
    pub fn of(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// The connections that may be closed to make room.
#[derive(Debug)]
pub struct Idle {
    queue: Mutex<Queue>,
    /// The maximum number of unauthenticated connections per address, not counting new ones.
    per_address: usize,
    grace: Duration,
}

/// The result of [`Idle::ask_one_to_leave`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseResult {
    /// One connection will close.
    One,
    /// Some may be closed later, when their grace period is over.
    Later,
    /// None may be closed.
    None,
}

#[derive(Debug, Default)]
struct Queue {
    /// The last assigned number. Within a group, the lowest number is the oldest connection.
    last: u64,
    refused: ByOwner<Source>,
    strangers: ByOwner<Source>,
    resting: BTreeMap<u64, Arc<Signals>>,
    reading: ByOwner<Arc<str>>,
}

/// Connections of one group by owner.
#[derive(Debug)]
struct ByOwner<K>(HashMap<K, BTreeMap<u64, Arc<Signals>>>);

impl<K> Default for ByOwner<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Clone + Eq + Hash> ByOwner<K> {
    fn add(&mut self, owner: &K, number: u64, signals: Arc<Signals>) {
        self.0.entry(owner.clone()).or_default().insert(number, signals);
    }

    fn remove(&mut self, owner: &K, number: u64) {
        if let Some(own) = self.0.get_mut(owner) {
            own.remove(&number);
            if own.is_empty() {
                self.0.remove(owner);
            }
        }
    }

    fn count_of(&self, owner: &K) -> usize {
        self.0.get(owner).map_or(0, BTreeMap::len)
    }

    /// Removes the oldest connection of an owner.
    fn pop_of(&mut self, owner: &K) -> Option<Arc<Signals>> {
        let own = self.0.get_mut(owner)?;
        let (number, signals) = own.pop_first()?;
        self.remove(owner, number);
        Some(signals)
    }

    /// Removes the oldest connection of the owner with the most. Skips owners whose oldest connection is in its grace
    /// period.
    fn pop(&mut self, grace: Duration) -> Option<Arc<Signals>> {
        let ripe =
            self.0.iter().filter(|(_, own)| own.first_key_value().is_some_and(|(_, first)| first.is_older(grace)));
        let owner = ripe.max_by_key(|(_, own)| own.len())?.0.clone();
        self.pop_of(&owner)
    }
}

/// The signals that tell a connection to make room.
#[derive(Debug)]
struct Signals {
    /// The start of the connection.
    since: Instant,
    /// For the task that serves the connection.
    leave: Notify,
    /// For the request that reads a body.
    hurry: Notify,
}

impl Signals {
    fn is_older(&self, grace: Duration) -> bool {
        self.since.elapsed() >= grace
    }
}

impl Idle {
    /// For a daemon with this many connections and this grace period.
    pub fn new(connections: usize, grace: Duration) -> Self {
        Self { queue: Mutex::default(), per_address: PER_ADDRESS.max(connections / 4), grace }
    }

    /// Asks the first candidate to leave.
    pub fn ask_one_to_leave(&self) -> CloseResult {
        let mut queue = self.lock();
        let resting = |queue: &mut Queue| queue.resting.pop_first().map(|(_, signals)| signals);
        let first = queue.refused.pop(Duration::ZERO).or_else(|| queue.strangers.pop(self.grace));
        if first.is_none() && !queue.strangers.0.is_empty() {
            return CloseResult::Later;
        }
        let Some(signals) = first.or_else(|| resting(&mut queue)).or_else(|| queue.reading.pop(Duration::ZERO)) else {
            return CloseResult::None;
        };
        signals.leave.notify_one();
        signals.hurry.notify_one();
        CloseResult::One
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
    all: Arc<Idle>,
    source: Source,
    signals: Arc<Signals>,
    /// Its group, and its number there.
    place: Mutex<(Group, u64)>,
}

impl TrackedConnection {
    /// Adds a new connection. If its address has too many unauthenticated ones, asks the oldest of them to leave.
    pub fn new(all: &Arc<Idle>, source: Source) -> Self {
        let signals = Arc::new(Signals { since: Instant::now(), leave: Notify::new(), hurry: Notify::new() });
        let mut queue = all.lock();
        queue.last += 1;
        let number = queue.last;
        queue.strangers.add(&source, number, Arc::clone(&signals));
        let crowded = queue.strangers.count_of(&source) + queue.refused.count_of(&source) > all.per_address;
        let oldest = || {
            let ripe = queue.strangers.0.get(&source)?.first_key_value()?.1.is_older(all.grace);
            queue.refused.pop_of(&source).or_else(|| ripe.then(|| queue.strangers.pop_of(&source)).flatten())
        };
        if let Some(oldest) = crowded.then(oldest).flatten() {
            metrics::counter!("hookbox_connections_made_room_total").increment(1);
            oldest.leave.notify_one();
        }
        drop(queue);
        Self { all: Arc::clone(all), source, signals, place: Mutex::new((Group::Stranger, number)) }
    }

    /// Marks the connection as authenticated by this tenant's token. The request is pending until the returned value is
    /// dropped.
    pub fn admit(self: &Arc<Self>, tenant: &str) -> Admitted {
        self.go_to(Group::Reading(tenant.into()));
        Admitted(Arc::clone(self))
    }

    /// Marks the connection as authenticated by another known token, without a pending request.
    pub fn know(&self) {
        self.go_to(Group::Resting);
    }

    /// Marks the connection as idle after a response that needs no further work.
    pub fn done(&self) {
        self.go_to(if self.is_strange() { Group::Refused } else { Group::Resting });
    }

    /// Returns true if the connection is not authenticated.
    pub fn is_strange(&self) -> bool {
        matches!(self.place().0, Group::Stranger | Group::Refused)
    }

    /// Returns true if the connection has no pending admitted request.
    pub fn is_idle(&self) -> bool {
        matches!(self.place().0, Group::Stranger | Group::Refused | Group::Resting)
    }

    /// Waits until the connection has to make room.
    pub async fn asked_to_leave(&self) {
        self.signals.leave.notified().await;
    }

    fn place(&self) -> MutexGuard<'_, (Group, u64)> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn go_to(&self, place: Group) {
        let mut queue = self.all.lock();
        let mut own = self.place();
        self.take_out(&mut queue, &own);
        queue.last += 1;
        let (number, signals) = (queue.last, Arc::clone(&self.signals));
        match &place {
            Group::Stranger => queue.strangers.add(&self.source, number, signals),
            Group::Refused => queue.refused.add(&self.source, number, signals),
            Group::Resting => drop(queue.resting.insert(number, signals)),
            Group::Reading(tenant) => queue.reading.add(tenant, number, signals),
            Group::Busy => {}
        }
        *own = (place, number);
    }

    fn take_out(&self, queue: &mut Queue, (place, number): &(Group, u64)) {
        match place {
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
        let mut queue = self.all.lock();
        self.take_out(&mut queue, &self.place());
    }
}

/// A pending request. See [`TrackedConnection::admit`].
#[derive(Debug)]
pub struct Admitted(Arc<TrackedConnection>);

impl Admitted {
    /// Marks the body as complete. From now on the connection stays open.
    pub fn is_read(&self) {
        self.0.go_to(Group::Busy);
    }

    /// Waits until the request has to be given up, because its connection has to make room.
    pub async fn hurried(&self) {
        self.0.signals.hurry.notified().await;
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.0.go_to(Group::Resting);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use std::{
        net::{IpAddr, Ipv4Addr, Ipv6Addr},
        pin::pin,
        sync::Arc,
        task::{Context, Waker},
        time::Duration,
    };

    use super::{CloseResult, Idle, PER_ADDRESS, Source, TrackedConnection};

    fn is_asked(line: &TrackedConnection) -> bool {
        pin!(line.asked_to_leave()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn asks(all: &Idle) -> bool {
        all.ask_one_to_leave() == CloseResult::One
    }

    fn line(all: &Arc<Idle>, source: u8) -> Arc<TrackedConnection> {
        Arc::new(TrackedConnection::new(all, Source::of(Ipv4Addr::new(10, 0, 0, source).into())))
    }

    #[test]
    fn connections_are_closed_in_order_of_priority() {
        let all = Arc::new(Idle::new(100, Duration::ZERO));
        let [known, other, slow, busy, stranger] = [(); 5].map(|()| line(&all, 1));
        drop(known.admit("acme"));
        drop(other.admit("acme"));
        drop(known.admit("acme"));
        let (reading, judged) = (slow.admit("acme"), busy.admit("acme"));
        judged.is_read();
        for leaves in [&stranger, &other, &known, &slow] {
            assert!(asks(&all) && is_asked(leaves), "{leaves:?}");
        }
        assert!(pin!(reading.hurried()).poll(&mut Context::from_waker(Waker::noop())).is_ready());
        assert!(!asks(&all) && !is_asked(&busy) && !busy.is_idle());
        drop(judged);
        assert!(busy.is_idle() && asks(&all) && is_asked(&busy) && !asks(&all));
        drop(line(&all, 1));
        assert!(!asks(&all));
    }

    #[test]
    fn a_refused_request_makes_no_connection_known() {
        let all = Arc::new(Idle::new(100, Duration::ZERO));
        let [silent, refused, known] = [(); 3].map(|()| line(&all, 1));
        drop(known.admit("acme"));
        refused.done();
        assert!(refused.is_strange() && asks(&all) && is_asked(&refused));
        assert!(asks(&all) && is_asked(&silent) && !is_asked(&known));
    }

    #[test]
    fn the_address_and_the_tenant_with_the_most_make_room() {
        let all = Arc::new(Idle::new(100, Duration::ZERO));
        let (early, many) = (line(&all, 1), [(); 3].map(|()| line(&all, 2)));
        assert!(asks(&all) && asks(&all));
        assert!(!is_asked(&early) && is_asked(&many[0]) && is_asked(&many[1]) && !is_asked(&many[2]));
        let all = Arc::new(Idle::new(100, Duration::ZERO));
        let lines = [(); 4].map(|()| line(&all, 1));
        let reading: Vec<_> =
            lines.iter().zip(["small", "large", "large", "large"]).map(|(line, tenant)| line.admit(tenant)).collect();
        assert!(asks(&all) && asks(&all));
        assert!(!is_asked(&lines[0]) && is_asked(&lines[1]) && is_asked(&lines[2]) && !is_asked(&lines[3]));
        drop(reading);
    }

    #[test]
    fn connections_with_a_token_do_not_count_for_the_address_limit() {
        let all = Arc::new(Idle::new(8, Duration::ZERO));
        let known: Vec<_> = (0..2 * PER_ADDRESS).map(|_| line(&all, 1)).inspect(|line| line.know()).collect();
        let strangers: Vec<_> = (0..=PER_ADDRESS).map(|_| line(&all, 1)).collect();
        let asked = |lines: &[Arc<TrackedConnection>]| lines.iter().filter(|line| is_asked(line)).count();
        assert!(asked(&known) == 0 && is_asked(&strangers[0]) && asked(&strangers) == 0);
    }

    #[test]
    fn a_new_connection_has_time_to_bring_a_token() {
        let all = Arc::new(Idle::new(8, Duration::from_hours(1)));
        assert_eq!(all.ask_one_to_leave(), CloseResult::None);
        let known = line(&all, 1);
        known.know();
        let new: Vec<_> = (0..2 * PER_ADDRESS).map(|_| line(&all, 1)).collect();
        // An authenticated connection does not have to leave either.
        assert!(
            all.ask_one_to_leave() == CloseResult::Later && !is_asked(&known) && !new.iter().any(|line| is_asked(line))
        );
        new[1].done();
        assert!(asks(&all) && is_asked(&new[1]) && !is_asked(&known));
    }

    #[test]
    fn addresses_of_one_network_count_together() {
        let of = |text: &str| Source::of(text.parse().unwrap_or(IpAddr::V6(Ipv6Addr::LOCALHOST)));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
