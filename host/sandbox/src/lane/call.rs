//! Scheduling of one call in its [`Lane`].

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::ready,
    time::Duration,
};

use super::{GRANT, LONG, Lane, TICK, clock::processor_time};

/// Decides when a call yields to others.
pub(crate) struct Pace {
    lane: Arc<Lane>,
    tenant: Arc<str>,
    /// Microseconds of processor time after the first slice (most calls end within that slice), and the value at which
    /// the call next needs a turn.
    ran: AtomicU64,
    next: AtomicU64,
}

impl Pace {
    pub(super) fn new(lane: Arc<Lane>, tenant: Arc<str>) -> Self {
        Self { lane, tenant, ran: AtomicU64::new(0), next: AtomicU64::new(micros(TICK)) }
    }

    /// Returns true if the call may continue after a tick without a turn: it has run for less than a tick since its
    /// last turn, or it is held.
    pub(crate) fn needs_no_turn(&self) -> bool {
        self.ran.load(Ordering::Relaxed) < self.next.load(Ordering::Relaxed) || self.is_held()
    }

    /// Yields to other tasks and waits for a turn.
    pub(crate) async fn turn(&self) {
        tokio::task::yield_now().await;
        let ran = self.ran.load(Ordering::Relaxed);
        self.next.store(ran + micros(TICK), Ordering::Relaxed);
        self.lane.turn(Duration::from_micros(ran)).await;
    }

    /// Polls the call, measures each slice, and makes it wait for grants while it is held.
    pub(crate) async fn keep<T>(&self, mut call: Pin<&mut impl Future<Output = T>>) -> T {
        // A new call does not wait, unless an earlier grant took too long.
        let mut waits = (self.is_held() && self.lane.rests()).then(|| self.lane.grant());
        let (mut is_first, mut of_grant) = (true, Duration::ZERO);
        poll_fn(|cx| {
            loop {
                if let Some(grant) = &mut waits {
                    // The sender is dropped only after it was used.
                    let _ = ready!(Pin::new(grant).poll(cx));
                    (waits, of_grant) = (None, Duration::ZERO);
                }
                let began = (!is_first).then(processor_time);
                let polled = call.as_mut().poll(cx);
                if polled.is_ready() && is_first {
                    return polled;
                }
                is_first = false;
                let slice = began.map_or(Duration::ZERO, |began| processor_time().saturating_sub(began));
                of_grant += slice;
                self.has_run(slice);
                let held = self.is_held();
                if held {
                    self.lane.used(slice);
                }
                if polled.is_ready() || !held || of_grant < GRANT {
                    return polled;
                }
                waits = Some(self.lane.grant());
            }
        })
        .await
    }

    fn is_held(&self) -> bool {
        self.lane.holds(&self.tenant)
    }

    fn has_run(&self, slice: Duration) {
        let slice = micros(slice);
        if self.ran.fetch_add(slice, Ordering::Relaxed) + slice >= micros(LONG) {
            self.lane.make_heavy(&self.tenant);
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
