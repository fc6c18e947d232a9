//! The JSON Schema of the file, from its types.

use hookbox_protocol::dialect::ConfigShape;
use schemars::schema_for;
use serde_json::Value;

use super::file::{File, Flat, Groups, Named};

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
    of_shape(ConfigShape::Groups)
}
