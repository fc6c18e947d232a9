//! The agent's tools. All of them are read-only.

use std::fmt::Write;

use rustix::fs::FileType;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    grep::grep,
    project::{Node, Project, entries, text},
};
use crate::capability::llm::{Tool, ToolUse};

/// The maximum size of a result in bytes, without a last line that says what is missing.
const MAX_RESULT: usize = 64 * 1024;

/// The maximum number of entries in the list of a folder.
const MAX_ENTRIES: usize = 1000;

/// A tool call, by name and arguments.
#[derive(Deserialize)]
#[serde(tag = "name", content = "arguments", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    ReadFile { path: String, offset: Option<usize>, limit: Option<usize> },
    ListDir { path: String },
    Grep { pattern: String, path: Option<String> },
}

/// The definitions of the tools for the model.
pub(super) fn all() -> Vec<Tool> {
    let path = || json!({ "type": "string", "description": "relative to the project folder" });
    let line = |what: &str| json!({ "type": "integer", "minimum": 1, "description": what });
    vec![
        Tool {
            name: "read_file",
            description: "Reads a text file of the project.",
            arguments: schema(
                &json!({
                    "path": path(),
                    "offset": line("the first line to read, from 1"),
                    "limit": line("the maximum number of lines"),
                }),
                &["path"],
            ),
        },
        Tool {
            name: "list_dir",
            description: "Lists a folder of the project; folders end in a slash. The project folder itself is `.`.",
            arguments: schema(&json!({ "path": path() }), &["path"]),
        },
        Tool {
            name: "grep",
            description: "Searches a file, or all files of a folder and the folders in it, for a regular expression \
                (Rust syntax), line by line. Without a path it searches the whole project. It leaves out .git, \
                symlinks, large files and files that are not text.",
            arguments: schema(&json!({ "pattern": { "type": "string" }, "path": path() }), &["pattern"]),
        },
    ]
}

fn schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Runs one tool call. Blocks on the file system.
///
/// # Errors
/// The message that the model gets instead of a result.
pub(super) fn run(project: &Project, call: &ToolUse) -> Result<String, String> {
    let request = json!({ "name": call.name, "arguments": call.arguments });
    match serde_json::from_value(request).map_err(|e| e.to_string())? {
        Request::ReadFile { path, offset, limit } => read_file(project, &path, offset, limit),
        Request::ListDir { path } => list_dir(project, &path),
        Request::Grep { pattern, path } => {
            let path = project.relative(path.as_deref().unwrap_or("."))?;
            Ok(cut(grep(project, &pattern, path)?, "narrow the search"))
        }
    }
}

fn read_file(project: &Project, path: &str, offset: Option<usize>, limit: Option<usize>) -> Result<String, String> {
    let Node::File(file) = project.node(&project.relative(path)?)? else {
        return Err(format!("{path} is a folder"));
    };
    let text = text(file)?;
    let skipped = offset.unwrap_or(1).saturating_sub(1);
    let lines = text.split_inclusive('\n').skip(skipped).take(limit.unwrap_or(usize::MAX));
    Ok(cut(lines.collect(), "read on with `offset`"))
}

fn list_dir(project: &Project, path: &str) -> Result<String, String> {
    let Node::Folder(folder) = project.node(&project.relative(path)?)? else {
        return Err(format!("{path} is a file"));
    };
    let (entries, more) = entries(folder, MAX_ENTRIES);
    let lines = entries.into_iter().map(|(name, kind)| match kind {
        FileType::Directory => format!("{name}/\n"),
        FileType::Symlink => format!("{name} (a symlink, which is not followed)\n"),
        _ => format!("{name}\n"),
    });
    let mut list = cut(lines.collect(), "list the folders in it");
    if more {
        let _ = writeln!(list, "[more than {MAX_ENTRIES} entries]");
    }
    Ok(list)
}

/// Cuts a text to the lines that fit. Cuts a first line that is too long by itself within the line.
fn cut(mut text: String, then: &str) -> String {
    if text.len() > MAX_RESULT {
        let fits = text.floor_char_boundary(MAX_RESULT);
        let lines = text.get(..fits).and_then(|fits| fits.rfind('\n')).map(|end| end + 1);
        text.truncate(lines.unwrap_or(fits));
        let count = text.lines().count();
        let _ = writeln!(text, "\n[cut after {count} lines; {then}]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_lines() {
        let lines = "12345678\n".repeat(MAX_RESULT / 9 + 1);
        let lines_left = MAX_RESULT / 9;
        assert_eq!(
            cut(lines, "x"),
            format!("{}\n[cut after {lines_left} lines; x]\n", "12345678\n".repeat(lines_left))
        );
        let one = cut("é".repeat(MAX_RESULT), "x");
        assert!(one.starts_with("éé") && one.len() < MAX_RESULT + 100);
        assert_eq!(cut("a\n".into(), "x"), "a\n");
    }
}
