//! The budget, and the parts of it that are in use.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    body::{Body, Bytes},
    http::Response,
};
use http_body_util::BodyExt;
use tokio::sync::Notify;

/// The memory budget for all bodies.
#[derive(Debug, Clone)]
pub struct Bodies(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Notified when memory is returned.
    freed: Notify,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// The bytes in use by tenant.
    held: HashMap<Arc<str>, usize>,
}

/// A part of the budget. Returned on drop.
#[derive(Debug)]
pub struct BodyPermit {
    shared: Arc<Shared>,
    tenant: Arc<str>,
    bytes: usize,
}

impl Bodies {
    /// Creates a budget of this many bytes.
    pub fn new(bytes: usize) -> Self {
        let state = Mutex::new(State { free: bytes, held: HashMap::new() });
        Self(Arc::new(Shared { state, freed: Notify::new() }))
    }

    /// The bytes in use.
    pub fn taken(&self) -> usize {
        self.0.lock().held.values().fold(0, |sum, held| sum.saturating_add(*held))
    }

    /// Memory of a tenant, without any bytes so far.
    pub fn of(&self, tenant: &str) -> BodyPermit {
        BodyPermit { shared: Arc::clone(&self.0), tenant: tenant.into(), bytes: 0 }
    }
}

impl BodyPermit {
    /// Grows to this many bytes, if the budget allows it.
    pub(super) fn take(&mut self, bytes: usize, of_tenant: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let mut state = self.shared.lock();
        let own = state.held.get(&self.tenant).copied().unwrap_or_default();
        let (others, wanted) = (own.saturating_sub(self.bytes), own.saturating_add(more));
        let left = state.free.checked_sub(more);
        // A tenant's only body may use everything that is free. Otherwise a budget smaller than a body would reject it
        // forever.
        let fits = left.is_some_and(|left| others == 0 || (wanted <= of_tenant && wanted <= left));
        if fits {
            state.free = left.unwrap_or_default();
            state.held.insert(Arc::clone(&self.tenant), wanted);
            self.bytes = self.bytes.saturating_add(more);
        }
        fits
    }

    /// Grows by the bytes of an answer, in the same way as for a body. Returns false if the budget does not allow it. An answer
    /// does not wait, because waiting answers would take memory that is not counted.
    pub fn grow(&mut self, bytes: usize, of_tenant: usize) -> bool {
        self.take(self.bytes.saturating_add(bytes), of_tenant)
    }

    /// Returns all but this many bytes to the budget.
    pub fn shrink_to(&mut self, bytes: usize) {
        self.give_back(self.bytes.saturating_sub(bytes));
    }

    /// Keeps the memory until the answer is sent, or its connection ends.
    pub fn until_sent(self, answer: Response<Body>) -> Response<Body> {
        let held = Arc::new(self);
        let counted = move |bytes| Bytes::from_owner(Counted { bytes, _held: Arc::clone(&held) });
        answer.map(|body| Body::new(body.map_frame(move |frame| frame.map_data(&counted))))
    }

    fn give_back(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.bytes = self.bytes.saturating_sub(bytes);
        let mut state = self.shared.lock();
        state.free = state.free.saturating_add(bytes);
        let left = state.held.get(&self.tenant).copied().unwrap_or_default().saturating_sub(bytes);
        if left == 0 {
            state.held.remove(&self.tenant);
        } else {
            state.held.insert(Arc::clone(&self.tenant), left);
        }
        drop(state);
        self.shared.freed.notify_waiters();
    }

    /// Waits until the budget allows it.
    pub(super) async fn wait(&mut self, bytes: usize, of_tenant: usize) {
        let shared = Arc::clone(&self.shared);
        loop {
            let mut freed = std::pin::pin!(shared.freed.notified());
            freed.as_mut().enable();
            if self.take(bytes, of_tenant) {
                return;
            }
            freed.await;
        }
    }
}

impl Drop for BodyPermit {
    fn drop(&mut self) {
        self.give_back(self.bytes);
    }
}

/// Bytes of an answer with their part of the budget.
struct Counted {
    bytes: Bytes,
    _held: Arc<BodyPermit>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {

    use axum::{body::Body, http::Response};
    use http_body_util::BodyExt;

    use super::{Bodies, BodyPermit};

    fn held(bodies: &Bodies, tenant: &str) -> BodyPermit {
        bodies.of(tenant)
    }

    #[tokio::test]
    async fn a_response_counts_until_it_is_sent() {
        let bodies = Bodies::new(100);
        let mut held = bodies.of("a");
        assert!(held.take(60, 1000) && held.grow(40, 1000) && bodies.taken() == 100);
        assert!(!held.grow(1, 1000));
        held.shrink_to(40);
        assert_eq!(bodies.taken(), 40);
        let mut answer = held.until_sent(Response::new(Body::from("answer")));
        let frame = answer.body_mut().frame().await.and_then(Result::ok).and_then(|frame| frame.into_data().ok());
        drop(answer);
        assert_eq!((frame.as_deref(), bodies.taken()), (Some(&b"answer"[..]), 40));
        drop(frame);
        assert_eq!(bodies.taken(), 0);
    }

    #[test]
    fn a_tenant_has_a_limit_and_leaves_memory_to_others() {
        let bodies = Bodies::new(100);
        let [mut first, mut second, mut third, mut other] = ["a", "a", "a", "b"].map(|name| held(&bodies, name));
        assert!(first.take(20, 40) && second.take(20, 40) && !third.take(1, 40));
        // A tenant gets no more than remains free.
        assert!(!third.take(20, 1000) && third.take(10, 1000));
        assert!(other.take(50, 10), "one at a time, however large");
        assert_eq!(bodies.taken(), 100);
        drop((first, second, third, other));
        assert_eq!(bodies.taken(), 0);
        assert!(bodies.0.lock().held.is_empty() && bodies.0.lock().free == 100);
    }

    #[test]
    fn a_body_grows_within_the_bounds() {
        let bodies = Bodies::new(100);
        let [mut body, mut other] = ["a", "a"].map(|name| held(&bodies, name));
        assert!(body.take(20, 40) && body.take(80, 40) && !body.take(101, 40), "alone it may have all");
        assert!(!other.take(1, 40));
        drop(body);
        assert!(other.take(1, 40));
    }
}
