//! Who is judged next: a bounded number of events at once, and tenants in turn.
//!
//! A tenant has no more of the places than it is allowed, and no more than are left free while it takes another (dynamic
//! thresholds, Choudhury and Hahne 1998): one tenant alone gets half of them, and there is always one for who comes new.
//! Who waits, waits in a line of its tenant; the lines take turns.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

/// A tenant's bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Events that are judged at once.
    pub concurrency: usize,
    /// Events that wait.
    pub queue: usize,
}

/// As many places as there are, for all tenants.
#[derive(Debug, Clone)]
pub struct Gate {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    free: usize,
    lanes: HashMap<String, Lane>,
    /// Tenants that wait, in the order of their turns.
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

/// A place; dropping it lets the next one in.
#[derive(Debug)]
pub struct Place {
    /// `None` once it is given back.
    gate: Option<Gate>,
    tenant: String,
}

/// The tenant's line is full.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

impl Gate {
    /// With so many places.
    pub fn new(places: usize) -> Self {
        let state = State { free: places.max(1), lanes: HashMap::new(), turns: VecDeque::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Waits for a place. Whoever stops waiting leaves the line.
    ///
    /// # Errors
    /// [`Full`], at once.
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
        // A sender is only ever dropped with the gate itself, which this holds.
        waiting.await.map_err(|_| Full)
    }

    /// How many events of each tenant wait, and how many are judged; of those that have any.
    pub fn load(&self) -> HashMap<String, (usize, usize)> {
        let state = self.lock();
        // Who stopped waiting leaves the line when it moves.
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
        // Once around: who cannot start now keeps the turn.
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
                // It stopped waiting. Its place was never taken, and goes without a word.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::{Bounds, Full, Gate, Place};

    const WIDE: Bounds = Bounds { concurrency: 100, queue: 100 };

    /// What it comes to without waiting.
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
        // Who comes new gets in at once, time and again.
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
        // The first in line was there before; then the other tenant, not the rest of the burst.
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
            // Dropped while it waits: the line is free again.
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
        // It has the place, and never looks.
        drop(gone);
        assert!(now(stays).unwrap().is_ok());
    }
}
