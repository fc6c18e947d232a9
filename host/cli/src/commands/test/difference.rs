//! Where two JSON values differ.

use serde_json::Value;

/// Adds three lines for each place that differs: where, what was expected, what was found.
pub fn json(expected: &Value, found: &Value, lines: &mut Vec<String>) {
    at("", Some(expected), Some(found), lines);
}

fn at(pointer: &str, expected: Option<&Value>, found: Option<&Value>, lines: &mut Vec<String>) {
    match (expected, found) {
        (expected, found) if expected == found => {}
        (Some(Value::Object(expected)), Some(Value::Object(found))) => {
            let more = found.keys().filter(|key| !expected.contains_key(*key));
            for key in expected.keys().chain(more) {
                let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                at(&pointer, expected.get(key), found.get(key), lines);
            }
        }
        (Some(Value::Array(expected)), Some(Value::Array(found))) => {
            for index in 0..expected.len().max(found.len()) {
                at(&format!("{pointer}/{index}"), expected.get(index), found.get(index), lines);
            }
        }
        (expected, found) => {
            let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), ToString::to_string);
            lines.push(if pointer.is_empty() { "the output".into() } else { format!("at {pointer}") });
            lines.push(format!("   expected  {}", text(expected)));
            lines.push(format!("   found     {}", text(found)));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differences(expected: &Value, found: &Value) -> Vec<String> {
        let mut lines = Vec::new();
        json(expected, found, &mut lines);
        lines
    }

    #[test]
    fn only_what_differs_is_told_with_its_place() {
        let expected = json!({"a": {"b/c": [1, 2]}, "gone": true});
        let found = json!({"a": {"b/c": [1, 3, "x"]}, "new": null});
        let lines = [
            "at /a/b~1c/1",
            "   expected  2",
            "   found     3",
            "at /a/b~1c/2",
            "   expected  nothing",
            "   found     \"x\"",
            "at /gone",
            "   expected  true",
            "   found     nothing",
            "at /new",
            "   expected  nothing",
            "   found     null",
        ];
        assert_eq!(differences(&expected, &found), lines);
        assert_eq!(differences(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})), [""; 0]);
        assert_eq!(differences(&json!({}), &Value::Null), ["the output", "   expected  {}", "   found     null"]);
    }
}
