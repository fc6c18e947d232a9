//! Selects connections to close when there is no room for a new one: first those with a rejected request, then other
//! unauthenticated ones, then idle authenticated ones, then those whose request body is incomplete. Connections with an
//! event that is being decided stay open.
//!
//! Among unauthenticated connections, the address with the most loses one; among incomplete bodies, the tenant with the
//! most. So no address or tenant with many connections locks out the others. An authenticated connection is never
//! closed because of its address, which the clients of a proxy share.

mod candidates;
mod connection;
mod queue;
mod source;

use std::time::Duration;

pub use self::{
    candidates::{CloseResult, Idle},
    connection::{Admitted, TrackedConnection},
    source::Source,
};

/// The time that a new connection has to send a token before it may be closed. Otherwise a burst of new connections
/// would close each other before any is served.
pub const GRACE: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use std::{
        net::Ipv4Addr,
        pin::pin,
        sync::Arc,
        task::{Context, Waker},
        time::Duration,
    };

    use super::{CloseResult, Idle, Source, TrackedConnection, candidates::PER_ADDRESS};

    fn is_asked(connection: &TrackedConnection) -> bool {
        pin!(connection.asked_to_leave()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn asks(all: &Idle) -> bool {
        all.ask_one_to_leave() == CloseResult::One
    }

    fn connection(all: &Arc<Idle>, source: u8) -> Arc<TrackedConnection> {
        Arc::new(TrackedConnection::new(all, Source::of(Ipv4Addr::new(10, 0, 0, source).into())))
    }

    #[test]
    fn connections_are_closed_in_order_of_priority() {
        let all = Arc::new(Idle::new(100, Duration::ZERO));
        let [known, other, slow, busy, stranger] = [(); 5].map(|()| connection(&all, 1));
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
        drop(connection(&all, 1));
        assert!(!asks(&all));
    }

    #[test]
    fn a_refused_request_makes_no_connection_known() {
        let all = Arc::new(Idle::new(100, Duration::ZERO));
        let [silent, refused, known] = [(); 3].map(|()| connection(&all, 1));
        drop(known.admit("acme"));
        refused.done();
        assert!(refused.is_strange() && asks(&all) && is_asked(&refused));
        assert!(asks(&all) && is_asked(&silent) && !is_asked(&known));
    }

    #[test]
    fn the_address_and_the_tenant_with_the_most_make_room() {
        let all = Arc::new(Idle::new(100, Duration::ZERO));
        let (early, many) = (connection(&all, 1), [(); 3].map(|()| connection(&all, 2)));
        assert!(asks(&all) && asks(&all));
        assert!(!is_asked(&early) && is_asked(&many[0]) && is_asked(&many[1]) && !is_asked(&many[2]));
        let all = Arc::new(Idle::new(100, Duration::ZERO));
        let connections = [(); 4].map(|()| connection(&all, 1));
        let reading: Vec<_> = connections
            .iter()
            .zip(["small", "large", "large", "large"])
            .map(|(connection, tenant)| connection.admit(tenant))
            .collect();
        assert!(asks(&all) && asks(&all));
        assert!(
            !is_asked(&connections[0])
                && is_asked(&connections[1])
                && is_asked(&connections[2])
                && !is_asked(&connections[3])
        );
        drop(reading);
    }

    #[test]
    fn connections_with_a_token_do_not_count_for_the_address_limit() {
        let all = Arc::new(Idle::new(8, Duration::ZERO));
        let known: Vec<_> =
            (0..2 * PER_ADDRESS).map(|_| connection(&all, 1)).inspect(|connection| connection.know()).collect();
        let strangers: Vec<_> = (0..=PER_ADDRESS).map(|_| connection(&all, 1)).collect();
        let asked = |connections: &[Arc<TrackedConnection>]| {
            connections.iter().filter(|connection| is_asked(connection)).count()
        };
        assert!(asked(&known) == 0 && is_asked(&strangers[0]) && asked(&strangers) == 0);
    }

    #[test]
    fn a_new_connection_has_time_to_bring_a_token() {
        let all = Arc::new(Idle::new(8, Duration::from_hours(1)));
        assert_eq!(all.ask_one_to_leave(), CloseResult::None);
        let known = connection(&all, 1);
        known.know();
        let new: Vec<_> = (0..2 * PER_ADDRESS).map(|_| connection(&all, 1)).collect();
        // An authenticated connection does not have to leave either.
        assert!(
            all.ask_one_to_leave() == CloseResult::Later
                && !is_asked(&known)
                && !new.iter().any(|connection| is_asked(connection))
        );
        new[1].done();
        assert!(asks(&all) && is_asked(&new[1]) && !is_asked(&known));
    }
}
