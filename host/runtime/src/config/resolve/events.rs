//! Resolves event names and matchers.

use hookbox_protocol::{
    Dialect, EventKind, dialect,
    json::token,
    matcher::{CallMatcher, CallPatterns, MatchStyle, Matcher},
};

use super::Resolver;
use crate::config::{
    Hook,
    diagnostic::{Finding, distance, nearest, suggestion},
    file::MatcherEntry,
};

/// The maximum edit distance of a mistyped event name. `PostCompact`, which is not a typo of `PreCompact`, has distance
/// three.
const EVENT_TYPO: usize = 2;

/// Minimum length of the beginning of an event name, in bytes. `PreTool` is no event of any client.
const SHORTEST: usize = 6;

/// An event name that is probably misspelt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misnamed {
    /// The name as written.
    pub name: String,
    /// The event that was probably meant.
    pub near: &'static str,
}

/// Detects a probably misspelt event name of the dialect. Names of other dialects, and names without resemblance, are
/// accepted: clients add events every month.
pub fn misnamed(dialect: &dyn Dialect, name: &str) -> Option<Misnamed> {
    if dialect::ALL.iter().any(|dialect| dialect.spec_by_name(name).is_some()) {
        return None;
    }
    near_event(dialect, name).map(|near| Misnamed { name: name.to_owned(), near })
}

/// The event that a name was probably meant for: one with a typo, or the whole of a name that was cut off.
fn near_event(dialect: &dyn Dialect, name: &str) -> Option<&'static str> {
    let names = || dialect.specs().iter().map(|spec| spec.name);
    let near = nearest(name, names()).filter(|near| distance(name, near) <= EVENT_TYPO);
    near.or_else(|| names().find(|whole| name.len() >= SHORTEST && whole.starts_with(name)))
}

