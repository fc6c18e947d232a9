//! Findings about one call of a program.

mod code;
mod devices;
mod files;
mod git;
mod table;

use hookbox_shell::{Call, Word};

use crate::config::Config;

/// A reason to hold a command back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    /// It cannot be undone, and reaches far.
    pub(crate) grave: bool,
    pub(crate) why: String,
}

/// Kinds of commands, as the configuration has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Files,
    Devices,
    Git,
    Packages,
    System,
    Services,
    Downloads,
    Unseen,
}

/// Longest command that a reason quotes, in characters.
const MOST_QUOTED: usize = 80;

/// Everything that is wrong with a call.
pub(crate) fn check(call: &Call, config: &Config) -> Vec<Finding> {
    let mut found = devices::check(call);
    found.extend(files::check(call, config));
    found.extend(git::check(call));
    found.extend(table::check(call));
    found.extend(code::check(call, config));
    // The worst first.
    found.sort_by_key(|finding| !finding.grave);
    found
}

/// A finding whose reason begins with the call.
pub(crate) fn finding(kind: Kind, grave: bool, call: &Call, what: &str) -> Finding {
    Finding { kind, grave, why: format!("{} {what}", quoted(call)) }
}

/// The call as a reason shows it.
fn quoted(call: &Call) -> String {
    let words = std::iter::once(call.program.as_str()).chain(call.args.iter().map(|arg| arg.text.as_str()));
    let text: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let text = text.join(" ").replace(hookbox_shell::UNKNOWN, "…");
    let mut shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST_QUOTED).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    if shown.is_empty() { "a redirection".to_owned() } else { format!("`{shown}`") }
}

/// Returns true if one of the arguments is one of these words.
pub(crate) fn has(call: &Call, words: &[&str]) -> bool {
    call.args.iter().any(|arg| words.contains(&arg.text.as_str()))
}

/// Returns true if a short option is given, alone or among others: `-rf` has `r`.
pub(crate) fn has_short(call: &Call, letter: char) -> bool {
    options(call).any(|option| !option.starts_with("--") && option.contains(letter))
}

/// Returns true if a long option is given, also as GNU lets it be shortened, or with a value.
pub(crate) fn has_long(call: &Call, name: &str, shortest: usize) -> bool {
    options(call).filter_map(|option| option.strip_prefix("--")).any(|option| {
        let option = option.split('=').next().unwrap_or_default();
        option.len() >= shortest && name.starts_with(option)
    })
}

fn options(call: &Call) -> impl Iterator<Item = &str> {
    let texts = call.args.iter().map(|arg| arg.text.as_str());
    texts.take_while(|text| *text != "--").filter(|text| text.starts_with('-'))
}

/// The arguments that are no options.
pub(crate) fn operands(call: &Call) -> impl Iterator<Item = &Word> {
    let mut ended = false;
    call.args.iter().filter(move |arg| {
        let option = !ended && arg.text.starts_with('-') && arg.text.len() > 1;
        if arg.text == "--" {
            ended = true;
        }
        !option
    })
}
