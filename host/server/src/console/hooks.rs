//! Counters of each hook. They survive a restart of the daemon.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{outcome::Part, scale::Scale};

/// The maximum number of counted hooks per tenant.
const PER_TENANT: usize = 500;
/// The maximum number of counted hooks of all tenants.
const ALL: usize = 20_000;
/// The maximum number of hooks whose counters are saved: those that were called last.
const SAVED: usize = 2000;
/// The maximum number of examples per hook in monitor mode.
const EXAMPLES: usize = 5;
/// The time without a failure after which the next one starts a new series, in ms.
const PAUSE: i64 = 15 * 60_000;
/// The duration of a point in a hook's daily chart in ms, and the number of points.
const STEP: i64 = 15 * 60_000;
const STEPS: i64 = 96;

/// The counters of all hooks.
#[derive(Debug, Default)]
pub struct Hooks {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    tenants: HashMap<String, HashMap<Key, Counters>>,
    hooks: usize,
}

/// A hook of a tenant: the dialect of its hooks file, and its pointer there.
type Key = (&'static str, Arc<str>);
/// The dialects and pointers of each tenant's hooks. `None`: no hook set of the tenant is loaded.
pub type Known = HashMap<String, Option<HashSet<Key>>>;

/// The counters of a hook as the file of the history has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedHook {
    tenant: String,
    dialect: String,
    pointer: String,
    counters: Counters,
}

impl SavedHook {
    /// Returns true if the counters are valid, because they come from a file.
    pub fn is_valid(&self) -> bool {
        self.counters.times.is_valid() && self.counters.fuel.is_valid()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Counters {
    /// The time of the first call, as Unix time in ms.
    since: i64,
    calls: u64,
    denied: u64,
    asked: u64,
    causes: BTreeMap<Cow<'static, str>, u64>,
    times: Scale,
    fuel: Scale,
    last: i64,
    failing: Option<Failing>,
    examples: VecDeque<Value>,
    /// The component's digest, and the time since when it is used.
    digest: Option<(String, i64)>,
    monitored: bool,
    day: VecDeque<Quarter>,
}

/// Consecutive failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Failing {
    since: i64,
    last: i64,
    count: u64,
    cause: Cow<'static, str>,
    message: String,
    verdict: String,
}

/// The counts of 15 minutes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Quarter {
    slot: i64,
    calls: u32,
    denied: u32,
    failed: u32,
}

impl Hooks {
    /// Continues saved counters. Those of unknown dialects are left out.
    pub fn from(saved: Vec<SavedHook>) -> Self {
        let mut state = State::default();
        for SavedHook { tenant, dialect, pointer, counters } in saved.into_iter().take(SAVED) {
            let Some(dialect) = hookbox::dialect::by_name(&dialect).map(hookbox::Dialect::name) else { continue };
            let own = state.tenants.entry(tenant).or_default();
            if own.len() < PER_TENANT && own.insert((dialect, pointer.into()), counters).is_none() {
                state.hooks += 1;
            }
        }
        Self { state: Mutex::new(state) }
    }

    /// The counters to save.
    pub fn to_save(&self) -> Vec<SavedHook> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let all = state.tenants.iter().flat_map(|(tenant, own)| own.iter().map(move |hook| (tenant, hook)));
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|(_, (_, counters))| std::cmp::Reverse(counters.last));
        let save = |(tenant, ((dialect, pointer), counters)): (&String, (&Key, &Counters))| SavedHook {
            tenant: tenant.clone(),
            dialect: (*dialect).to_owned(),
            pointer: pointer.to_string(),
            counters: counters.clone(),
        };
        all.into_iter().take(SAVED).map(save).collect()
    }

    /// Counts the parts of the verdict with this id.
    pub fn count(&self, tenant: &str, dialect: &'static str, parts: &[Part], verdict: &str, event: &Value, now: i64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { tenants, hooks } = &mut *state;
        let own = tenants.entry(tenant.to_owned()).or_default();
        for part in parts {
            let key = (dialect, Arc::clone(&part.pointer));
            if !own.contains_key(&key) {
                if own.len() >= PER_TENANT || *hooks >= ALL {
                    continue;
                }
                *hooks += 1;
            }
            own.entry(key).or_default().count(part, verdict, event, now);
        }
    }

    /// The counters of a hook. `null` before its first call.
    pub fn json(&self, tenant: &str, dialect: &'static str, pointer: &str, now: i64) -> Value {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = state.tenants.get(tenant).and_then(|own| own.get(&(dialect, Arc::from(pointer))));
        found.map_or(Value::Null, |counters| counters.json(now))
    }

    /// Removes hooks that are in no hook set any more.
    pub fn retain(&self, known: &Known) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { tenants, hooks } = &mut *state;
        tenants.retain(|name, own| {
            let Some(known) = known.get(name) else { return false };
            if let Some(known) = known {
                own.retain(|key, _| known.contains(key));
            }
            true
        });
        *hooks = tenants.values().map(HashMap::len).sum();
    }
}

