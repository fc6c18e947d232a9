//! The explanation of a verdict: each hook's part, the hook that decided, and the sentence of the specification.

use std::time::Duration;

use crate::{
    config::Mode,
    verdict::{HookReport, Status, Verdict},
};

/// The longest line of an explanation, in characters.
const LINE: usize = 1000;
/// The longest name of a hook in an explanation, in characters.
const NAME: usize = 40;

impl Verdict {
    /// The index in [`Verdict::hooks`] of the hook that decided: the first whose counted output is the outcome,
    /// preferably with the outcome's reason. A hook in monitor mode never decides. `None`: no hook had an output.
    pub fn decider(&self) -> Option<usize> {
        let output = self.output();
        if output.is_silent() {
            return None;
        }
        let says = |hook: &HookReport| !hook.counted.is_silent() && hook.counted.word() == output.word();
        let gives_the_reason = |hook: &&HookReport| self.reason().is_some() && reason(hook) == self.reason();
        let decides = |hook: &&HookReport| hook.mode == Mode::Enforce && says(hook);
        let mut candidates = self.hooks.iter().filter(decides);
        let first = candidates.clone().next();
        let found = candidates.find(gives_the_reason).or(first)?;
        self.hooks.iter().position(|hook| std::ptr::eq(hook, found))
    }

    /// The lines of the explanation: the event, each hook's part, and what decided. They do not include the JSON for
    /// the client.
    pub fn explain(&self) -> Vec<String> {
        let profile = if self.dialect.contains('@') { "" } else { " (documented)" };
        let tool = self.tool.as_deref().map(|tool| format!("  {tool}")).unwrap_or_default();
        let mut lines = vec![format!("{}{tool}  under {}{profile}", self.event, self.dialect)];
        let width = |text: &dyn Fn(&HookReport) -> String| {
            self.hooks.iter().map(|hook| text(hook).chars().count()).max().unwrap_or_default()
        };
        let (name, matched) = (width(&short_name), width(&matching));
        for (number, hook) in (1..).zip(&self.hooks) {
            let line =
                format!("{number:3}  {:name$}  {:matched$}  {}", short_name(hook), matching(hook), decision(hook));
            lines.push(line.trim_end().to_owned());
            lines.extend(asides(hook).into_iter().map(|aside| format!("     {:name$}  {aside}", "")));
        }
        if self.hooks.is_empty() {
            lines.push(format!("  no hook is configured for {}", self.event));
        }
        let (place, sentence) = self.outcome.clause.split_once(": ").unwrap_or(("", self.outcome.clause));
        lines.push(format!("verdict  {}   \"{sentence}\"  {place}", self.outcome.output.word()).trim_end().to_owned());
        if let Some((index, hook)) = self.decider().and_then(|index| Some((index, self.hooks.get(index)?))) {
            lines.push(format!("by       {}  {}", index + 1, short_name(hook)));
        }
        lines.extend(self.outcome.output.reason.iter().map(|reason| format!("reason   {}", first_line(reason))));
        if let Some(would_be) = &self.would_be {
            lines.push(format!("would be {} if monitor-mode hooks were enforced", would_be.output.word()));
        }
        let dropped: Vec<String> = self.dropped().collect();
        let (first, rest) = dropped.split_first().map_or(("nothing", &[][..]), |(first, rest)| (first.as_str(), rest));
        lines.push(format!("dropped  {first}"));
        lines.extend(rest.iter().map(|text| format!("         {text}")));
        lines
    }

    fn dropped(&self) -> impl Iterator<Item = String> {
        let of_hooks = self.hooks.iter().flat_map(|hook| match &hook.status {
            Status::Ran(ran) => ran.notes.iter().map(|note| format!("{}: {}", short_name(hook), note.text)).collect(),
            _ => Vec::new(),
        });
        of_hooks.chain(self.outcome.notes.iter().map(|(_, note)| note.text.clone()))
    }
}

/// The reason in a hook's counted output.
fn reason(hook: &HookReport) -> Option<&str> {
    let halt = hook.counted.halt.as_ref().and_then(|halt| halt.reason.as_deref());
    halt.or(hook.counted.reason.as_deref())
}

fn matching(hook: &HookReport) -> String {
    let pattern = hook.matcher.as_deref().filter(|pattern| !pattern.is_empty()).unwrap_or("*");
    let verb = if matches!(hook.status, Status::NotMatched) { "not matched" } else { "matched" };
    format!("{verb} \"{pattern}\"")
}

fn decision(hook: &HookReport) -> String {
    match &hook.status {
        Status::NotMatched => String::new(),
        Status::NotHandled => "the component does not handle this event".into(),
        Status::NotReached => "not reached: an earlier hook ended the event".into(),
        Status::Ran(ran) => {
            let text = match &ran.result {
                Ok(output) => output.reason.as_deref().map(first_line).unwrap_or_default(),
                Err(failure) => failure.to_string(),
            };
            let fuel = ran.fuel.map(|fuel| format!("   {fuel} fuel")).unwrap_or_default();
            format!("{:8} {text}   {}{fuel}", word(hook), time(ran.time))
        }
    }
}

/// A hook's name, shortened for a column.
pub fn short_name(hook: &HookReport) -> String {
    crate::shorten(&hook.name, NAME)
}

/// A hook's decision or status, with a mark for monitor mode.
pub fn word(hook: &HookReport) -> String {
    let watched = if hook.mode == Mode::Monitor { " (monitor)" } else { "" };
    format!("{}{watched}", hook.word())
}

/// Notes and log lines of a hook.
pub fn asides(hook: &HookReport) -> Vec<String> {
    let Some(ran) = hook.run() else { return Vec::new() };
    let notes = ran.notes.iter().map(|note| format!("{}: {}", note.kind.word(), note.text));
    let logs = ran.logs.iter().map(|line| format!("log {}: {}", line.level.word(), line.message));
    notes.chain(logs).collect()
}

/// A duration in the unit that a person would use.
pub fn time(time: Duration) -> String {
    match time.as_micros() {
        micros @ ..1_000 => format!("{micros} µs"),
        micros @ ..1_000_000 => format!("{} ms", micros / 1_000),
        micros => format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10),
    }
}

/// The first line of a text, with `…` if there are more.
pub fn first_line(text: &str) -> String {
    let first = text.split_once('\n').map_or_else(|| text.to_owned(), |(first, _)| format!("{first} …"));
    crate::shorten(&first, LINE)
}
