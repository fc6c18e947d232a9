//! From the file as written to the hooks as they run.

mod events;
mod handler;

use std::{path::PathBuf, time::Duration};

use hookbox_protocol::{Behavior, Dialect, json::token, matcher::Matcher};

use super::{
    Hook,
    diagnostic::Finding,
    file::{Checked, Entry, File, Flat, FlatEntry, Group, Groups, Named, NamedEntry, Options, Runs},
    types::Limits,
};

/// The event name under which the permission callback's handler is listed.
pub(super) const CAN_USE_TOOL: &str = "canUseTool";

/// What is collected on the way through the file.
pub(super) struct Resolver {
    pub(super) dialect: &'static dyn Dialect,
    /// The folder that relative paths are relative to.
    pub(super) base: PathBuf,
    pub(super) limits: Limits,
    pub(super) fail_closed: bool,
    pub(super) defaults: Defaults,
    pub(super) enabled: bool,
    pub(super) max_concurrent: Option<usize>,
    pub(super) hooks: Vec<Hook>,
    pub(super) found: Vec<Finding>,
}

/// What a handler gets that says nothing of its own.
#[derive(Default)]
pub(super) struct Defaults {
    timeout: Option<f64>,
    on_failure: Option<Behavior>,
    on_timeout: Option<Behavior>,
}

/// Where a handler stands, and what it takes from there.
struct Place {
    pointer: String,
    events: Vec<String>,
    matcher: Matcher,
    matcher_text: Option<String>,
    timeout: Option<f64>,
    /// Under picoclaw, the name.
    name: Option<String>,
    observe_only: bool,
}

impl Resolver {
    pub(super) fn new(dialect: &'static dyn Dialect, base: PathBuf) -> Self {
        Self {
            dialect,
            base,
            limits: Limits::default(),
            fail_closed: false,
            defaults: Defaults::default(),
            enabled: true,
            max_concurrent: None,
            hooks: Vec::new(),
            found: Vec::new(),
        }
    }

    /// What stands beside `hooks`. First, because hooks take their defaults from it.
    pub(super) fn beside<H>(&mut self, file: &File<H>) {
        self.limits = file.limits.0.clone().unwrap_or_default();
        self.fail_closed = file.fail_closed.0 == Some(true);
        self.enabled = file.disable_all_hooks.0 != Some(true);
    }

    pub(super) fn can_use_tool(&mut self, entry: Checked<Entry>) {
        if let Some(entry) = entry.0 {
            let place = Place::new(format!("/{CAN_USE_TOOL}"), vec![CAN_USE_TOOL.to_owned()]);
            self.entry(place, entry.options, entry.runs);
        }
    }

    pub(super) fn groups(&mut self, groups: Groups) {
        self.enabled &= groups.enabled != Some(false);
        self.max_concurrent = groups.max_concurrent_hooks.and_then(|most| usize::try_from(most).ok());
        let on_failure = groups.failure_behavior.map(Behavior::from);
        // blade-config.md: "`timeoutBehavior` … `'ignore'` … 超时时的行为" (what a timeout counts as, ignore by default):
        // a `failureBehavior` alone says nothing about timeouts.
        let silent = on_failure.map(|_| if self.fail_closed { Behavior::Deny } else { Behavior::Ignore });
        let on_timeout = groups.timeout_behavior.map(Behavior::from).or(silent);
        self.defaults = Defaults { timeout: groups.default_timeout, on_failure, on_timeout };
        for (event, groups) in groups.events.0 {
            let pointer = self.event_pointer(&event);
            for (index, group) in present(groups.0) {
                self.group(&event, &format!("{pointer}/{index}"), group);
            }
        }
    }

    fn group(&mut self, event: &str, pointer: &str, group: Group) {
        let matcher = self.matcher(event, group.matcher.as_deref(), pointer);
        let timeout = self.seconds(group.timeout, group.timeout_ms, pointer);
        for (index, entry) in present(Some(group.hooks)) {
            let place = Place {
                matcher: matcher.clone(),
                matcher_text: group.matcher.clone(),
                timeout,
                ..Place::new(format!("{pointer}/hooks/{index}"), vec![event.to_owned()])
            };
            self.entry(place, entry.options, entry.runs);
        }
    }

