//! A configuration as one client uses it.

use std::{path::Path, time::Duration};

use hookbox::{
    Dialect, EventKind,
    config::{Config, ConfigErrors, Diagnostic, Hook, Loaded},
    dialect::{self, Flow},
};

use super::{Client, Form};

/// Time in addition to that of the hooks: to start, to read the configuration, and to compile uncached components.
const OWN_TIME: Duration = Duration::from_secs(10);

/// A configuration as one client uses it, and the dialect option for `run`.
#[derive(Debug, Clone)]
pub struct Wiring {
    /// The value of `--dialect`: the client's own, or `auto` if the file has another one's form.
    pub dialect: String,
    /// True if the file names that dialect itself.
    pub is_named_by_file: bool,
    /// The configuration under the client's dialect.
    pub config: Config,
    /// The warnings about the file.
    pub warnings: Vec<Diagnostic>,
    /// Events in the file that are unknown in its own dialect.
    pub unknown: Vec<String>,
}

impl Wiring {
    /// Reads a configuration for a client.
    ///
    /// A file in the client's own dialect is read unchanged. A file in another dialect of the same form is read in the
    /// client's dialect. Any other file is read in its own dialect, and each event is called by the name that it has there.
    pub fn read(client: &Client, text: &str, file: &Path) -> Result<Self, ConfigErrors> {
        let Loaded { config: named, warnings, .. } = Config::parse(text, file, None)?;
        let unknown = unknown_events(&named);
        let own = dialect::by_name(client.dialect).unwrap_or(named.dialect);
        let base = |dialect: &dyn Dialect| dialect.name().trim_end_matches("@observed").to_owned();
        if base(named.dialect) == base(own) {
            // The documentation of Blade describes no program, so the observed profile applies.
            let dialect = if own.name().contains('@') { own } else { named.dialect };
            let config = Config::parse(text, file, Some(dialect.name()))?.config;
            let is_named_by_file = dialect.name() == named.dialect.name();
            return Ok(Self { dialect: dialect.name().to_owned(), is_named_by_file, config, warnings, unknown });
        }
        let is_alike = named.dialect.shape() == own.shape() && named.dialect.timeout_unit() == own.timeout_unit();
        let known = |hook: &Hook| hook.events.iter().all(|event| own.spec_by_name(event).is_some());
        if is_alike && named.hooks.iter().all(known) {
            let config = Config::parse(text, file, Some(own.name()))?.config;
            return Ok(Self { dialect: own.name().to_owned(), is_named_by_file: false, config, warnings, unknown });
        }
        Ok(Self {
            dialect: "auto".to_owned(),
            is_named_by_file: false,
            config: named.answering(own),
            warnings,
            unknown,
        })
    }

    /// The events that a configuration has hooks for, by their names in the client's settings, each with the timeout of its
    /// entry. The second list has the events that the client does not support.
    pub fn events(&self, client: &Client) -> (Vec<(String, Duration)>, Vec<String>) {
        let (mut known, mut unknown): (Vec<(String, Duration)>, Vec<String>) = (Vec::new(), Vec::new());
        let dialect = self.config.dialect;
        let is_of_client = self.dialect != "auto";
        for event in self.config.hooks.iter().flat_map(|hook| &hook.events) {
            let name = match dialect.spec_by_name(event) {
                Some(_) if client.form == Form::Flat => pascal(event),
                // In Copilot and Blade this is set in code, not in settings.
                Some(spec) if spec.name == "canUseTool" => continue,
                Some(spec) => spec.name.to_owned(),
                // Clients add events every month. An unknown event is kept, but only if the file is for this client.
                None if is_of_client && event != "canUseTool" => event.clone(),
                None => {
                    if !unknown.contains(event) {
                        unknown.push(event.clone());
                    }
                    continue;
                }
            };
            if !known.iter().any(|(other, _)| *other == name) {
                known.push((name, timeout(&self.config, event)));
            }
        }
        (known, unknown)
    }

    /// Returns true if hooks can prevent this event.
    pub fn is_gate(&self, event: &str) -> bool {
        let kind = self.config.dialect.spec_by_name(event).map(|spec| spec.kind);
        matches!(kind, Some(EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::UserPromptSubmit))
    }
}

/// The events of a configuration that its dialect does not know, without those of hooks for any event.
fn unknown_events(config: &Config) -> Vec<String> {
    let events = config.hooks.iter().flat_map(|hook| &hook.events);
    let mut unknown: Vec<String> = Vec::new();
    for event in events.filter(|event| *event != "canUseTool" && config.dialect.spec_by_name(event).is_none()) {
        if !unknown.contains(event) {
            unknown.push(event.clone());
        }
    }
    unknown
}

/// Copilot's name of an event, in the spelling that gives its payload Claude's fields.
pub fn pascal(event: &str) -> String {
    match event {
        "userPromptSubmitted" => "UserPromptSubmit".into(),
        "agentStop" => "Stop".into(),
        _ => {
            let mut letters = event.chars();
            letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
        }
    }
}

/// The timeout of an event's entry: the time of its hooks and hookbox's own.
pub fn timeout(config: &Config, event: &str) -> Duration {
    let name = config.dialect.spec_by_name(event).map_or(event, |spec| spec.name);
    let same =
        |other: &String| other == event || config.dialect.spec_by_name(other).is_some_and(|spec| spec.name == name);
    let hooks: Vec<&Hook> = config.hooks.iter().filter(|hook| hook.events.iter().any(same)).collect();
    let sum = hooks.iter().map(|hook| hook.timeout).sum::<Duration>();
    let longest = hooks.iter().map(|hook| hook.timeout).max().unwrap_or_default();
    let all = match config.dialect.flow() {
        Flow::Concurrent(_) if hooks.iter().any(|hook| hook.sequential) => sum,
        Flow::Concurrent(at_once) => {
            let rounds = hooks.len().div_ceil(config.max_concurrent.unwrap_or(at_once).max(1));
            longest.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX)).min(sum)
        }
        Flow::Sequential | Flow::Chained => sum,
    };
    all + OWN_TIME
}
