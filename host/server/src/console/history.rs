//! The history of decisions: for all tenants together and for each of them, over 15 minutes, 24 hours and 7 days.
//!
//! While the daemon runs, the total gets a point in every step, a tenant only in steps with events. So a step without a
//! point of the total is a gap in which the daemon did not run.

mod file;
mod point;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use self::{
    file::{File, Saved},
    point::Point,
};
use super::outcome::ResponseFacts;

/// The maximum number of tenants with a separate history. Events of further tenants only count for the total.
const TENANTS: usize = 1000;

/// A period of time with its resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its name.
    pub name: &'static str,
    /// The duration of one point, in ms.
    pub step: i64,
    /// The number of points.
    pub length: i64,
}

/// The windows, finest first.
pub const WINDOWS: [Window; 3] = [
    Window { name: "15m", step: 5_000, length: 180 },
    Window { name: "24h", step: 300_000, length: 288 },
    Window { name: "7d", step: 3_600_000, length: 168 },
];

impl Window {
    /// The window with this name. Default: the finest.
    pub fn by_name(name: &str) -> Self {
        let [finest, ..] = WINDOWS;
        WINDOWS.into_iter().find(|window| window.name == name).unwrap_or(finest)
    }
}

/// The points of one tenant or of all, by the number of their step since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    rings: [VecDeque<(i64, Point)>; 3],
    /// The number of problems by name, and the time of the latest.
    #[serde(skip)]
    problems: BTreeMap<&'static str, (u64, i64)>,
}

impl Series {
    fn at(&mut self, now: i64, change: impl Fn(&mut Point)) {
        for (ring, window) in self.rings.iter_mut().zip(WINDOWS) {
            let slot = now.div_euclid(window.step);
            // If the clock goes back, the last point is used.
            if ring.back().is_none_or(|(last, _)| *last < slot) {
                ring.push_back((slot, Point::default()));
            }
            while ring.front().is_some_and(|(first, _)| *first <= slot - window.length) {
                ring.pop_front();
            }
            ring.back_mut().into_iter().for_each(|(_, point)| change(point));
        }
    }

    fn ring(&self, window: Window) -> impl DoubleEndedIterator<Item = &(i64, Point)> {
        WINDOWS.iter().zip(&self.rings).filter(move |(other, _)| **other == window).flat_map(|(_, ring)| ring)
    }

    fn sum(&self, window: Window, from: i64) -> Point {
        let mut sum = Point::default();
        self.ring(window).rev().take_while(|(slot, _)| *slot >= from).for_each(|(_, point)| sum.merge(point));
        sum
    }
}

/// The history of a daemon.
#[derive(Debug, Default)]
pub struct History {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    total: Series,
    tenants: HashMap<String, Series>,
    /// The start times of daemons, as Unix time in ms.
    starts: VecDeque<i64>,
}

/// The maximum number of remembered starts.
const STARTS: usize = 50;

impl History {
    /// Continues a saved history, and adds a start at this time.
    pub fn from(saved: Saved, now: i64) -> Self {
        let Saved { total, tenants, starts, .. } = saved;
        let mut starts: VecDeque<i64> = starts.into_iter().filter(|start| *start <= now).collect();
        starts.push_back(now);
        while starts.len() > STARTS {
            starts.pop_front();
        }
        let tenants = tenants.into_iter().take(TENANTS).collect();
        Self { state: Mutex::new(State { total, tenants, starts }) }
    }

    /// The part to save.
    pub fn to_save(&self) -> Saved {
        let state = self.lock();
        let (total, starts) = (state.total.clone(), state.starts.iter().copied().collect());
        Saved { total, starts, tenants: state.tenants.clone().into_iter().collect(), ..Saved::default() }
    }

    /// Counts an event of a tenant.
    pub fn count(&self, tenant: &str, counted: &ResponseFacts, now: i64) {
        self.change(tenant, now, |point| point.count(counted), counted.problem);
    }

