//! Formats YAML in the usual style: short values on one line, long ones below the key.

use serde_json::Value;

/// The maximum width of a value on one line, in columns.
const WIDTH: usize = 120;

/// The value after `name:` in this column: on the same line, or indented below.
pub fn value(value: &Value, column: usize, name: &str) -> String {
    let line = value.to_string();
    if column + name.len() + line.len() < WIDTH {
        return format!(" {line}");
    }
    let Ok(block) = serde_norway::to_string(value) else { return format!(" {line}") };
    let indent = " ".repeat(column + 2);
    block.trim_end().lines().map(|line| format!("\n{indent}{line}").trim_end().to_owned()).collect()
}
