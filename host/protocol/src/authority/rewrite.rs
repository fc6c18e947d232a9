//! The granted parts of a rewrite, and the changes that a rewrite makes.

use serde_json::Value;

use crate::event::{Event, Input};

/// The value that [`HookOutput::updated`] would replace.
pub(super) fn carried(event: &Event) -> Value {
    match (&event.input, &event.call) {
        (Input::PreToolUse(_) | Input::PermissionRequest(_) | Input::CanUseTool(_), Some(call)) => {
            call.input.clone().into()
        }
        (Input::PostToolUse(input), _) => input.output.clone().unwrap_or_default().into(),
        (Input::UserPromptSubmit(input), _) => input.prompt.clone().into(),
        (Input::BeforeLlm(input), _) => {
            let members = [
                ("model", input.model.clone().map(Value::from)),
                ("messages", input.messages.clone().map(Value::from)),
                ("tools", input.tools.clone().map(Value::from)),
                ("options", input.options.clone().map(Value::from)),
            ];
            members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
        }
        (Input::AfterLlm(input), _) => input.response.clone().unwrap_or_default().into(),
        _ => Value::Null,
    }
}

/// Applies to `old` the differences of `new` that are at or below one of the JSON pointers (RFC 6901). `/command` does
/// not grant `/commands`, and `/a/b` does not grant adding the object `/a`.
pub(super) fn granted(old: &Value, new: &Value, pointers: &[String]) -> Value {
    let paths: Vec<Vec<String>> = pointers.iter().filter_map(|pointer| tokens(pointer)).collect();
    let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
    keep(Some(old), Some(new), &paths).unwrap_or_default()
}

/// Returns the reference tokens of a pointer. `None`: the text is not a pointer and grants nothing.
fn tokens(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let tokens = pointer.strip_prefix('/')?.split('/');
    Some(tokens.map(|token| token.replace("~1", "/").replace("~0", "~")).collect())
}

/// Keeps the granted differences. `None` is a missing member: additions and removals are differences too.
fn keep(old: Option<&Value>, new: Option<&Value>, paths: &[&[String]]) -> Option<Value> {
    if paths.iter().any(|path| path.is_empty()) {
        return new.cloned();
    }
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) if !paths.is_empty() => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            let member = |key: &String| Some((key.clone(), keep(old.get(key), new.get(key), &below(paths, key))?));
            Some(Value::Object(old.keys().chain(added).filter_map(member).collect()))
        }
        // A moved item looks the same as a changed one, so a change of length needs a grant of the whole array.
        (Some(Value::Array(old)), Some(Value::Array(new))) if !paths.is_empty() && old.len() == new.len() => {
            let items = old.iter().zip(new).enumerate();
            items.map(|(index, (old, new))| keep(Some(old), Some(new), &below(paths, &index.to_string()))).collect()
        }
        _ => old.cloned(),
    }
}

/// Returns the remaining tokens of the pointers that go through `token`.
fn below<'a>(paths: &[&'a [String]], token: &str) -> Vec<&'a [String]> {
    paths
        .iter()
        .filter_map(|path| path.split_first().filter(|(first, _)| *first == token).map(|(_, rest)| rest))
        .collect()
}

/// Applies to `now` the changes from `old` to `new`. Returns false if a part that the hook changed no longer exists.
pub(super) fn change(old: &Value, new: &Value, now: &mut Value) -> bool {
    if old == new {
        return true;
    }
    match (old, new, now) {
        (Value::Object(old), Value::Object(new), Value::Object(now)) => {
            now.retain(|key, _| new.contains_key(key) || !old.contains_key(key));
            let mut whole = true;
            for (key, new) in new {
                whole &= match (old.get(key), now.get_mut(key)) {
                    (Some(old), Some(now)) => change(old, new, now),
                    (Some(old), None) if old == new => true,
                    (Some(old), None) if parts(old, new) => false,
                    _ => {
                        now.insert(key.clone(), new.clone());
                        true
                    }
                };
            }
            whole
        }
        // A moved item looks the same as a changed one.
        (Value::Array(old), Value::Array(new), Value::Array(now))
            if old.len() == new.len() && old.len() == now.len() =>
        {
            old.iter().zip(new).zip(now).fold(true, |whole, ((old, new), now)| change(old, new, now) && whole)
        }
        (old, new, _) if parts(old, new) => false,
        (_, new, now) => {
            *now = new.clone();
            true
        }
    }
}

