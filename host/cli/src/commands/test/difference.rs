//! Differences between two JSON values.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

/// One line for each difference: the location, the expected and the actual value. `what` names the whole value.
pub fn between(what: &str, expected: &Value, found: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    at(what, "", Some(expected), Some(found), &mut lines);
    lines
}

/// Like [`between`], for the entries of two maps. `what` and the key name each entry.
pub fn between_entries(what: &str, expected: &Value, found: &Value) -> Vec<String> {
    let (Value::Object(expected), Value::Object(found)) = (expected, found) else { return Vec::new() };
    let more = found.keys().filter(|key| !expected.contains_key(*key));
    let mut lines = Vec::new();
    for key in expected.keys().chain(more) {
        at(&format!("{what} {key}"), "", expected.get(key), found.get(key), &mut lines);
    }
    lines
}

/// The first line of a text, quoted and at most 60 characters long.
pub fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(60).collect();
    let more = if short.len() < text.trim_end().len() { "…" } else { "" };
    format!("{:?}", short + more)
}

fn at(what: &str, pointer: &str, expected: Option<&Value>, found: Option<&Value>, lines: &mut Vec<String>) {
    match (expected, found) {
        (expected, found) if expected == found => {}
        (Some(Value::Object(expected)), Some(Value::Object(found))) => {
            let more = found.keys().filter(|key| !expected.contains_key(*key));
            for key in expected.keys().chain(more) {
                let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                at(what, &pointer, expected.get(key), found.get(key), lines);
            }
        }
        (Some(Value::Array(expected)), Some(Value::Array(found))) => {
            for index in 0..expected.len().max(found.len()) {
                at(what, &format!("{pointer}/{index}"), expected.get(index), found.get(index), lines);
            }
        }
        (expected, found) => {
            lines.push(format!("{what} {pointer}").trim_end().to_owned());
            match (expected, found) {
                (Some(Value::String(expected)), Some(Value::String(found)))
                    if expected.contains('\n') || found.contains('\n') =>
                {
                    lines.extend(text(expected, found));
                }
                (expected, found) => {
                    let shown = |value: Option<&Value>| value.map_or("nothing".to_owned(), ToString::to_string);
                    lines.push(format!("   expected  {}", shown(expected)));
                    lines.push(format!("   found     {}", shown(found)));
                }
            }
        }
    }
}

/// The diff of two texts: expected lines with `-`, actual lines with `+`.
fn text(expected: &str, found: &str) -> Vec<String> {
    let changes = TextDiff::from_lines(expected, found);
    let line = |change: similar::Change<&str>| {
        let mark = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        format!("   {mark} {}", change.value().trim_end_matches('\n'))
    };
    changes.iter_all_changes().map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_differences_are_reported_with_their_pointers() {
        let expected = json!({"a": {"b/c": [1, 2]}, "gone": true});
        let found = json!({"a": {"b/c": [1, 3, "x"]}, "new": null});
        let lines = [
            "output /a/b~1c/1",
            "   expected  2",
            "   found     3",
            "output /a/b~1c/2",
            "   expected  nothing",
            "   found     \"x\"",
            "output /gone",
            "   expected  true",
            "   found     nothing",
            "output /new",
            "   expected  nothing",
            "   found     null",
        ];
        assert_eq!(between("output", &expected, &found), lines);
        assert_eq!(between("output", &json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})), [""; 0]);
        let whole = ["state", "   expected  {}", "   found     null"];
        assert_eq!(between("state", &json!({}), &Value::Null), whole);
    }

    #[test]
    fn texts_of_several_lines_differ_line_by_line() {
        let lines = between("output", &json!({"text": "one\ntwo\nthree"}), &json!({"text": "one\n2\nthree"}));
        assert_eq!(lines, ["output /text", "     one", "   - two", "   + 2", "     three"]);
    }
}