    /// Records the number of waiting events, for each tenant that has any.
    pub fn waiting<'a>(&self, tenants: impl Iterator<Item = (&'a str, usize)>, now: i64) {
        let mut all = 0_u32;
        for (tenant, waiting) in tenants.filter(|(_, waiting)| *waiting > 0) {
            let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
            all = all.saturating_add(waiting);
            let mut state = self.lock();
            if let Some(series) = own(&mut state.tenants, tenant) {
                series.at(now, |point| point.queue = point.queue.max(waiting));
            }
        }
        self.lock().total.at(now, |point| point.queue = point.queue.max(all));
    }

    fn change(&self, tenant: &str, now: i64, change: impl Fn(&mut Point), problem: Option<&'static str>) {
        let mut state = self.lock();
        let State { total, tenants, .. } = &mut *state;
        for series in std::iter::once(total).chain(own(tenants, tenant)) {
            series.at(now, &change);
            if let Some(problem) = problem {
                let (count, last) = series.problems.entry(problem).or_default();
                (*count, *last) = (*count + 1, now);
            }
        }
    }

    /// Removes the tenants for which `keep` returns false.
    pub fn retain(&self, keep: impl Fn(&str) -> bool) {
        self.lock().tenants.retain(|name, _| keep(name));
    }

    /// The points of a window until now as columns, for one tenant or all. `null` for steps in which the daemon did not
    /// run.
    pub fn columns(&self, tenant: Option<&str>, window: Window, now: i64) -> Value {
        let mut state = self.lock();
        // The daemon is running now, even if there is no sample yet.
        state.total.at(now, |_| {});
        let last = now.div_euclid(window.step);
        let first = last - window.length + 1;
        let there: HashMap<i64, &Point> =
            state.total.ring(window).map(|(slot, point)| (*slot, point)).filter(|(slot, _)| *slot >= first).collect();
        let own: HashMap<i64, &Point> = match tenant {
            None => there.clone(),
            Some(tenant) => {
                let series = state.tenants.get(tenant);
                series.into_iter().flat_map(|series| series.ring(window)).map(|(slot, point)| (*slot, point)).collect()
            }
        };
        let empty = Point::default();
        let point = |slot: i64| there.contains_key(&slot).then(|| *own.get(&slot).unwrap_or(&&empty));
        let column = |of: &dyn Fn(&Point) -> Value| -> Value {
            (first..=last).map(|slot| point(slot).map_or(Value::Null, of)).collect()
        };
        json!({
            "step": window.step, "from": first * window.step,
            "decisions": column(&|point| point.decisions.into()), "denied": column(&|point| point.denied.into()),
            "asked": column(&|point| point.asked.into()), "failed": column(&|point| point.failed.into()),
            "would": column(&|point| point.would.into()), "refused": column(&|point| point.refused.into()),
            "queue": column(&|point| point.queue.into()),
            "p50": column(&|point| json!(point.times.quantile(0.5))),
            "p99": column(&|point| json!(point.times.quantile(0.99))),
        })
    }

    /// The sum of a window's points until now, for one tenant or all (`None`).
    pub fn sum(&self, tenant: Option<&str>, window: Window, now: i64) -> Point {
        self.since(tenant, window, now - window.step * window.length)
    }

    /// The sum of the points after a time.
    pub fn since(&self, tenant: Option<&str>, window: Window, then: i64) -> Point {
        let state = self.lock();
        let series = tenant.map_or(Some(&state.total), |tenant| state.tenants.get(tenant));
        series.map(|series| series.sum(window, then.div_euclid(window.step) + 1)).unwrap_or_default()
    }

    /// The number of decisions of a tenant over a window, divided into `parts`.
    pub fn shape(&self, tenant: &str, window: Window, parts: i64, now: i64) -> Vec<u32> {
        let state = self.lock();
        let per_part = (window.length / parts.max(1)).max(1);
        let last = now.div_euclid(window.step);
        let mut shape = vec![0_u32; usize::try_from(parts).unwrap_or_default()];
        for (slot, point) in state.tenants.get(tenant).into_iter().flat_map(|series| series.ring(window)) {
            let part = parts - 1 - (last - slot) / per_part;
            if let Some(sum) = usize::try_from(part).ok().and_then(|part| shape.get_mut(part)) {
                *sum = sum.saturating_add(point.decisions);
            }
        }
        shape
    }

    /// The problems of one tenant or of all since the start, by name: their number, and the time of the latest.
    pub fn problems(&self, tenant: Option<&str>) -> BTreeMap<&'static str, (u64, i64)> {
        let state = self.lock();
        let series = tenant.map_or(Some(&state.total), |tenant| state.tenants.get(tenant));
        series.map(|series| series.problems.clone()).unwrap_or_default()
    }

    /// The starts of daemons after a time. The last is this daemon's.
    pub fn starts(&self, since: i64) -> Vec<i64> {
        self.lock().starts.iter().copied().filter(|start| *start >= since).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The series of a tenant. Creates it if the limit allows.
fn own<'a>(tenants: &'a mut HashMap<String, Series>, name: &str) -> Option<&'a mut Series> {
    if !tenants.contains_key(name) && (name.is_empty() || tenants.len() >= TENANTS) {
        return None;
    }
    Some(tenants.entry(name.to_owned()).or_default())
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
