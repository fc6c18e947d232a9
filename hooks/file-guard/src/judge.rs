//! From a call of a tool to what is wrong with it.

use hookbox_guest::serde_json::Value;
use hookbox_shell::UNKNOWN;

use crate::access::{self, Access, Kind};
use crate::config::{Config, Decision, Unseen};
use crate::pattern::Pattern;
use crate::place::place;
use crate::protected::{FREE, READABLE, SECRETS, SETTINGS};

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The tool's name, as its client has it.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Value,
    /// The folder in which relative paths begin.
    pub folder: Option<&'a str>,
}

/// Different files of a call at most.
const MOST_FILES: usize = 256;
/// Longest path that a reason quotes, in characters.
const MOST_QUOTED: usize = 120;

/// The objection to a call and the decision on it, if there is one.
pub fn judge(asked: &Asked<'_>, config: &Config) -> Option<(String, Decision)> {
    let folder = asked.folder.map(|folder| place(folder, None));
    let accesses = access::all(asked.tool, asked.input, folder.as_ref());
    if accesses.is_empty() {
        return None;
    }
    if accesses.len() > MOST_FILES {
        let why = format!("it names more than {MOST_FILES} files, which the guard does not look through");
        return Some((why, config.decision));
    }
    let rules = Rules {
        secrets: patterns(&config.read, SECRETS, config.builtin),
        settings: patterns(&config.write, SETTINGS, config.builtin),
        free: patterns(&config.allow, FREE, config.builtin),
        readable: patterns(&[], READABLE, config.builtin),
    };
    let found = accesses.iter().find_map(|access| {
        let pattern = rules.protecting(access)?;
        let verb = if access.kind == Kind::Write { "writing" } else { "reading" };
        let path = shown(&access.path);
        Some((format!("{verb} {path} is not allowed here: `{pattern}` is protected"), config.decision))
    });
    let unseen = || {
        let unknown = accesses.iter().find(|access| access.by_command && access.place.is_unknown())?;
        let why = format!("a file is read whose name is known only when the command runs: {}", shown(&unknown.path));
        Some((why, Decision::Ask)).filter(|_| config.unseen == Unseen::Ask)
    };
    found.or_else(unseen)
}

struct Rules<'p> {
    secrets: Vec<Pattern<'p>>,
    settings: Vec<Pattern<'p>>,
    free: Vec<Pattern<'p>>,
    readable: Vec<Pattern<'p>>,
}

fn patterns<'p>(own: &'p [String], known: &[&'static str], builtin: bool) -> Vec<Pattern<'p>> {
    let known = known.iter().filter(|_| builtin).copied();
    own.iter().map(String::as_str).chain(known).map(Pattern::new).collect()
}

impl Rules<'_> {
    /// The pattern that keeps a file from being used so.
    fn protecting(&self, access: &Access) -> Option<&str> {
        let readable = self.readable.iter().filter(|_| access.kind == Kind::Read);
        let mut free = self.free.iter().chain(readable);
        if !access.place.is_glob() && free.any(|pattern| pattern.matches(&access.place)) {
            return None;
        }
        let settings = self.settings.iter().filter(|_| access.kind == Kind::Write);
        let is = |pattern: &&Pattern<'_>| {
            pattern.matches(&access.place) || access.kind == Kind::Search && pattern.is_within(&access.place)
        };
        self.secrets.iter().chain(settings).find(is).map(|pattern| pattern.text)
    }
}

fn shown(path: &str) -> String {
    let path = path.replace(UNKNOWN, "…");
    path.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST_QUOTED).collect()
}