impl Resolver {
    /// The pointer of an event under `hooks`. Warns if the name belongs to another dialect or looks misspelt.
    pub(super) fn event_pointer(&mut self, event: &str) -> String {
        let pointer = format!("/hooks/{}", token(event));
        if self.dialect.spec_by_name(event).is_some() {
            return pointer;
        }
        let near = near_event(self.dialect, event);
        if near.is_some() {
            self.misspelt.push((event.to_owned(), self.found.len()));
        }
        let help = match (self.elsewhere(event), near) {
            (Some((dialect, name)), _) => format!("this is the name under {dialect}; here the name is `{name}`"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => {
                if !is_of_some_client(event) {
                    self.unheard.push(event.to_owned());
                }
                return pointer;
            }
        };
        // Only a warning, unless failures of its hooks block: clients add events every month, and a new name may
        // resemble an old one.
        let message = format!("{} has no event `{event}`", self.dialect.name());
        self.found.push(Finding::warning(&pointer, message).help(help));
        pointer
    }

    /// The first other dialect with this event name, and the name of the same event here. `None` without a match.
    fn elsewhere(&self, event: &str) -> Option<(&'static str, &'static str)> {
        dialect::ALL.iter().find_map(|other| {
            let kind = other.spec_by_name(event)?.kind;
            let here = self.dialect.specs().iter().find(|spec| spec.kind == kind && kind != EventKind::OtherEvent)?;
            Some((other.name(), here.name))
        })
    }

    /// Compiles the matcher of the entry at `pointer`.
    pub(super) fn matcher(&mut self, event: &str, entry: Option<&MatcherEntry>, pointer: &str) -> Matcher {
        let pointer = format!("{pointer}/matcher");
        // The file is invalid already, and one error about its matchers is enough.
        if self.patterns.is_used_up() {
            return Matcher::Everything;
        }
        let spec = self.dialect.spec_by_name(event).unwrap_or(self.dialect.other_spec());
        let style = self.dialect.match_style_of(spec);
        let compiled = match entry {
            Some(MatcherEntry::Call(call)) => {
                match CallMatcher::compile_within(&mut self.patterns, &CallPatterns::from(call)) {
                    Ok(call) => Ok(Matcher::Call(Box::new(call))),
                    Err((part, at, error)) => Err((format!("{pointer}/{part}/{at}"), error)),
                }
            }
            entry => {
                let text = entry.map(ToString::to_string);
                Matcher::compile_within(&mut self.patterns, style.unwrap_or(MatchStyle::Whole), text.as_deref())
                    .map_err(|error| (pointer.clone(), error))
            }
        };
        let matcher = match compiled {
            Ok(matcher) => matcher,
            Err((place, error)) => {
                self.found.push(Finding::error(place, error.to_string()));
                return Matcher::Everything;
            }
        };
        // decisions.md#matchers: "Matchers are ignored for events that are not about a tool" (claude);
        // "`UserPromptSubmit`, `Stop` and `TaskCompleted` take no matcher (one given there is a configuration warning
        // and is ignored)" (blade).
        let ignored = match matcher {
            Matcher::Call(_) => spec.matched != Some("tool_name"),
            _ => style.is_none() || spec.matched.is_none(),
        };
        if ignored && !matches!(matcher, Matcher::Everything) {
            let message = format!("{} takes no matcher for {event}, so the hook runs every time", self.dialect.name());
            self.found.push(Finding::warning(&pointer, message));
        } else if let Some(MatcherEntry::Pattern(text)) = entry
            && !matches!(matcher, Matcher::Everything)
        {
            self.pattern_traps(spec, &matcher, text, &pointer);
        }
        if ignored { Matcher::Everything } else { matcher }
    }

    /// The wire names of events under `intercept`: `before_tool` is `hook.before_tool`. Reports unknown names as
    /// errors, because such a hook would never be called.
    pub(super) fn intercepts(&mut self, events: &[String], pointer: &str) -> Vec<String> {
        let specs = self.dialect.specs();
        let known: Vec<&str> = specs.iter().filter(|spec| spec.blockable).map(|spec| short(spec.name)).collect();
        let wire_name = |(index, event): (usize, &String)| {
            if let Some(spec) = specs.iter().find(|spec| spec.blockable && short(spec.name) == short(event)) {
                return spec.name.to_owned();
            }
            let (message, place) =
                (format!("{} never asks about `{event}`", self.dialect.name()), format!("{pointer}/intercept/{index}"));
            // decisions.md#picoclaw: "An unknown method is an interceptor."
            let later = event.starts_with("hook.") && nearest(short(event), known.iter().copied()).is_none();
            let finding = if later { Finding::warning(place, message) } else { Finding::error(place, message) };
            self.found.push(finding.help(suggestion(event, &known)));
            event.clone()
        };
        events.iter().enumerate().map(wire_name).collect()
    }

    /// Converts a hook to an observer of these kinds of events.
    pub(super) fn observer(&mut self, hook: Hook, kinds: &[String]) -> Hook {
        let known = self.dialect.kinds();
        for (index, kind) in kinds.iter().enumerate().filter(|(_, kind)| !is_kind(known, kind)) {
            let message = format!("{} has no kind of event `{kind}`", self.dialect.name());
            let finding = Finding::error(format!("{}/observe/{index}", hook.pointer), message);
            self.found.push(finding.help(suggestion(&legacy(kind), known)));
        }
        let specs = self.dialect.specs().iter().filter(|spec| spec.kind == EventKind::AgentEvent);
        let all = kinds.iter().any(|kind| is_every(kind));
        Hook {
            events: specs.map(|spec| spec.name.to_owned()).collect(),
            matcher_text: Some(kinds.join("|")),
            matcher: if all { Matcher::Everything } else { of_kinds(kinds) },
            observe_only: true,
            ..hook
        }
    }
}

/// Returns true if some client sends an event of this name. A file can be for several clients.
fn is_of_some_client(name: &str) -> bool {
    let sends =
        |dialect: &&dyn Dialect| dialect.spec_by_name(name).is_some() || dialect.usage().later_events.contains(&name);
    dialect::ALL.iter().any(sends)
}

/// Returns true if a word under `observe` means every kind.
fn is_every(kind: &str) -> bool {
    matches!(kind, "*" | "all")
}

/// Returns true if a word under `observe` is a valid kind: a known one in either spelling, or one from a part of the
/// client outside its agent loop. There is no list of the latter.
fn is_kind(known: &[&str], kind: &str) -> bool {
    let word = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let elsewhere = || kind.contains('.') && !kind.starts_with("agent.") && kind.split('.').all(word);
    is_every(kind) || known.contains(&legacy(kind).as_str()) || elsewhere()
}

/// A kind in the spelling of older client versions.
fn legacy(kind: &str) -> String {
    kind.strip_prefix("agent.").unwrap_or(kind).replace('.', "_")
}

/// A matcher for these kinds in the spelling of any client version. decisions.md#picoclaw: "`tool_exec_start` and
/// `agent.tool.exec_start` are one kind: a configuration stays valid across updates of the client."
fn of_kinds(kinds: &[String]) -> Matcher {
    let pattern = |kind: &String| {
        let word = kind.strip_prefix("agent.").unwrap_or(kind);
        word.split(['_', '.']).map(regex::escape).collect::<Vec<_>>().join("[._]")
    };
    let kinds_pattern = format!("(?:agent[.])?(?:{})", kinds.iter().map(pattern).collect::<Vec<_>>().join("|"));
    // Escaped names always compile, unless the list is too large for the regex engine. Then they match literally.
    Matcher::compile(MatchStyle::Whole, Some(&kinds_pattern)).unwrap_or_else(|_| Matcher::Names(kinds.to_vec()))
}

/// A method's name without picoclaw's `hook.` prefix.
fn short(name: &str) -> &str {
    name.strip_prefix("hook.").unwrap_or(name)
}
