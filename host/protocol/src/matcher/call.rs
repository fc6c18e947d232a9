//! Blade's matchers `{tools, paths, commands}`, which inspect more of a call than the tool's name.
//!
//! blade-observed.md#matchers: "`tools` names tools exactly and case-sensitively"; "`commands` is the whole command,
//! unless it has signs of a regular expression".

use regex_automata::meta::Regex;
use serde_json::Value;

use super::{Budget, MatchError};
use crate::event::ToolCall;

/// Such a matcher in a configuration. An empty list is the same as a missing one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallPatterns {
    /// Tools by name, optionally with a glob on their command: `Bash(touch*)`.
    pub tools: Vec<String>,
    /// Files and folders.
    pub paths: Vec<String>,
    /// Whole commands.
    pub commands: Vec<String>,
}

/// The compiled form of [`CallPatterns`].
#[derive(Debug, Clone)]
pub struct CallMatcher {
    tools: Vec<Tool>,
    paths: Vec<Text>,
    commands: Vec<Text>,
}

#[derive(Debug, Clone)]
enum Text {
    Exact(String),
    Pattern(Regex),
}

#[derive(Debug, Clone)]
struct Tool {
    names: Vec<Text>,
    /// The glob on the command.
    command: Option<Text>,
}

/// The arguments that can have paths. The spelling differs between clients.
const PATHS: [&str; 6] = ["file_path", "filePath", "notebook_path", "path", "paths", "affected_paths"];

impl CallMatcher {
    /// Compiles a matcher.
    ///
    /// # Errors
    /// The name of the invalid list, the index in the list, and the error.
    pub fn compile(patterns: &CallPatterns) -> Result<Self, (&'static str, usize, MatchError)> {
        Self::compile_within(&mut Budget::default(), patterns)
    }

    /// Compiles a matcher of a configuration. All matchers of a configuration share a budget.
    ///
    /// # Errors
    /// The errors of [`CallMatcher::compile`], and [`MatchError::TooLarge`].
    pub fn compile_within(
        budget: &mut Budget,
        patterns: &CallPatterns,
    ) -> Result<Self, (&'static str, usize, MatchError)> {
        Ok(Self {
            tools: each(budget, "tools", &patterns.tools, Tool::compile)?,
            paths: each(budget, "paths", &patterns.paths, path)?,
            commands: each(budget, "commands", &patterns.commands, Text::compile)?,
        })
    }

    /// Returns true if the matcher may accept a call of this tool.
    pub(super) fn may_match(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|meant| meant.names.iter().any(|name| name.matches(tool)))
    }

    /// Returns true if the matcher accepts the call. `also_called` are other names of its tool. Paths may be relative
    /// to the folder `project`.
    pub fn matches(&self, call: &ToolCall, also_called: &[&str], project: Option<&str>) -> bool {
        let command = call.input.get("command").and_then(Value::as_str);
        let named = |tool: &Tool| {
            let names = [call.name.as_str()].into_iter().chain(also_called.iter().copied());
            names.into_iter().any(|name| tool.matches(name, command))
        };
        let touched = |path: &Text| {
            let found = PATHS.iter().filter_map(|key| call.input.get(*key));
            let mut texts = found.flat_map(|value| match value {
                Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
                other => Vec::from_iter(other.as_str()),
            });
            texts.any(|text| spellings(text, project).any(|spelling| path.matches(spelling)))
        };
        (self.tools.is_empty() || self.tools.iter().any(named))
            && (self.paths.is_empty() || self.paths.iter().any(touched))
            && (self.commands.is_empty() || command.is_some_and(|text| self.commands.iter().any(|c| c.matches(text))))
    }
}

/// Returns the spellings of a path: unchanged, and relative to the project.
fn spellings<'a>(path: &'a str, project: Option<&str>) -> impl Iterator<Item = &'a str> {
    let within = project.and_then(|project| path.strip_prefix(project.trim_end_matches('/'))?.strip_prefix('/'));
    [Some(path), within, path.strip_prefix("./")].into_iter().flatten()
}

fn each<T>(
    budget: &mut Budget,
    part: &'static str,
    patterns: &[String],
    compile: impl Fn(&mut Budget, &str) -> Result<T, MatchError>,
) -> Result<Vec<T>, (&'static str, usize, MatchError)> {
    // blade-observed.md#matchers: "`""` is every tool."
    if patterns.iter().any(String::is_empty) {
        return Ok(Vec::new());
    }
    let compile = |(at, pattern): (usize, &String)| {
        budget.names(pattern).and_then(|()| compile(budget, pattern)).map_err(|error| (part, at, error))
    };
    patterns.iter().enumerate().map(compile).collect()
}

impl Tool {
    fn compile(budget: &mut Budget, pattern: &str) -> Result<Self, MatchError> {
        let plain = |c: char| c.is_alphanumeric() || "_-".contains(c);
        // "`Bash(touch*)` is the tool, and a glob on its command."
        if let Some((name, glob)) = pattern.strip_suffix(')').and_then(|rest| rest.split_once('('))
            && name.chars().all(plain)
            && !name.is_empty()
        {
            return Ok(Self { names: vec![Text::Exact(name.into())], command: Some(glob_of(budget, glob, ".")?) });
        }
        // "names joined by `|` are a list of exact names"
        let names = if pattern.contains('|') {
            pattern.split('|').map(|name| Text::Exact(name.into())).collect()
        } else {
            vec![Text::compile(budget, pattern)?]
        };
        Ok(Self { names, command: None })
    }

