//! Admission control: a bounded number of concurrent events and of running components, with round-robin between tenants.
//!
//! A tenant may hold no more permits than its own limit and than remain free (dynamic thresholds, Choudhury and Hahne
//! 1998). A single tenant gets half of the permits, and a new tenant always finds one. Waiting events are queued per
//! tenant, and the queues are served round-robin.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hookbox::{
    async_trait,
    sandbox::scheduler::{Permit, Scheduler},
};
use tokio::sync::oneshot;

/// A tenant's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum number of concurrent events.
    pub concurrency: usize,
    /// The maximum number of waiting events.
    pub queue: usize,
}

/// The permits of all tenants.
#[derive(Debug, Clone)]
pub struct Gate {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    free: usize,
    lanes: HashMap<String, Lane>,
    /// Tenants with waiting events, in round-robin order.
    turns: VecDeque<String>,
}

#[derive(Debug)]
struct Lane {
    bounds: Bounds,
    running: usize,
    waiting: VecDeque<oneshot::Sender<Place>>,
}

impl Lane {
    fn may_start(&self, free: usize) -> bool {
        free > 0 && self.running < self.bounds.concurrency && (self.running == 0 || self.running < free)
    }
}

/// A permit. Dropping it admits the next event.
#[derive(Debug)]
pub struct Place {
    /// `None` after the permit is returned.
    gate: Option<Gate>,
    tenant: String,
}

/// The tenant's queue is full.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