/// Returns true if the values differ in members or items, and not as a whole.
fn parts(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(_), Value::Object(_)) => true,
        (Value::Array(old), Value::Array(new)) => old.len() == new.len(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_granted_values_change() {
        let cases = [
            (json!({"command": 1, "b": 2}), json!({"command": 9, "b": 9}), "/command", json!({"command": 9, "b": 2})),
            (json!({"commands": 1}), json!({"commands": 9}), "/command", json!({"commands": 1})),
            (json!({}), json!({"command": 9, "new": 9}), "/command", json!({"command": 9})),
            (json!({"command": 1, "b": 2}), json!({}), "/command", json!({"b": 2})),
            (json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": 9, "c": 9}}), "/a/b", json!({"a": {"b": 9, "c": 2}})),
            (json!({"a": {"b": 1}}), json!({"a": 9}), "/a/b", json!({"a": {"b": 1}})),
            (json!({}), json!({"a": {"b": 9}}), "/a/b", json!({})),
            (json!({"a/b": 1, "a~1b": 1}), json!({"a/b": 9, "a~1b": 9}), "/a~1b", json!({"a/b": 9, "a~1b": 1})),
            (json!({"~": 1}), json!({"~": 9}), "/~0", json!({"~": 9})),
            (json!({"": 1, "b": 1}), json!({"": 9, "b": 9}), "/", json!({"": 9, "b": 1})),
            (json!([1, 2]), json!([9, 9]), "/1", json!([1, 9])),
            (json!([1, 2]), json!([9]), "/1", json!([1, 2])),
            (json!({"a": [1]}), json!({"a": [9, 9]}), "/a", json!({"a": [9, 9]})),
            (json!("prompt"), json!("other"), "/prompt", json!("prompt")),
            (json!("prompt"), json!("other"), "", json!("other")),
            (json!({"command": 1}), json!({"command": 9}), "command", json!({"command": 1})),
        ];
        for (old, new, pointer, expected) in cases {
            assert_eq!(granted(&old, &new, &[pointer.to_owned()]), expected, "{old} to {new} under {pointer}");
        }
    }

    #[test]
    fn a_patch_applies_to_the_merged_value() {
        let cases = [
            // The change is applied, and the rest stays as another hook left it.
            (
                json!({"n": 1, "s": "secret"}),
                json!({"n": 2, "s": "secret"}),
                json!({"n": 1, "s": "x"}),
                json!({"n": 2, "s": "x"}),
                true,
            ),
            (json!({"n": 1}), json!({}), json!({"n": 5, "s": 1}), json!({"s": 1}), true),
            (json!({}), json!({"n": 1}), json!({"s": 1}), json!({"s": 1, "n": 1}), true),
            (
                json!({"a": {"b": 1}}),
                json!({"a": {"b": 2}}),
                json!({"a": {"c": 1}}),
                json!({"a": {"c": 1, "b": 2}}),
                true,
            ),
            (json!([1, 2]), json!([1, 9]), json!(["x", 2]), json!(["x", 9]), true),
            (json!([1, 2]), json!([1]), json!(["x", 2]), json!([1]), true),
            // The value that had the changed part is gone.
            (json!({"a": {"b": 1}}), json!({"a": {"b": 2}}), json!({}), json!({}), false),
            (json!({"a": {"b": 1}}), json!({"a": {"b": 2}}), json!({"a": "x"}), json!({"a": "x"}), false),
            (json!([1, 2]), json!([1, 9]), json!([2]), json!([2]), false),
        ];
        for (old, new, mut now, expected, whole) in cases {
            assert_eq!(change(&old, &new, &mut now), whole, "{old} to {new}");
            assert_eq!(now, expected, "{old} to {new}");
        }
    }
}
