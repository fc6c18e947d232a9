//! The files that a call of a tool uses, by the names that the clients' tools and their inputs have.

use std::collections::BTreeSet;

use hookbox_guest::serde_json::Value;

use crate::command;
use crate::place::{Place, place};

/// A use of a file.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) kind: Kind,
    /// As it is written.
    pub(crate) path: String,
    pub(crate) place: Place,
    /// A command names it, not the tool's input.
    pub(crate) by_command: bool,
}

/// Use of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// Everything in the folder is read.
    Search,
}

/// Members of an input that are paths.
const PATHS: [&str; 22] = [
    "file",
    "files",
    "filename",
    "file_name",
    "source",
    "destination",
    "src",
    "dest",
    "target",
    "target_file",
    "uri",
    "include",
    "glob",
    "dir",
    "directory",
    "folder",
    "from",
    "to",
    "files_with_globs",
    "image",
    "url",
    "target_directory",
];
/// Members that are patches.
const PATCHES: [&str; 4] = ["patch", "patchtext", "input", "diff"];
/// Members that are commands.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "commands"];
/// Depth to which an input is looked at.
const DEPTH: usize = 6;

/// The use that a tool makes of the paths of its input; `None`: it lists names, and reads nothing.
fn kind(tool: &str) -> Option<Kind> {
    let tool = tool.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| tool.contains(word));
    match tool.as_str() {
        "ls" | "glob" | "list_dir" | "list_directory" | "list" | "find_files" | "file_search" => None,
        "grep" | "search" | "search_file_content" | "read_many_files" | "ripgrep" | "codebase_search" => {
            Some(Kind::Search)
        }
        _ if has(&[
            "write", "edit", "create", "append", "replace", "patch", "delete", "remove", "move", "rename", "save",
            "update", "insert", "upload",
        ]) =>
        {
            Some(Kind::Write)
        }
        _ => Some(Kind::Read),
    }
}

/// Every file that a call names.
pub(crate) fn all(tool: &str, input: &Value, folder: Option<&Place>) -> Vec<Access> {
    let mut found = Vec::new();
    collect(input, kind(tool), folder, DEPTH, &mut found);
    // Each once: a long command names few files many times.
    let mut seen = BTreeSet::new();
    found.retain(|access| seen.insert((access.kind as u8, access.path.clone(), access.place.parts.clone())));
    found
}

fn collect(value: &Value, kind: Option<Kind>, folder: Option<&Place>, depth: usize, found: &mut Vec<Access>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.to_ascii_lowercase();
                let path = name.contains("path") || PATHS.contains(&name.as_str());
                for text in texts(value) {
                    if COMMANDS.contains(&name.as_str()) {
                        found.extend(command::accesses(&text, folder));
                    } else if PATCHES.contains(&name.as_str()) {
                        found.extend(patched(&text, folder));
                    } else if let Some(kind) = kind.filter(|_| path) {
                        found.extend(named(kind, &name, &text, folder));
                    }
                }
                collect(value, kind, folder, depth, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, kind, folder, depth, found)),
        _ => {}
    }
}

/// A text, or the texts of an array; the words of a command as one.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
            let line = quoted.collect::<Vec<_>>().join(" ");
            words.iter().map(|word| (*word).to_owned()).chain((!words.is_empty()).then_some(line)).collect()
        }
        _ => Vec::new(),
    }
}

fn named(kind: Kind, name: &str, text: &str, folder: Option<&Place>) -> Option<Access> {
    // Addresses on the network are no files.
    let address = text.contains("://") && !text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"));
    if address || name == "url" && !text.contains("://") {
        return None;
    }
    // The last part of a glob such as `**/.env*` says what is read.
    let text = if matches!(name, "glob" | "include") { text.rsplit('/').next().unwrap_or_default() } else { text };
    let kind = if matches!(name, "glob" | "include") { Kind::Read } else { kind };
    Some(Access::new(kind, text, folder, false))
}

impl Access {
    pub(crate) fn new(kind: Kind, path: &str, folder: Option<&Place>, by_command: bool) -> Self {
        Self { kind, path: path.to_owned(), place: place(path, folder), by_command }
    }
}

/// The files that a patch changes: those of Codex's `apply_patch`, and of `diff`.
pub(crate) fn patched(text: &str, folder: Option<&Place>) -> Vec<Access> {
    let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- "];
    let file = |line: &str| {
        let path = marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark))?;
        let path = path.split('\t').next().unwrap_or_default().trim();
        let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
        (path != "/dev/null" && !path.is_empty()).then(|| Access::new(Kind::Write, path, folder, false))
    };
    text.lines().filter_map(file).collect()
}
