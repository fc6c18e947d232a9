//! What people and log collectors read: never stdout, which is protocol.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use hookbox::{
    BuildError, HookError, HookReport, LogLine, Mode, Verdict,
    config::{ConfigErrors, Diagnostic, Loaded},
};
use serde_json::{Value, json};

use crate::{exit::Failure, print, warned};

/// One block per verdict: what was decided, then a line per hook with its notes below.
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

/// One line per hook that failed.
pub fn failures(verdict: &Verdict) {
    for hook in &verdict.hooks {
        if let Some(failure) = hook.run().and_then(|run| run.result.as_ref().err()) {
            print::err(format_args!("hookbox: {}: hook {} failed: {failure}", verdict.event, name(hook)));
        }
    }
}

/// A hook's name, short enough for a column.
pub fn name(hook: &HookReport) -> String {
    hookbox::shorten(&hook.name, 40)
}

/// One JSON object per hook, then one for the verdict.
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

/// An error and its causes, as a person wants to read it.
pub fn error(error: &anyhow::Error) {
    let found = diagnostics(error);
    if found.is_empty() {
        let own = error.downcast_ref::<Failure>().map(|failure| failure.lines.clone());
        let text = own.unwrap_or_else(|| vec![causes(error)]);
        if print::is_json() {
            return print::json_line(&json!({ "severity": "error", "message": text.join("\n") }));
        }
        let mut text = text.iter();
        print::err(format_args!("error: {}", text.next().map_or("", String::as_str)));
        text.for_each(print::err);
    }
    found.into_iter().for_each(problem);
}

/// When warnings about a configuration are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Whenever it is loaded.
    Always,
    /// When it is loaded as it is now for the first time: a client starts us for every event.
    Once,
    /// Not at all.
    Never,
}

static TOLD: Mutex<Told> = Mutex::new(Told::Always);

/// From now on warnings about configurations are printed so.
pub fn tell_warnings(when: Told) {
    *TOLD.lock().unwrap_or_else(PoisonError::into_inner) = when;
}

/// What in a configuration has no effect.
pub fn warnings(loaded: &Loaded) {
    let when = *TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    let Loaded { config, warnings } = loaded;
    if !warnings.is_empty() && (when == Told::Always || when == Told::Once && warned::first(config)) {
        warnings.iter().for_each(problem);
    }
}

/// Something that is wrong with a configuration or a hook.
pub fn problem(diagnostic: &Diagnostic) {
    if !print::is_json() {
        return print::lines(diagnostic).into_iter().for_each(print::err);
    }
    let Diagnostic { file, pointer, line, message, help, .. } = diagnostic;
    let severity = print::severity(diagnostic);
    let file = file.to_string_lossy();
    print::json_line(&json!({
        "severity": severity, "message": message, "file": file, "pointer": pointer, "line": line, "help": help,
    }));
}

/// What an error says is wrong with a configuration or a hook.
fn diagnostics(error: &anyhow::Error) -> Vec<&Diagnostic> {
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

/// The chain of causes, without those that only repeat what was said.
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

/// What became of a hook, marked where it is only watched.
pub fn word(hook: &HookReport) -> String {
    let watched = if hook.mode == Mode::Monitor { " (monitor)" } else { "" };
    format!("{}{watched}", hook.word())
}

/// One hook: word, time, fuel, reason.
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

/// Notes and log lines of a hook.
pub fn asides(hook: &HookReport) -> Vec<String> {
    let Some(ran) = hook.run() else { return Vec::new() };
    let notes = ran.notes.iter().map(|note| format!("{}: {}", note.kind.word(), note.text));
    let logs = ran.logs.iter().map(|line| format!("log {}: {}", line.level.word(), line.message));
    notes.chain(logs).collect()
}

/// The hook's record, with what it wrote to the log.
fn hook_json(hook: &HookReport) -> Value {
    let mut line = json!(hook.record());
    // The verdict has all of it; a collector of logs need not have it again.
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

/// A duration in the unit a person would use.
pub fn time(time: Duration) -> String {
    match time.as_micros() {
        micros @ ..1_000 => format!("{micros} µs"),
        micros @ ..1_000_000 => format!("{} ms", micros / 1_000),
        micros => format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10),
    }
}

/// Characters of a reason in one object at most.
const REASON: usize = 4096;

/// Characters of a reason on one line at most.
const LINE: usize = 1000;

/// The first line of a text, with `…` where there are more.
pub fn first_line(text: &str) -> String {
    let first = text.split_once('\n').map_or_else(|| text.to_owned(), |(first, _)| format!("{first} …"));
    hookbox::shorten(&first, LINE)
}
