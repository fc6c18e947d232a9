//! Resolves the hooks of a client that has them by event: in matcher groups, or as flat arrays.

use hookbox_protocol::FailurePolicy;

use super::{Defaults, Resolver, entry::Location, name};
use crate::config::{
    file::{Flat, FlatEntry, Group, Groups},
    process::Stages,
};

impl Resolver {
    /// Resolves matcher groups.
    pub(in crate::config) fn groups(&mut self, groups: Groups) {
        self.enabled &= groups.enabled != Some(false);
        self.max_concurrent = groups.max_concurrent_hooks.and_then(|most| usize::try_from(most).ok());
        let on_failure = groups.failure_behavior.map(FailurePolicy::from);
        // blade.md#configuration: "`timeoutBehavior` | `ignore`, `deny` or `ask` | `ignore` | what a timeout counts
        // as": a `failureBehavior` does not apply to timeouts.
        let on_timeout = groups.timeout_behavior.map(FailurePolicy::from);
        self.defaults = Defaults { timeout: groups.default_timeout, on_failure, on_timeout, stages: Stages::default() };
        for (event, groups) in groups.events.0 {
            let pointer = self.event_pointer(&event);
            let groups = self.take(groups, &pointer).unwrap_or_default();
            for (pointer, group) in self.items(groups, &pointer) {
                self.group(&event, &pointer, group);
            }
        }
    }

    fn group(&mut self, event: &str, pointer: &str, group: Group) {
        let matcher = self.matcher(event, group.matcher.as_ref(), pointer);
        let timeout = self.seconds(group.timeout, group.timeout_ms, pointer);
        for (pointer, entry) in self.items(group.hooks, &format!("{pointer}/hooks")) {
            let location = Location {
                matcher: matcher.clone(),
                matcher_text: group.matcher.as_ref().map(ToString::to_string),
                timeout,
                ..Location::new(pointer, vec![event.to_owned()])
            };
            let at = self.hooks.len();
            self.entry(location, entry.options, entry.runs);
            if let Some(hook) = self.hooks.get_mut(at) {
                hook.sequential = group.sequential;
                if let Some(name) = entry.name {
                    let pointer = hook.pointer.clone();
                    hook.name = name::bounded(name, &pointer, &mut self.found);
                }
            }
        }
    }

    /// Resolves flat arrays.
    pub(in crate::config) fn flat(&mut self, flat: Flat) {
        for (event, entries) in flat.events.0 {
            let pointer = self.event_pointer(&event);
            let entries = self.take(entries, &pointer).unwrap_or_default();
            for (pointer, FlatEntry { matcher: entry, options, runs }) in self.items(entries, &pointer) {
                let matcher = self.matcher(&event, entry.as_ref(), &pointer);
                let matcher_text = entry.as_ref().map(ToString::to_string);
                let location = Location { matcher, matcher_text, ..Location::new(pointer, vec![event.clone()]) };
                self.entry(location, options, runs);
            }
        }
    }
}
