//! The data of the console, with which operators and tenants' owners watch the daemon.
//!
//! All data is bounded and read-only. Labels come from the configuration or from authenticated requests, never from
//! others. A viewer only gets the strings of its own tenants.

pub mod feed;
pub mod history;
pub mod hooks;
pub mod outcome;
mod row;
mod scale;
mod seal;
mod streams;

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
    sync::{Mutex, PoisonError},
};

use self::{
    feed::Feed,
    history::{File, History, Saved},
    hooks::{Hooks, Known},
    outcome::ResponseFacts,
    streams::Streams,
};
pub use self::{row::VerdictRow, streams::StreamPermit};
use crate::{
    clock::unix_ms,
    gate::Gate,
    tenants::{Overview, Tenants},
};

/// The maximum number of token hashes whose first use is remembered.
const TOKENS: usize = 10_000;

/// The data of the console.
#[derive(Debug)]
pub struct Console {
    pub history: History,
    pub feed: Feed,
    pub hooks: Hooks,
    pub streams: Streams,
    file: File,
    /// The time at which the hash of a token was first seen.
    tokens: Mutex<BTreeMap<String, i64>>,
    /// The start of the daemon, as Unix time in ms.
    pub started: i64,
}

impl Console {
    /// Starts with the history that an earlier daemon saved for this folder of tenants.
    pub fn start(tenants: &Path) -> Self {
        let (file, started) = (File::of(tenants), unix_ms());
        let mut saved = file.read();
        let tokens = Mutex::new(std::mem::take(&mut saved.tokens));
        let hooks = Hooks::from(std::mem::take(&mut saved.hooks));
        Self {
            history: History::from(saved, started),
            feed: Feed::new(started),
            hooks,
            streams: Streams::default(),
            file,
            tokens,
            started,
        }
    }

    /// Adds a verdict of a tenant, and counts the parts of its hooks.
    pub fn see(&self, tenant: &str, seen: &VerdictRow) {
        let id = self.feed.add(tenant, |id| seen.texts(id));
        self.hooks.count(tenant, seen.dialect, &seen.parts, &id, &seen.event, unix_ms());
    }

    /// Counts a response to an authenticated request.
    pub fn count(&self, tenant: &str, counted: &ResponseFacts) {
        if !tenant.is_empty() {
            self.history.count(tenant, counted, unix_ms());
        }
    }

    /// Records the lengths of the queues, once a second.
    pub fn sample(&self, gate: &Gate) {
        let load = gate.load();
        let waiting = load.iter().map(|(tenant, (waiting, _))| (tenant.as_str(), *waiting));
        self.history.waiting(waiting, unix_ms());
    }

    /// Removes data about removed tenants and hooks, and records new tokens.
    pub fn tidy(&self, tenants: &Tenants) {
        // Before the folder is first read, every tenant would seem to be removed.
        if !tenants.is_ready() {
            return;
        }
        let overview = tenants.overview();
        let names: HashSet<&str> = overview.iter().map(|tenant| tenant.name.as_str()).collect();
        self.history.retain(|name| names.contains(name));
        let hooks = |tenant: &Overview| {
            let of_set = |set: &hookbox::HookSet| {
                let dialect = set.dialect().name();
                set.facts().into_iter().map(move |facts| (dialect, facts.pointer.into()))
            };
            let loaded = tenant.tenant.as_ref();
            (tenant.name.clone(), loaded.map(|tenant| tenant.sets.values().flat_map(of_set).collect()))
        };
        self.hooks.retain(&overview.iter().map(hooks).collect::<Known>());
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let present: HashSet<String> =
            overview.iter().flat_map(|tenant| tenant.tokens.iter().map(ToString::to_string)).collect();
        tokens.retain(|hash, _| present.contains(hash));
        let now = unix_ms();
        for hash in present {
            if tokens.len() < TOKENS {
                tokens.entry(hash).or_insert(now);
            }
        }
    }

    /// The time at which the hash of a token was first seen.
    pub fn token_since(&self, hash: &str) -> Option<i64> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).get(hash).copied()
    }

    /// Writes the history to its file. Blocks.
    pub fn save(&self) {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.file.write(Saved { tokens, hooks: self.hooks.to_save(), ..self.history.to_save() });
    }
}
