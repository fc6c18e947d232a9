//! The JSON Schema of the file: what editors read, and what a file is held against.

#[cfg(feature = "schema")]
mod generate;

use hookbox_protocol::dialect::ConfigShape;
use serde_json::{Value, json};

#[cfg(feature = "schema")]
pub use generate::generated;
#[cfg(feature = "schema")]
pub(super) use generate::{add_unused, dialect_names};

/// The dialect of a file that names none.
pub const DEFAULT_DIALECT: &str = "claude";

/// `docs/hookbox.schema.json`, so that checking a configuration needs no generator.
const SHIPPED: &str = include_str!("hookbox.schema.json");

/// The JSON Schema of the configuration file, for editors.
pub fn schema() -> Value {
    // A test holds that it is JSON.
    serde_json::from_str(SHIPPED).unwrap_or_default()
}

/// The schema of a file whose `hooks` have one shape, with types of handlers that the embedder brings.
pub(super) fn of_shape(shape: ConfigShape, handlers: &[String]) -> Value {
    let mut schema = schema();
    let hooks = match shape {
        ConfigShape::Groups => "Groups",
        ConfigShape::Flat => "Flat",
        ConfigShape::Named => "Named",
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.shift_remove("allOf");
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert("hooks".into(), json!({ "$ref": format!("#/$defs/{hooks}") }));
        }
    }
    for entry in ["Entry", "FlatEntry", "NamedEntry"] {
        let types = schema.pointer_mut(&format!("/$defs/{entry}/anyOf")).and_then(Value::as_array_mut);
        if let Some(types) = types {
            types.extend(handlers.iter().map(own_type));
        }
    }
    schema
}

/// What an entry of such a type may say: anything.
fn own_type(kind: &String) -> Value {
    json!({
        "type": "object",
        "properties": { "type": { "const": kind, "type": "string" }, "authority": { "$ref": "#/$defs/AuthorityEntry" } },
        "required": ["type"],
        "additionalProperties": true,
    })
}