impl Counters {
    fn count(&mut self, part: &Part, verdict: &str, event: &Value, now: i64) {
        self.calls += 1;
        self.last = now;
        if self.calls == 1 {
            (self.since, self.monitored) = (now, part.monitored);
        }
        if self.monitored != part.monitored {
            // Effects in monitor mode and enforced ones are counted separately.
            *self = Self {
                since: now,
                calls: 1,
                last: now,
                digest: self.digest.take(),
                monitored: part.monitored,
                ..Self::default()
            };
        }
        self.denied += u64::from(part.denied);
        self.asked += u64::from(part.asked);
        self.times.add(part.us);
        part.fuel.iter().for_each(|fuel| self.fuel.add(*fuel));
        if let Some(digest) = &part.digest
            && self.digest.as_ref().is_none_or(|(known, _)| *known != **digest)
        {
            self.digest = Some((digest.to_string(), now));
        }
        if let Some((cause, message)) = &part.failure {
            *self.causes.entry(Cow::Borrowed(cause)).or_default() += 1;
            let before = self.failing.take().filter(|failing| now - failing.last < PAUSE);
            let (since, count) = before.map_or((now, 0), |failing| (failing.since, failing.count));
            let (message, verdict) = (message.clone(), verdict.to_owned());
            self.failing =
                Some(Failing { since, last: now, count: count + 1, cause: Cow::Borrowed(cause), message, verdict });
        }
        if part.monitored && (part.denied || part.asked) {
            let mut example = json!({ "id": verdict, "at": now, "word": part.word, "reason": part.reason });
            if let (Some(example), Some(event)) = (example.as_object_mut(), event.as_object()) {
                example.extend(event.clone());
            }
            self.examples.push_back(example);
            if self.examples.len() > EXAMPLES {
                self.examples.pop_front();
            }
        }
        self.quarter(part, now);
    }

    fn quarter(&mut self, part: &Part, now: i64) {
        let slot = now.div_euclid(STEP);
        if self.day.back().is_none_or(|quarter| quarter.slot < slot) {
            self.day.push_back(Quarter { slot, ..Quarter::default() });
        }
        while self.day.front().is_some_and(|first| first.slot <= slot - STEPS) {
            self.day.pop_front();
        }
        if let Some(quarter) = self.day.back_mut() {
            let add = |to: &mut u32, yes: bool| *to = to.saturating_add(yes.into());
            add(&mut quarter.calls, true);
            add(&mut quarter.denied, part.denied);
            add(&mut quarter.failed, part.failure.is_some());
        }
    }

    fn json(&self, now: i64) -> Value {
        let first = now.div_euclid(STEP) - STEPS + 1;
        let mut day = vec![[0_u32; 3]; usize::try_from(STEPS).unwrap_or_default()];
        for quarter in &self.day {
            if let Some(counts) = usize::try_from(quarter.slot - first).ok().and_then(|index| day.get_mut(index)) {
                *counts = [quarter.calls, quarter.denied, quarter.failed];
            }
        }
        let failing = self.failing.as_ref().filter(|failing| now - failing.last < PAUSE);
        json!({
            "since": self.since, "calls": self.calls, "denied": self.denied, "asked": self.asked,
            "failed": self.causes.values().sum::<u64>(), "causes": self.causes,
            "p50": self.times.quantile(0.5), "p99": self.times.quantile(0.99),
            "times": self.times.steps().collect::<Vec<_>>(),
            "fuelP50": self.fuel.quantile(0.5), "fuelP99": self.fuel.quantile(0.99),
            "last": self.last, "changed": self.digest.as_ref().map(|(_, since)| since),
            "failing": failing.map(|failing| json!({
                "since": failing.since, "last": failing.last, "count": failing.count, "cause": failing.cause,
                "message": failing.message, "verdict": failing.verdict,
            })),
            "examples": self.examples, "day": day,
        })
    }
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
