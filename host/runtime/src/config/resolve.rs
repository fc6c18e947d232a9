//! Turns the types of the file into hooks.

pub(super) mod events;
pub(super) mod handler;
mod name;
mod traps;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use handler::Resolved;
use hookbox_protocol::{
    Dialect, FailurePolicy,
    dialect::TimeUnit,
    json::{Object, token},
    matcher::Budget,
    matcher::Matcher,
};
use hookbox_sandbox::Limits;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    CAN_USE_TOOL, Handler, Hook, HostSettings, Mode,
    diagnostic::Finding,
    file::{BuiltinEntry, Checked, File, Flat, FlatEntry, Group, Groups, Named, NamedEntry, Options, Runs, StageTimes},
    options::ReadOptions,
    process::Stages,
};

/// The state of resolving a file.
pub(super) struct Resolver {
    pub(super) dialect: &'static dyn Dialect,
    /// The folder that relative paths are relative to.
    pub(super) base: PathBuf,
    /// The types of handlers that the embedder adds.
    handlers: Vec<String>,
    pub(super) limits: Limits,
    /// The limits that the file sets: the JSON pointer of each by its key.
    limits_given: BTreeMap<String, String>,
    mode: Mode,
    pub(super) fail_closed: bool,
    pub(super) defaults: Defaults,
    pub(super) enabled: bool,
    pub(super) max_concurrent: Option<usize>,
    pub(super) hooks: Vec<Hook>,
    /// The memory budget of compiled matchers.
    pub(super) patterns: Budget,
    pub(super) found: Vec<Finding>,
    /// Event names that look misspelt, each with the index of its finding.
    misspelt: Vec<(String, usize)>,
    /// Event names that no client is known to send.
    unheard: Vec<String>,
    /// Errors about parts that could not be read. Normally the validator has reported them already.
    pub(super) unread: Vec<Finding>,
}

/// The defaults of handlers.
#[derive(Default)]
pub(super) struct Defaults {
    timeout: Option<f64>,
    on_failure: Option<FailurePolicy>,
    on_timeout: Option<FailurePolicy>,
    stages: Stages,
}

/// The location of a handler, and the settings that it gets from there.
struct Location {
    pointer: String,
    events: Vec<String>,
    matcher: Matcher,
    matcher_text: Option<String>,
    timeout: Option<f64>,
    /// Picoclaw: the name.
    name: Option<String>,
}

