//! The JSON Schema of the file, from its types.

use hookbox_protocol::dialect::{self, ConfigShape};
use schemars::{Schema, SchemaGenerator, schema_for};
use serde_json::{Value, json};

use super::file::{File, Flat, Groups, Named};

/// The dialect of a file that names none.
pub(super) const DEFAULT_DIALECT: &str = "claude";

/// The schema of a file whose `hooks` have one shape.
pub(super) fn of_shape(shape: ConfigShape) -> Value {
    match shape {
        ConfigShape::Groups => schema_for!(File<Groups>),
        ConfigShape::Flat => schema_for!(File<Flat>),
        ConfigShape::Named => schema_for!(File<Named>),
    }
    .to_value()
}

/// The JSON Schema of the configuration file, for editors; checked in at `docs/hookbox.schema.json`.
pub fn schema() -> Value {
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

/// "If the dialect is one of these, `hooks` looks like that."
fn condition(shape: ConfigShape, hooks: &Schema) -> Value {
    let names: Vec<_> =
        dialect::ALL.iter().filter(|dialect| dialect.shape() == shape).map(|dialect| dialect.name()).collect();
    // A file without a dialect is one of the default dialect's shape.
    let required: &[&str] = if names.contains(&DEFAULT_DIALECT) { &[] } else { &["dialect"] };
    json!({
        "if": { "properties": { "dialect": { "enum": names } }, "required": required },
        "then": { "properties": { "hooks": hooks } },
    })
}