    pub(super) fn flat(&mut self, flat: Flat) {
        for (event, entries) in flat.events.0 {
            let pointer = self.event_pointer(&event);
            for (index, FlatEntry { matcher: text, options, runs }) in present(entries.0) {
                let pointer = format!("{pointer}/{index}");
                let matcher = self.matcher(&event, text.as_deref(), &pointer);
                let place = Place { matcher, matcher_text: text, ..Place::new(pointer, vec![event.clone()]) };
                self.entry(place, options, runs);
            }
        }
    }

    /// decisions.md, picoclaw: hooks run in "ascending `priority`, then name".
    pub(super) fn named(&mut self, named: Named) {
        let mut hooks: Vec<(String, NamedEntry)> =
            named.hooks.into_iter().filter_map(|(name, entry)| Some((name, entry.0?))).collect();
        hooks.retain(|(_, entry)| entry.enabled != Some(false));
        hooks.sort_by(|(a, x), (b, y)| (x.priority, a).cmp(&(y.priority, b)));
        for (name, entry) in hooks {
            let pointer = format!("/hooks/{}", token(&name));
            self.intercepts(&entry.intercept, &pointer);
            let place = Place { name: Some(name), ..Place::new(pointer, entry.intercept) };
            let first = self.hooks.len();
            let asked = !place.events.is_empty() || entry.observe.is_empty();
            self.entry(place, entry.options, entry.runs);
            // One that is asked and told is two hooks: only the first has a say.
            let Some(hook) = self.hooks.get(first).filter(|_| !entry.observe.is_empty()).cloned() else { continue };
            if !asked {
                self.hooks.truncate(first);
            }
            self.hooks.push(Hook { events: entry.observe, observe_only: true, ..hook });
        }
    }

    fn entry(&mut self, place: Place, options: Options, runs: Runs) {
        let own = self.seconds(options.timeout, options.timeout_ms, &place.pointer);
        let Some((name, handler, limit)) = self.handler(runs, &place.pointer) else { return };
        let on_failure = options.on_failure.map(Behavior::from);
        let seconds = own.or(place.timeout).or(limit).or(self.defaults.timeout).unwrap_or(self.limits.timeout);
        self.hooks.push(Hook {
            name: place.name.unwrap_or(name),
            pointer: place.pointer,
            events: place.events,
            matcher: place.matcher,
            matcher_text: place.matcher_text,
            observe_only: place.observe_only,
            // The schema bounds it; what a second pair of limits in a handler says is bounded by the same schema.
            timeout: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(60)),
            on_failure: on_failure.or(self.defaults.on_failure),
            on_timeout: options.on_timeout.map(Behavior::from).or(on_failure).or(self.defaults.on_timeout),
            handler,
        });
    }

    /// decisions.md: "Our configuration is seconds (fractions allowed) everywhere; `timeoutMs` is accepted for pasted
    /// TypeScript configuration."
    fn seconds(&mut self, seconds: Option<f64>, milliseconds: Option<f64>, pointer: &str) -> Option<f64> {
        if seconds.is_some() && milliseconds.is_some() {
            self.found.push(
                Finding::error(format!("{pointer}/timeoutMs"), "both `timeout` and `timeoutMs` are given")
                    .help("`timeout` is in seconds; keep one of the two"),
            );
        }
        seconds.or(milliseconds.map(|ms| ms / 1000.0))
    }
}

impl Place {
    fn new(pointer: String, events: Vec<String>) -> Self {
        Self {
            pointer,
            events,
            matcher: Matcher::Everything,
            matcher_text: None,
            timeout: None,
            name: None,
            observe_only: false,
        }
    }
}

/// The parts that were understood, with their places in the array.
fn present<T>(parts: Option<Vec<Checked<T>>>) -> impl Iterator<Item = (usize, T)> {
    parts.into_iter().flatten().enumerate().filter_map(|(index, part)| Some((index, part.0?)))
}