impl Resolver {
    pub(super) fn new(dialect: &'static dyn Dialect, base: PathBuf, options: &ReadOptions) -> Self {
        Self {
            dialect,
            base,
            handlers: options.handlers.clone(),
            limits: Limits::default(),
            limits_given: BTreeMap::new(),
            mode: Mode::default(),
            fail_closed: options.fail_closed,
            defaults: Defaults::default(),
            enabled: true,
            max_concurrent: None,
            hooks: Vec::new(),
            patterns: options.matcher_bytes.map_or_else(Budget::default, Budget::with),
            found: Vec::new(),
            misspelt: Vec::new(),
            unheard: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Resolves the whole file and returns the host's settings.
    pub(super) fn file<H: DeserializeOwned>(
        &mut self,
        value: Value,
        hooks: fn(&mut Self, H),
    ) -> serde_json::Result<HostSettings> {
        let limits = value.get("limits").and_then(Value::as_object);
        self.limits_given = given(limits, "/limits");
        let file: File<H> = serde_json::from_value(value)?;
        // Read the other members before `hooks`, because they contain its defaults.
        self.limits = self.take(file.limits, "/limits").unwrap_or_default();
        self.mode = self.take(file.mode, "/mode").unwrap_or_default();
        self.fail_closed |= self.take(file.fail_closed, "/failClosed") == Some(true);
        let off = self.take(file.hooks_config, "/hooksConfig").is_some_and(|config| config.enabled == Some(false));
        self.enabled = self.take(file.disable_all_hooks, "/disableAllHooks") != Some(true) && !off;
        if let Some(written) = self.take(file.hooks, "/hooks") {
            hooks(self, written);
        }
        let pointer = format!("/{CAN_USE_TOOL}");
        if let Some(entry) = self.take(file.can_use_tool, &pointer) {
            self.entry(Location::new(pointer, vec![CAN_USE_TOOL.to_owned()]), entry.options, entry.runs);
        }
        let mut settings = self.take(file.host, "/host").unwrap_or_default();
        if let Some(path) = &mut settings.state_file {
            *path = self.base.join(&*path).to_string_lossy().into_owned();
        }
        Ok(settings)
    }

    /// A part of the file. `None` if it could not be read.
    fn take<T>(&mut self, part: Checked<T>, pointer: &str) -> Option<T> {
        match part.0? {
            Ok(part) => Some(part),
            Err(error) => {
                self.unread.push(Finding::error(pointer, format!("not understood: {error}")));
                None
            }
        }
    }

    /// The items of an array that could be read, with their pointers.
    fn items<T>(&mut self, parts: Vec<Checked<T>>, pointer: &str) -> Vec<(String, T)> {
        let pointers = (0..).map(|index: usize| format!("{pointer}/{index}"));
        pointers
            .zip(parts)
            .filter_map(|(pointer, part)| self.take(part, &pointer).map(|part| (pointer, part)))
            .collect()
    }

    pub(super) fn groups(&mut self, groups: Groups) {
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
            let place = Location {
                matcher: matcher.clone(),
                matcher_text: group.matcher.as_ref().map(ToString::to_string),
                timeout,
                ..Location::new(pointer, vec![event.to_owned()])
            };
            let at = self.hooks.len();
            self.entry(place, entry.options, entry.runs);
            if let Some(hook) = self.hooks.get_mut(at) {
                hook.sequential = group.sequential;
                if let Some(name) = entry.name {
                    let pointer = hook.pointer.clone();
                    hook.name = name::bounded(name, &pointer, &mut self.found);
                }
            }
        }
    }

    pub(super) fn flat(&mut self, flat: Flat) {
        for (event, entries) in flat.events.0 {
            let pointer = self.event_pointer(&event);
            let entries = self.take(entries, &pointer).unwrap_or_default();
            for (pointer, FlatEntry { matcher: entry, options, runs }) in self.items(entries, &pointer) {
                let matcher = self.matcher(&event, entry.as_ref(), &pointer);
                let matcher_text = entry.as_ref().map(ToString::to_string);
                let place = Location { matcher, matcher_text, ..Location::new(pointer, vec![event.clone()]) };
                self.entry(place, options, runs);
            }
        }
    }

    /// decisions.md#order-and-rewrites: "ascending `priority`, then name, one after another".
    pub(super) fn named(&mut self, named: Named) {
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

    fn entry(&mut self, place: Location, options: Options, runs: Runs) {
        let own = self.seconds(options.timeout, options.timeout_ms, &place.pointer);
        let Some(Resolved { name, mut handler, authority, timeout: limit }) = self.handler(runs, &place.pointer) else {
            return;
        };
        let on_failure = options.on_failure.map(FailurePolicy::from);
        if let Handler::Wasm(wasm) = &mut handler {
            place.name.iter().for_each(|given| wasm.owner.clone_from(given));
            wasm.must_load &= on_failure.is_none();
        }
        let seconds = own.or(place.timeout).or(limit).or(self.defaults.timeout);
        let all = self.limits_given.contains_key("timeout").then_some(self.limits.timeout);
        let given = seconds.or(all);
        let (timeout, timeout_given) = match &mut handler {
            Handler::Process(process) => {
                process.settle(seconds.map(handler::seconds), self.defaults.stages, all.map(handler::seconds))
            }
            handler => {
                // A client's own command keeps the client's timeout.
                let commands = self.dialect.command_timeout().filter(|_| matches!(handler, Handler::Command { .. }));
                (handler::seconds(given.or(commands).unwrap_or(self.limits.timeout)), given.is_some())
            }
        };
        let name = match options.name.or(place.name) {
            Some(name) => name::bounded(name, &place.pointer, &mut self.found),
            None => hookbox_protocol::json::shorten(&name, name::LIMIT),
        };
        self.hooks.push(Hook {
            name,
            pointer: place.pointer,
            events: place.events,
            matcher: place.matcher,
            matcher_text: place.matcher_text,
            observe_only: false,
            sequential: false,
            timeout,
            timeout_given,
            output_kib: self.limits.output_kib,
            on_failure: on_failure.or(self.defaults.on_failure),
            on_timeout: options.on_timeout.map(FailurePolicy::from).or(on_failure).or(self.defaults.on_timeout),
            authority,
            mode: options.mode.unwrap_or(self.mode),
            handler,
        });
    }

    /// decisions.md#matchers: "The configuration of hookbox has seconds (fractions allowed), except under `gemini`,
    /// where `timeout` is milliseconds as in that client's settings; `timeoutMs` is accepted everywhere."
    fn seconds(&mut self, timeout: Option<f64>, milliseconds: Option<f64>, pointer: &str) -> Option<f64> {
        let (unit, seconds) = match self.dialect.timeout_unit() {
            TimeUnit::Seconds => ("seconds", timeout),
            TimeUnit::Milliseconds => ("milliseconds", timeout.map(|ms| ms / 1000.0)),
        };
        if timeout.is_some() && milliseconds.is_some() {
            self.found.push(
                Finding::error(format!("{pointer}/timeoutMs"), "both `timeout` and `timeoutMs` are given")
                    .help(format!("`timeout` is in {unit}; keep one of the two")),
            );
        }
        self.unit_trap(timeout, pointer);
        seconds.or(milliseconds.map(|ms| ms / 1000.0))
    }
}

/// The JSON pointer of each key of an object.
fn given(object: Option<&Object>, pointer: &str) -> BTreeMap<String, String> {
    let keys = object.into_iter().flat_map(Object::keys);
    keys.map(|key| (key.clone(), format!("{pointer}/{}", token(key)))).collect()
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

impl Location {
    fn new(pointer: String, events: Vec<String>) -> Self {
        Self { pointer, events, matcher: Matcher::Everything, matcher_text: None, timeout: None, name: None }
    }
}
