//! Copilot's own form of `hooks`, made the form of Claude's groups that it takes as well.
//!
//! copilot.md#configuration: "An event has an array of entries, each of which is one handler, or one of Claude's groups
//! (`matcher` and `hooks`)".

use hookbox_protocol::json::Object;
use serde_json::{Value, json};

/// Makes every entry that is a handler a group of that one handler, and its keys those that a handler has everywhere.
pub(super) fn grouped(file: &mut Value) {
    let events = file.get_mut("hooks").and_then(Value::as_object_mut).into_iter().flat_map(Object::values_mut);
    for entry in events.filter_map(Value::as_array_mut).flatten() {
        match entry {
            Value::Object(group) if group.contains_key("hooks") => {
                let handlers = group.get_mut("hooks").and_then(Value::as_array_mut);
                handlers.into_iter().flatten().filter_map(Value::as_object_mut).for_each(handler);
            }
            Value::Object(entry) => {
                let matcher = entry.shift_remove("matcher");
                handler(entry);
                let mut group = Object::new();
                group.extend(matcher.map(|matcher| ("matcher".to_owned(), matcher)));
                group.insert("hooks".into(), json!([entry]));
                *entry = group;
            }
            _ => {}
        }
    }
}

/// The table of copilot.md#configuration. What stands for another platform is left out.
fn handler(entry: &mut Object) {
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

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The key that is meant for this client goes before the one that is meant for everybody.
fn rename(entry: &mut Object, from: &str, to: &str) {
    if let Some(value) = entry.shift_remove(from) {
        entry.insert(to.to_owned(), value);
    }
}
