//! JSON with comments and trailing commas, for editing.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject},
};
use serde_json::{Map, Value};

/// The syntax that hookbox reads: JSON with comments and trailing commas.
pub fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Sets a property, unless it already has this value.
pub(super) fn set(object: &CstObject, name: &str, value: &Value) {
    match object.get(name) {
        Some(property) if property.value().and_then(|value| value.to_serde_value()).as_ref() == Some(value) => {}
        Some(property) => property.set_value(input(value)),
        None => drop(object.append(name, input(value))),
    }
}

/// Converts a value for the editor.
pub fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(bool) => CstInputValue::Bool(*bool),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(object_input(fields)),
    }
}

fn object_input(fields: &Map<String, Value>) -> Vec<(String, CstInputValue)> {
    fields.iter().map(|(key, value)| (key.clone(), input(value))).collect()
}