impl Gate {
    /// Creates a gate with this many permits.
    pub fn new(places: usize) -> Self {
        let state = State { free: places.max(1), lanes: HashMap::new(), turns: VecDeque::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Waits for a permit. Dropping the future leaves the queue.
    ///
    /// # Errors
    /// [`Full`], immediately.
    pub async fn enter(&self, tenant: &str, bounds: Bounds) -> Result<Place, Full> {
        let waiting = {
            let mut state = self.lock();
            let free = state.free;
            let new = || Lane { bounds, running: 0, waiting: VecDeque::new() };
            let lane = state.lanes.entry(tenant.to_owned()).or_insert_with(new);
            lane.bounds = bounds;
            lane.waiting.retain(|waiting| !waiting.is_closed());
            if lane.waiting.is_empty() && lane.may_start(free) {
                lane.running += 1;
                state.free -= 1;
                return Ok(self.place(tenant));
            }
            if lane.waiting.len() >= bounds.queue {
                return Err(Full);
            }
            let (sender, receiver) = oneshot::channel();
            lane.waiting.push_back(sender);
            if !state.turns.iter().any(|name| name == tenant) {
                state.turns.push_back(tenant.to_owned());
            }
            receiver
        };
        // The sender is only dropped with the gate itself, which this task holds.
        waiting.await.map_err(|_| Full)
    }

    /// The numbers of waiting and of running events, for each tenant that has any.
    pub fn load(&self) -> HashMap<String, (usize, usize)> {
        let state = self.lock();
        // Abandoned entries stay in the queue until it moves.
        let still = |lane: &Lane| lane.waiting.iter().filter(|sender| !sender.is_closed()).count();
        state.lanes.iter().map(|(name, lane)| (name.clone(), (still(lane), lane.running))).collect()
    }

    fn place(&self, tenant: &str) -> Place {
        Place { gate: Some(self.clone()), tenant: tenant.to_owned() }
    }

    fn leave(&self, tenant: &str) {
        let mut left = Vec::new();
        let mut state = self.lock();
        state.free += 1;
        if let Some(lane) = state.lanes.get_mut(tenant) {
            lane.running -= 1;
        }
        // One round: a tenant that cannot start an event now keeps its place in the order.
        let mut unlucky = VecDeque::new();
        while state.free > 0
            && let Some(name) = state.turns.pop_front()
        {
            let free = state.free;
            let Some(lane) = state.lanes.get_mut(&name) else { continue };
            if !lane.may_start(free) {
                unlucky.push_back(name);
                continue;
            }
            let Some(next) = lane.waiting.pop_front() else { continue };
            if let Err(mut nobody) = next.send(self.place(&name)) {
                // The waiter is gone. Its permit was never counted, so it must not be returned.
                nobody.gate = None;
                left.push(nobody);
                state.turns.push_front(name);
                continue;
            }
            lane.running += 1;
            state.free -= 1;
            state.turns.push_back(name);
        }
        unlucky.append(&mut state.turns);
        state.turns = unlucky;
        state.lanes.retain(|_, lane| lane.running > 0 || !lane.waiting.is_empty());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.leave(&self.tenant);
        }
    }
}

/// As the scheduler of the runtime, it gives the permits for running components. Calls wait until their deadlines.
#[async_trait]
impl Scheduler for Gate {
    async fn permit(&self, tenant: &Arc<str>) -> Permit {
        Box::new(self.enter(tenant, Bounds { concurrency: usize::MAX, queue: usize::MAX }).await)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::{Bounds, Full, Gate, Place, Scheduler};

    const WIDE: Bounds = Bounds { concurrency: 100, queue: 100 };

    /// The result of a future that is ready.
    fn now<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    fn load(gate: &Gate) -> (usize, usize) {
        gate.load().values().fold((0, 0), |(waiting, running), load| (waiting + load.0, running + load.1))
    }

    fn try_enter(gate: &Gate, tenant: &str, bounds: Bounds) -> Option<Result<Place, Full>> {
        now(pin!(gate.enter(tenant, bounds)))
    }

    #[test]
    fn one_tenant_alone_leaves_room_for_others() {
        let gate = Gate::new(8);
        let mut held = Vec::new();
        while let Some(place) = try_enter(&gate, "greedy", WIDE) {
            held.push(place.unwrap());
        }
        assert_eq!(held.len(), 4);
        // A new tenant always gets a permit immediately.
        for name in ["a", "b", "c"] {
            held.push(try_enter(&gate, name, WIDE).unwrap().unwrap());
        }
        assert_eq!(load(&gate), (0, 7));
        drop(held);
        assert_eq!(load(&gate), (0, 0));
    }

    #[test]
    fn a_tenant_has_no_more_than_its_own_bounds() {
        let gate = Gate::new(100);
        let bounds = Bounds { concurrency: 2, queue: 1 };
        let first = try_enter(&gate, "a", bounds).unwrap().unwrap();
        let _second = try_enter(&gate, "a", bounds).unwrap().unwrap();
        let mut third = pin!(gate.enter("a", bounds));
        assert!(now(third.as_mut()).is_none());
        assert_eq!(try_enter(&gate, "a", bounds).unwrap().unwrap_err(), Full);
        drop(first);
        assert!(now(third).unwrap().is_ok());
    }

    #[test]
    fn lines_take_turns() {
        let gate = Gate::new(1);
        let held = try_enter(&gate, "a", WIDE).unwrap().unwrap();
        let mut burst: Vec<_> = (0..10).map(|_| Box::pin(gate.enter("a", WIDE))).collect();
        assert!(burst.iter_mut().all(|waiting| now(waiting.as_mut()).is_none()));
        let mut other = pin!(gate.enter("b", WIDE));
        assert!(now(other.as_mut()).is_none());
        // The first waiter was queued before. The next permit goes to the other tenant, not to the rest of the burst.
        drop(held);
        let first = now(burst.remove(0).as_mut()).unwrap().unwrap();
        assert!(now(other.as_mut()).is_none());
        drop(first);
        assert!(now(other).unwrap().is_ok());
    }

    #[test]
    fn who_stops_waiting_leaves_the_line() {
        let gate = Gate::new(1);
        let held = try_enter(&gate, "a", WIDE).unwrap().unwrap();
        let bounds = Bounds { concurrency: 1, queue: 1 };
        for _ in 0..3 {
            // Dropped while waiting, so its place in the queue is free again.
            assert!(try_enter(&gate, "b", bounds).is_none());
        }
        let mut last = pin!(gate.enter("b", bounds));
        assert!(now(last.as_mut()).is_none());
        drop(held);
        let place = now(last).unwrap().unwrap();
        assert_eq!(load(&gate), (0, 1));
        drop(place);
        assert_eq!(load(&gate), (0, 0));
        assert!(gate.lock().turns.is_empty() && gate.lock().lanes.is_empty());
        assert_eq!(gate.lock().free, 1);
    }

    #[test]
    fn a_place_that_nobody_took_is_given_on() {
        let gate = Gate::new(1);
        let held = try_enter(&gate, "a", WIDE).unwrap().unwrap();
        let mut gone = Box::pin(gate.enter("b", WIDE));
        assert!(now(gone.as_mut()).is_none());
        let mut stays = pin!(gate.enter("c", WIDE));
        assert!(now(stays.as_mut()).is_none());
        drop(held);
        // It got the permit, but its future is never polled again.
        drop(gone);
        assert!(now(stays).unwrap().is_ok());
    }

    #[test]
    fn running_components_of_one_tenant_leave_room_for_others() {
        let gate = Gate::new(4);
        let permit = |tenant: &str| now(pin!(gate.permit(&tenant.into())));
        let held = [permit("greedy"), permit("greedy")];
        assert!(held.iter().all(Option::is_some) && permit("greedy").is_none());
        let other = permit("other").unwrap();
        drop(held);
        drop(other);
        assert_eq!(load(&gate), (0, 0));
    }
}
