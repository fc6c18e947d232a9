//! Reports for users and log collectors. Never on stdout, which is for the protocol.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

pub use hookbox::explain::{asides, first_line, short_name as name, time, word};
use hookbox::{
    BuildError, HookError, HookReport, LogLine, Verdict,
    config::{ConfigErrors, Diagnostic, Loaded},
};
use serde_json::{Value, json};

use crate::{
    diagnostics,
    exit::Failure,
    print,
    terminal::{self, Tone},
    warned,
};

/// Prints a verdict: the outcome, then a line per hook with its notes below.
pub fn human(verdict: &Verdict) {
    let word = verdict.output().word();
    print::err(format_args!("hookbox: {} under {}: {word}", verdict.event, verdict.dialect));
    let width = verdict.hooks.iter().map(|hook| name(hook).chars().count()).max().unwrap_or_default();
    for hook in &verdict.hooks {
        print::err(format!("  {:width$}  {}", name(hook), outcome(hook)).trim_end());
        for line in asides(hook) {
            print::err(format_args!("  {:width$}  {line}", ""));
        }
    }
    for (_, note) in &verdict.outcome.notes {
        print::err(format_args!("  {}: {}", note.kind.word(), note.text));
    }
}

/// Prints one line per failed hook.
pub fn failures(verdict: &Verdict) {
    for hook in &verdict.hooks {
        if let Some(failure) = hook.run().and_then(|run| run.result.as_ref().err()) {
            print::err(format_args!("hookbox: {}: hook {} failed: {failure}", verdict.event, name(hook)));
        }
    }
}

/// Prints one JSON object per hook, then one for the verdict.
pub fn json_lines(verdict: &Verdict) {
    for hook in &verdict.hooks {
        print::json_line(&hook_json(hook));
    }
    let notes: Vec<Value> = verdict.outcome.notes.iter().map(|(_, note)| note_json(note)).collect();
    print::json_line(&json!({
        "event": verdict.event, "dialect": verdict.dialect, "verdict": verdict.output().word(),
        "clause": verdict.outcome.clause, "notes": notes,
    }));
}

/// A verdict as JSON: the outcome with its rule, the response of the client's protocol, and each hook.
pub fn json(verdict: &Verdict) -> Value {
    let notes: Vec<Value> = verdict.outcome.notes.iter().map(|(_, note)| note_json(note)).collect();
    json!({
        "event": verdict.event, "dialect": verdict.dialect, "verdict": verdict.output().word(),
        "clause": verdict.outcome.clause, "explanation": verdict.explain(), "output": verdict.wire, "notes": notes,
        "hooks": verdict.hooks.iter().map(hook_json).collect::<Vec<_>>(),
    })
}

/// Prints an error with its causes.
pub fn error(error: &anyhow::Error) {
    let found = found_in(error);
    if found.is_empty() {
        let own = error.downcast_ref::<Failure>().map(|failure| failure.lines.clone());
        let text = own.unwrap_or_else(|| vec![causes(error)]);
        if print::is_json() {
            return print::json_line(&json!({ "severity": "error", "message": text.join("\n") }));
        }
        let mut text = text.iter();
        let word = terminal::word("error", Tone::Bad, terminal::colours(&io::stderr()));
        print::safe_err(&format!("{word}: {}", print::plain(text.next().map_or("", String::as_str))));
        text.for_each(print::err);
    }
    problems(shown(found));
}

/// The condition for printing warnings about a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowWarnings {
    /// Each time it is loaded.
    Always,
    /// Only the first time that the current version is loaded, because a client starts hookbox for every event.
    Once,
    /// Never.
    Never,
}

static WHEN: Mutex<ShowWarnings> = Mutex::new(ShowWarnings::Always);

/// Sets the condition for printing warnings.
pub fn show_warnings(when: ShowWarnings) {
    *WHEN.lock().unwrap_or_else(PoisonError::into_inner) = when;
}

/// Prints the warnings about a configuration.
pub fn warnings(loaded: &Loaded) {
    let when = *WHEN.lock().unwrap_or_else(PoisonError::into_inner);
    let Loaded { config, warnings, .. } = loaded;
    if !warnings.is_empty() && (when == ShowWarnings::Always || when == ShowWarnings::Once && warned::first(config)) {
        problems(warnings);
    }
}

/// Prints the errors of a configuration, and its warnings if these are shown.
pub fn errors(errors: &ConfigErrors) {
    problems(shown(&errors.diagnostics));
}

/// The diagnostics without warnings, if these are not shown.
fn shown<'a>(all: impl IntoIterator<Item = &'a Diagnostic>) -> impl Iterator<Item = &'a Diagnostic> {
    let never = *WHEN.lock().unwrap_or_else(PoisonError::into_inner) == ShowWarnings::Never;
    all.into_iter().filter(move |found| !never || found.is_error())
}

/// Prints diagnostics.
pub fn problems<'a>(found: impl IntoIterator<Item = &'a Diagnostic>) {
    diagnostics::err(&found.into_iter().collect::<Vec<_>>());
}

/// The diagnostics in an error.
fn found_in(error: &anyhow::Error) -> Vec<&Diagnostic> {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.unusable.iter().collect();
    }
    let build = error.downcast_ref::<BuildError>();
    let config = match build {
        Some(BuildError::Config(errors)) => Some(errors),
        _ => error.downcast_ref::<ConfigErrors>(),
    };
    match (config, build) {
        (Some(errors), _) => errors.diagnostics.iter().collect(),
        (None, Some(BuildError::Hook(HookError(diagnostic)))) => vec![diagnostic],
        _ => Vec::new(),
    }
}

/// An error on one line.
pub fn one_line(error: &anyhow::Error) -> String {
    let text = causes(error);
    text.strip_prefix("error: ").unwrap_or(&text).lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// An error with its causes, without those that repeat earlier text.
fn causes(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// One hook on a line: word, time, fuel, reason.
pub fn outcome(hook: &HookReport) -> String {
    let Some(ran) = hook.run() else { return hook.word().to_owned() };
    let mut line = format!("{:8} {:>8}", word(hook), time(ran.time));
    if let Some(fuel) = ran.fuel {
        line.extend([format!("  {fuel} fuel")]);
    }
    match &ran.result {
        Ok(output) => line.extend(output.reason.iter().map(|reason| format!("  {}", first_line(reason)))),
        Err(failure) => line.extend([format!("  {failure}")]),
    }
    line
}

/// The hook's record, with its log.
fn hook_json(hook: &HookReport) -> Value {
    let mut line = json!(hook.record());
    // The verdict has the full text, so it is shortened for log collectors.
    for key in ["hook", "reason", "message"] {
        if let Some(Value::String(text)) = line.get_mut(key) {
            *text = hookbox::shorten(text, REASON);
        }
    }
    if let (Some(ran), Some(line)) = (hook.run(), line.as_object_mut()) {
        let log = |log: &LogLine| json!({ "level": log.level.word(), "message": log.message });
        line.insert("logs".into(), ran.logs.iter().map(log).collect());
    }
    line
}

fn note_json(note: &hookbox::Note) -> Value {
    json!({ "kind": note.kind.word(), "text": note.text })
}

/// The maximum length of a reason in a JSON object, in characters.
const REASON: usize = 4096;
