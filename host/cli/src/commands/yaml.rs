//! YAML as people write it: short values on their line, long ones below.

use serde_json::Value;

/// Columns that a value in one line may go up to.
const WIDTH: usize = 120;

/// A value behind `name:` in this column: on the same line, or indented below it.
pub fn value(value: &Value, column: usize, name: &str) -> String {
    let line = value.to_string();
    if column + name.len() + line.len() < WIDTH {
        return format!(" {line}");
    }
    let Ok(block) = serde_norway::to_string(value) else { return format!(" {line}") };
    let indent = " ".repeat(column + 2);
    block.trim_end().lines().map(|line| format!("\n{indent}{line}").trim_end().to_owned()).collect()
}
