//! The options that say which event a command is about: `--event NAME` and, where it does not come on stdin, `--input FILE`.

use std::path::{Path, PathBuf};

use hookbox::{
    Dialect,
    config::{Misnamed, misnamed},
};

use crate::exit::Exit;

/// The event's name and files. Until 0.1 `--event` took the file: a value that can only be a path counts as one still.
pub fn split(event: Vec<String>, mut inputs: Vec<PathBuf>) -> anyhow::Result<(Option<String>, Vec<PathBuf>)> {
    let (files, mut names): (Vec<_>, Vec<_>) = event.into_iter().partition(|value| is_path(value));
    inputs.extend(files.into_iter().map(PathBuf::from));
    let name = names.pop();
    match names.first() {
        None => Ok((name, inputs)),
        Some(first) => {
            let second = name.unwrap_or_default();
            Err(Exit::Usage.error(format!("`--event` names one event, not both `{first}` and `{second}`")))
        }
    }
}

/// As [`split`], for commands about one event.
pub fn one(event: Vec<String>, input: Option<PathBuf>) -> anyhow::Result<(Option<String>, Option<PathBuf>)> {
    let (name, mut inputs) = split(event, input.into_iter().collect())?;
    let file = inputs.pop();
    match (inputs.is_empty(), file) {
        (true, file) => Ok((name, file)),
        (false, _) => Err(Exit::Usage.error("there are two files of events: give one with `--input`")),
    }
}

/// Tells whether a value of `--event` is a path: no event's name has a slash, ends in `.json` or is the name of a file here.
fn is_path(value: &str) -> bool {
    let known = || hookbox::dialect::ALL.iter().any(|dialect| dialect.spec_by_name(value).is_some());
    value.contains('/')
        || Path::new(value).extension().is_some_and(|extension| extension == "json")
        || (!known() && Path::new(value).is_file())
}

/// Refuses a name that is most likely misspelt: its hooks would not be asked.
///
/// # Errors
/// The name resembles one of the dialect's events, and no dialect has it.
pub fn check(dialect: &dyn Dialect, name: Option<&str>) -> anyhow::Result<()> {
    match name.and_then(|name| misnamed(dialect, name)) {
        Some(Misnamed { name, near }) => {
            Err(Exit::Data.error(format!("unknown event `{name}` (did you mean `{near}`?)")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::is_path;

    #[test]
    fn a_path_is_no_name() {
        let paths = ["event.json", "./event", "/dev/stdin", "a/b", "tests/x.json", "Cargo.toml"];
        assert_eq!(paths.map(is_path), [true; 6]);
        let names = ["PreToolUse", "hook.before_tool", "preToolUse", "tool.execute.before", "canUseTool", "src"];
        assert_eq!(names.map(is_path), [false; 6]);
    }
}
