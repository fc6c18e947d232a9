//! Generates the JSON Schema of the file from its types.

use std::{borrow::Cow, collections::BTreeMap};

use hookbox_protocol::dialect::{self, ConfigShape};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::DEFAULT_DIALECT;
use crate::config::file::{Checked, File, Flat, Groups, Named, Ordered};

/// The JSON Schema, generated from the current types. The committed and shipped one is [`schema`](super::schema); a
/// test compares the two.
pub fn generated() -> Value {
    let mut generator = SchemaGenerator::default();
    let shapes = [
        (ConfigShape::Groups, generator.subschema_for::<Groups>()),
        (ConfigShape::Flat, generator.subschema_for::<Flat>()),
        (ConfigShape::Named, generator.subschema_for::<Named>()),
    ];
    let mut schema = generator.into_root_schema_for::<File<Value>>();
    let conditions: Vec<Value> = shapes.into_iter().map(|(shape, hooks)| condition(shape, &hooks)).collect();
    schema.insert("allOf".into(), conditions.into());
    schema.to_value()
}

/// The rule: if the dialect is one of this shape, `hooks` has this schema.
fn condition(shape: ConfigShape, hooks: &Schema) -> Value {
    let names: Vec<_> =
        dialect::ALL.iter().filter(|dialect| dialect.shape() == shape).map(|dialect| dialect.name()).collect();
    // A file without a dialect has the default dialect's shape.
    let required: &[&str] = if names.contains(&DEFAULT_DIALECT) { &[] } else { &["dialect"] };
    json!({
        "if": { "properties": { "dialect": { "enum": names } }, "required": required },
        "then": { "properties": { "hooks": hooks } },
    })
}

pub(in crate::config) fn dialect_names(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<_> = dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    json_schema!({ "type": "string", "enum": names })
}

/// Options that clients support and hookbox does not use, with their meaning there.
const UNUSED: &[(&str, &str)] = &[
    ("if", "a permission rule that has to match"),
    ("once", "only once in a session"),
    ("async", "in the background"),
    ("asyncRewake", "in the background, waking the agent when it blocks"),
    ("rewakeMessage", "what a background hook says when it blocks"),
    ("rewakeSummary", "what the user sees of that"),
    ("continueOnBlock", "continue after a block"),
    ("statusMessage", "shown while the hook runs"),
    ("shell", "another shell"),
    ("description", "for people"),
    ("env", "environment variables of the command"),
    ("trusted", "a hook process that may rewrite what others may not"),
];

/// Adds [`UNUSED`] to the schema, marked for the validator.
pub(in crate::config) fn add_unused(schema: &mut Schema) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (name, meaning) in UNUSED {
        let property = json!({ "description": "Known to a client, not used by hookbox.", "x-unused": meaning });
        properties.insert((*name).into(), property);
    }
}

impl<T: JsonSchema> JsonSchema for Checked<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<T: JsonSchema> JsonSchema for Ordered<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        <BTreeMap<String, T>>::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <BTreeMap<String, T>>::json_schema(generator)
    }
}