    fn matches(&self, name: &str, command: Option<&str>) -> bool {
        self.names.iter().any(|text| text.matches(name))
            && self.command.as_ref().is_none_or(|glob| command.is_some_and(|command| glob.matches(command)))
    }
}

impl Text {
    fn compile(budget: &mut Budget, pattern: &str) -> Result<Self, MatchError> {
        if pattern.contains(SIGNS) {
            budget.regex(pattern, pattern).map(Self::Pattern)
        } else {
            Ok(Self::Exact(pattern.into()))
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == text,
            Self::Pattern(regex) => regex.is_match(text),
        }
    }
}

/// Characters that mark a regular expression.
const SIGNS: [char; 14] = ['.', '*', '+', '?', '^', '$', '(', ')', '[', ']', '{', '}', '|', '\\'];

/// Compiles a path pattern. decisions.md#blade-observed: "`paths` was not measured: it is a glob, or a regular
/// expression if it has characters of one". Globs have `*`, `?` and `.` too.
fn path(budget: &mut Budget, pattern: &str) -> Result<Text, MatchError> {
    let only_regex = |c: char| SIGNS.contains(&c) && !".*?".contains(c);
    if pattern.contains(only_regex) {
        return budget.regex(pattern, pattern).map(Text::Pattern);
    }
    // A glob without a slash matches file names in any folder.
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    glob_of(budget, &anywhere, "[^/]")
}

/// Compiles a glob. `*` is any number of `one`, `**` is any text. `**/` may also be empty.
fn glob_of(budget: &mut Budget, glob: &str, one: &str) -> Result<Text, MatchError> {
    // No text has a NUL, so NUL protects `**` from the replacement of `*`.
    let source = regex::escape(glob)
        .replace(r"\*\*/", "(?:\0/)?")
        .replace(r"\*\*", "\0")
        .replace(r"\*", &format!("{one}*"))
        .replace(r"\?", one)
        .replace('\0', ".*");
    budget.regex(glob, &format!("(?s)^(?:{source})$")).map(Text::Pattern)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matches(patterns: &CallPatterns, tool: &str, input: Value) -> bool {
        CallMatcher::compile(patterns).unwrap().matches(&ToolCall::new(tool, input), &[], Some("/project"))
    }

    fn tools(pattern: &str) -> CallPatterns {
        CallPatterns { tools: vec![pattern.into()], ..CallPatterns::default() }
    }

    #[test]
    fn tools_are_names_lists_of_names_or_patterns() {
        let bash = |pattern: &str| matches(&tools(pattern), "Bash", json!({ "command": "touch a/b" }));
        for pattern in ["Bash", "", "Write|Bash", "Ba.*", "as", "Bash(touch*)", "Bash(touch a?b)", "^Bash$"] {
            assert_eq!(bash(pattern), pattern != "as", "{pattern}");
        }
        for pattern in ["bash", "Write", "Wri.*|Ba.*", "Bash(rm*)", "Bash(touch)", "Write(touch*)"] {
            assert!(!bash(pattern), "{pattern}");
        }
    }

    #[test]
    fn the_tool_of_an_unreadable_call_decides() {
        let patterns = CallPatterns { commands: vec!["rm".into()], paths: vec!["/a".into()], ..tools("Bash(touch*)") };
        let matcher = CallMatcher::compile(&patterns).unwrap();
        assert!(matcher.may_match("Bash") && !matcher.may_match("Write"));
    }

    #[test]
    fn commands_are_whole_or_patterns() {
        let ran = |pattern: &str| {
            let patterns = CallPatterns { commands: vec![pattern.into()], ..CallPatterns::default() };
            matches(&patterns, "Bash", json!({ "command": "touch made.txt; echo" }))
        };
        assert!(ran("touch made.txt; echo") && ran("touch.*") && ran("^touch") && ran(""));
        assert!(!ran("touch") && !ran("rm.*"));
    }

    #[test]
    fn paths_are_globs_or_patterns_as_written_or_within_the_project() {
        let touches = |pattern: &str, path: &str| {
            let patterns = CallPatterns { paths: vec![pattern.into()], ..CallPatterns::default() };
            matches(&patterns, "Write", json!({ "file_path": path }))
        };
        let yes = [
            ("src/**", "/project/src/a/b.ts"),
            ("**/*.ts", "/project/src/a.ts"),
            ("*.env", "/project/deep/x.env"),
            (".env", "/project/.env"),
            ("/project/a", "/project/a"),
            ("src/*.ts", "src/a.ts"),
            (r"\.pem$", "/project/key.pem"),
            ("a", "./a"),
        ];
        for (pattern, path) in yes {
            assert!(touches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [("src/*", "/project/src/a/b"), ("*.ts", "/project/a.tsx"), (".env", "/project/xenv")] {
            assert!(!touches(pattern, path), "{pattern} {path}");
        }
        assert!(!matches(&CallPatterns { paths: vec!["a".into()], ..CallPatterns::default() }, "Bash", json!({})));
    }

    #[test]
    fn every_part_must_match_and_an_invalid_pattern_is_reported() {
        let both = CallPatterns { commands: vec!["ls".into()], ..tools("Bash") };
        assert!(matches(&both, "Bash", json!({ "command": "ls" })));
        assert!(!matches(&both, "Bash", json!({ "command": "rm" })));
        assert!(!matches(&both, "Exec", json!({ "command": "ls" })));
        assert!(matches(&CallPatterns::default(), "Anything", json!({})));
        let bad = CallPatterns { commands: vec!["ls".into(), "a(".into()], ..CallPatterns::default() };
        assert_eq!(CallMatcher::compile(&bad).map_err(|(part, at, _)| (part, at)).err(), Some(("commands", 1)));
    }
}
