//! Converts Copilot's own form of `hooks` to Claude's groups, which Copilot also accepts.
//!
//! copilot.md#configuration: "An event has an array of entries, each of which is one handler, or one of Claude's groups
//! (`matcher` and `hooks`)".

use hookbox_protocol::json::{Object, token};
use serde_json::{Value, json};

/// The original location of each converted part: for example, `/hooks/preToolUse/0/hooks/0` was `/hooks/preToolUse/0`.
#[derive(Default)]
pub(super) struct Moved(Vec<(String, String)>);

impl Moved {
    /// Converts a pointer back to the original location.
    pub(super) fn back(&self, pointer: &mut String) {
        let below = |to: &str| pointer.strip_prefix(to).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        // The renames within an entry come before the entry itself, so the most specific one applies.
        if let Some((from, rest)) = self.0.iter().find_map(|(from, to)| Some((from, below(to)?))) {
            *pointer = format!("{from}{rest}");
        }
    }
}

/// Wraps every entry that is a handler in a group, and renames its keys to those of other dialects.
pub(super) fn grouped(file: &mut Value) -> Moved {
    let mut moved = Moved::default();
    let events = file.get_mut("hooks").and_then(Value::as_object_mut).into_iter().flatten();
    for (event, entries) in events {
        for (index, entry) in entries.as_array_mut().into_iter().flatten().enumerate() {
            let at = format!("/hooks/{}/{index}", token(event));
            match entry {
                Value::Object(group) if group.contains_key("hooks") => {
                    let handlers = group.get_mut("hooks").and_then(Value::as_array_mut);
                    for (index, entry) in handlers.into_iter().flatten().enumerate() {
                        let at = format!("{at}/hooks/{index}");
                        entry.as_object_mut().into_iter().for_each(|entry| handler(entry, &at, &at, &mut moved));
                    }
                }
                Value::Object(entry) => {
                    let matcher = entry.shift_remove("matcher");
                    let to = format!("{at}/hooks/0");
                    handler(entry, &at, &to, &mut moved);
                    moved.0.push((at, to));
                    let mut group = Object::new();
                    group.extend(matcher.map(|matcher| ("matcher".to_owned(), matcher)));
                    group.insert("hooks".into(), json!([entry]));
                    *entry = group;
                }
                _ => {}
            }
        }
    }
    moved
}

/// Converts the keys of a handler by the table of copilot.md#configuration. Drops keys for other platforms.
fn handler(entry: &mut Object, from: &str, to: &str, moved: &mut Moved) {
    let mut rename = |entry: &mut Object, old: &str, new: &str| {
        // The key for this client overrides the general one.
        if let Some(value) = entry.shift_remove(old) {
            entry.insert(new.to_owned(), value);
            moved.0.push((format!("{from}/{old}"), format!("{to}/{new}")));
        }
    };
    rename(entry, "timeoutSec", "timeout");
    if entry.get("type").is_some_and(|kind| kind != "command") {
        return;
    }
    entry.insert("type".into(), "command".into());
    entry.shift_remove("powershell");
    rename(entry, "bash", "command");
    if entry.contains_key("exec") {
        rename(entry, "exec", "command");
        entry.entry("args").or_insert_with(|| json!([]));
    }
    let (folder, variables) = (entry.shift_remove("cwd"), entry.shift_remove("env"));
    let (Some(Value::String(command)), true) = (entry.get("command"), folder.is_some() || variables.is_some()) else {
        return;
    };
    let args = entry.get("args").and_then(Value::as_array);
    let line = args.map_or_else(
        || command.clone(),
        |args| {
            let words = args.iter().filter_map(Value::as_str).map(quoted).collect::<Vec<_>>();
            format!("exec {} {}", quoted(command), words.join(" "))
        },
    );
    let folder = folder.as_ref().and_then(Value::as_str).map(|folder| format!("cd -- {} || exit 1\n", quoted(folder)));
    let exports = variables.as_ref().and_then(Value::as_object).into_iter().flatten();
    let exports = exports.filter_map(|(name, value)| Some(format!("export {name}={}\n", quoted(value.as_str()?))));
    let line = folder.into_iter().chain(exports).collect::<String>() + &line;
    entry.shift_remove("args");
    entry.insert("command".into(), line.into());
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
