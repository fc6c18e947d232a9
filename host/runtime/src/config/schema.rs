//! The JSON Schema of the file: what editors read, and what a file is held against.

#[cfg(feature = "schema")]
mod generate;

use std::{cell::OnceCell, collections::HashMap};

use hookbox_protocol::{dialect::ConfigShape, json::Object};
use serde_json::{Value, json};

#[cfg(feature = "schema")]
pub use generate::generated;
#[cfg(feature = "schema")]
pub(super) use generate::{add_unused, dialect_names};

/// The dialect of a file that names none.
pub const DEFAULT_DIALECT: &str = "claude";

/// `docs/hookbox.schema.json`, for whoever has no generator.
const SHIPPED: &str = include_str!("hookbox.schema.json");

/// What a file is held against: the properties of the whole under no name, then each definition under its own, a line each.
/// It says nothing for people, and finding a definition in it does not take reading the others: every event of a one-shot
/// process waits for this.
const PARTS: &str = include_str!("schema/parts.txt");

/// The JSON Schema of the configuration file, for editors.
pub fn schema() -> Value {
    // A test holds that it is JSON.
    serde_json::from_str(SHIPPED).unwrap_or_default()
}

/// What a file is held against. It uses little of the schema, so a definition is parsed when it is first asked for.
pub(super) struct Schema {
    top: Value,
    definitions: HashMap<&'static str, (&'static str, OnceCell<Value>)>,
    /// What entries may be beside what they are here.
    own_types: Vec<Value>,
}

impl Schema {
    /// Of a file whose `hooks` have one shape, with types of handlers that the embedder brings.
    pub(super) fn of_shape(shape: ConfigShape, handlers: &[String]) -> Self {
        let hooks = match shape {
            ConfigShape::Groups => "Groups",
            ConfigShape::Flat => "Flat",
            ConfigShape::Named => "Named",
        };
        let mut definitions: HashMap<_, _> = PARTS
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, text)| (name, (text, OnceCell::new())))
            .collect();
        // A test holds that all of them are JSON.
        let top = definitions.remove("").and_then(|(text, _)| serde_json::from_str(text).ok());
        let mut properties: Object = top.unwrap_or_default();
        properties.insert("hooks".into(), json!({ "$ref": format!("#/$defs/{hooks}") }));
        Self {
            top: json!({ "type": "object", "properties": properties }),
            definitions,
            own_types: handlers.iter().map(own_type).collect(),
        }
    }

    /// What the whole file is held against.
    pub(super) fn top(&self) -> &Value {
        &self.top
    }

    /// What this schema refers to.
    pub(super) fn target(&self, schema: &Value) -> Option<&Value> {
        let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        let (text, parsed) = self.definitions.get(name)?;
        Some(parsed.get_or_init(|| {
            let mut definition: Value = serde_json::from_str(text).unwrap_or_default();
            let types = definition.get_mut("anyOf").filter(|_| ["Entry", "FlatEntry", "NamedEntry"].contains(&name));
            if let Some(types) = types.and_then(Value::as_array_mut) {
                types.extend(self.own_types.iter().cloned());
            }
            definition
        }))
    }
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
