//! Resolves the named hooks of picoclaw.

use std::collections::BTreeSet;

use hookbox_protocol::json::token;

use super::{Resolver, entry::Location, handler};
use crate::config::{
    diagnostic::Finding,
    file::{BuiltinEntry, Named, NamedEntry, Options, Runs, StageTimes},
    process::Stages,
};

impl Resolver {
    /// decisions.md#order-and-rewrites: "ascending `priority`, then name, one after another".
    pub(in crate::config) fn named(&mut self, named: Named) {
        self.enabled &= named.enabled != Some(false);
        self.defaults.stages = self.take(named.defaults, "/hooks/defaults").unwrap_or_default().into();
        let mut hooks = Vec::new();
        for (below, entries) in [("/hooks/processes", named.processes), ("/hooks", named.hooks)] {
            for (name, entry) in entries {
                let pointer = format!("{below}/{}", token(&name));
                hooks.extend(self.take(entry, &pointer).map(|entry| (entry.priority, name, pointer, entry)));
            }
        }
        for (name, entry) in named.builtins {
            let pointer = format!("/hooks/builtins/{}", token(&name));
            let entry = self.take(entry, &pointer).filter(|entry| entry.enabled);
            hooks.extend(entry.map(|entry| (entry.priority, name, pointer, entry.into())));
        }
        hooks.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let mut taken = BTreeSet::new();
        for (_, name, pointer, mut entry) in hooks {
            if !taken.insert(name.clone()) {
                let message = format!("duplicate hook name `{name}`");
                self.found.push(Finding::error(&pointer, message).help("rename one of the two"));
            }
            if pointer.starts_with("/hooks/processes/") {
                if entry.enabled.is_none() {
                    let message = "hookbox runs a hook process without `enabled`, but PicoClaw does not".to_owned();
                    self.found.push(Finding::warning(&pointer, message).help("add   \"enabled\": true, or false"));
                }
                in_pairs(&mut entry.intercept);
            }
            self.named_entry(name, pointer, entry);
        }
    }

    fn named_entry(&mut self, name: String, pointer: String, entry: NamedEntry) {
        let NamedEntry { enabled, intercept, observe, options, runs, .. } = entry;
        let intercepts = self.intercepts(&intercept, &pointer);
        let before = self.hooks.len();
        self.entry(Location { name: Some(name), ..Location::new(pointer, intercepts) }, options, runs);
        if let Some(hook) = self.hooks.get(before).filter(|_| !observe.is_empty()).cloned() {
            // An entry that both intercepts and observes becomes two hooks. The observer decides nothing.
            if intercept.is_empty() {
                self.hooks.truncate(before);
            }
            let observer = self.observer(hook, &observe);
            self.hooks.push(observer);
        }
        if enabled == Some(false) {
            self.hooks.truncate(before);
        }
    }
}

/// decisions.md#picoclaw: "An entry of `processes` that intercepts a tool or the model before the call also does so
/// after it, and vice versa".
fn in_pairs(intercept: &mut Vec<String>) {
    for pair in [["before_llm", "after_llm"], ["before_tool", "after_tool"]] {
        if intercept.iter().any(|word| pair.contains(&word.as_str())) {
            intercept.retain(|word| !pair.contains(&word.as_str()));
            intercept.extend(pair.map(str::to_owned));
        }
    }
}

impl From<StageTimes> for Stages {
    /// Converts milliseconds to seconds. As in the client, 0 means the default.
    fn from(times: StageTimes) -> Self {
        [times.observer, times.interceptor, times.approval]
            .map(|ms| ms.filter(|ms| *ms > 0.0).map(|ms| handler::seconds(ms / 1000.0)))
    }
}

impl From<BuiltinEntry> for NamedEntry {
    /// decisions.md#picoclaw: "An enabled entry of its `builtins` is a hook that hookbox does not run".
    fn from(builtin: BuiltinEntry) -> Self {
        Self {
            enabled: Some(builtin.enabled),
            priority: builtin.priority,
            observe: Vec::new(),
            intercept: Vec::new(),
            options: Options::default(),
            runs: Runs::Builtin,
        }
    }
}
