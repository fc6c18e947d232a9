//! The options that name the event of a command: `--event NAME`, and `--input FILE` unless it comes on stdin.

use std::path::{Path, PathBuf};

use hookbox::{
    Dialect,
    config::{Misnamed, misnamed},
};

use crate::exit::Exit;

/// Separates the event's name from its files. Until 0.1 `--event` took the file, so a value that can only be a path
/// still counts as one.
pub fn split(event: Vec<String>, mut inputs: Vec<PathBuf>) -> anyhow::Result<(Option<String>, Vec<PathBuf>)> {
    let (files, mut names): (Vec<_>, Vec<_>) = event.into_iter().partition(|value| is_path(value));
    inputs.extend(files.into_iter().map(PathBuf::from));
    let name = names.pop();
    match names.first() {
        None => Ok((name, inputs)),
        Some(first) => {
            let second = name.unwrap_or_default();
            Err(Exit::Usage.error(format!("give `--event` once, not both `{first}` and `{second}`")))
        }
    }
}

/// Like [`split`], for commands with a single event.
pub fn one(event: Vec<String>, input: Option<PathBuf>) -> anyhow::Result<(Option<String>, Option<PathBuf>)> {
    let (name, mut inputs) = split(event, input.into_iter().collect())?;
    let file = inputs.pop();
    match (inputs.is_empty(), file) {
        (true, file) => Ok((name, file)),
        (false, _) => Err(Exit::Usage.error("two event files: give one with `--input`")),
    }
}

/// Returns true if a value of `--event` is a path: it contains a slash, ends in `.json`, or is the name of a file and
/// not of an event.
fn is_path(value: &str) -> bool {
    let known = || hookbox::dialect::ALL.iter().any(|dialect| dialect.spec_by_name(value).is_some());
    value.contains('/')
        || Path::new(value).extension().is_some_and(|extension| extension == "json")
        || (!known() && Path::new(value).is_file())
}

/// Rejects a name that is probably misspelt, because its hooks would not be called.
///
/// # Errors
/// The name is unknown in all dialects and resembles one of the dialect's events.
pub fn check(dialect: &dyn Dialect, name: Option<&str>) -> anyhow::Result<()> {
    match name.and_then(|name| misnamed(dialect, name)) {
        Some(Misnamed { name, near, .. }) => {
            Err(Exit::Data.error(format!("unknown event `{name}` (did you mean `{near}`?)")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::is_path;

    #[test]
    fn a_path_is_not_a_name() {
        let paths = ["event.json", "./event", "/dev/stdin", "a/b", "tests/x.json", "Cargo.toml"];
        assert_eq!(paths.map(is_path), [true; 6]);
        let names = ["PreToolUse", "hook.before_tool", "preToolUse", "tool.execute.before", "canUseTool", "src"];
        assert_eq!(names.map(is_path), [false; 6]);
    }
}
