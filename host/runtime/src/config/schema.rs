//! The JSON Schema of the configuration file, for editors and for validation.

#[cfg(feature = "schema")]
mod generate;
#[rustfmt::skip]
#[allow(clippy::unreadable_literal, reason = "numbers are the schema's")]
mod parts;

use hookbox_protocol::dialect::ConfigShape;
use serde_json::Value;

#[cfg(feature = "schema")]
pub use generate::generated;
#[cfg(feature = "schema")]
pub(super) use generate::{add_unused, dialect_names};

/// The default dialect.
pub const DEFAULT_DIALECT: &str = "claude";

/// `docs/hookbox.schema.json`, for builds without the schema generator.
const SHIPPED: &str = include_str!("hookbox.schema.json");

/// The JSON Schema of the configuration file, for editors.
pub fn schema() -> Value {
    // A test checks that it is valid JSON.
    serde_json::from_str(SHIPPED).unwrap_or_default()
}

/// A part of the schema that the validator uses, without descriptions. It is static data, because parsing JSON would
/// delay every event of a one-shot process.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Bool(bool),
    Number(f64),
    Text(&'static str),
    List(&'static [Part]),
    Members(&'static [(&'static str, Part)]),
    /// The target of a `$ref`.
    Ref(&'static Part),
}

impl Part {
    /// The schema of a file whose `hooks` have this shape.
    pub(super) fn file(shape: ConfigShape) -> &'static Self {
        match shape {
            ConfigShape::Groups => &parts::GROUPS_FILE,
            ConfigShape::Flat => &parts::FLAT_FILE,
            ConfigShape::Named => &parts::NAMED_FILE,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'static Self> {
        self.members().iter().find(|(member, _)| *member == name).map(|(_, part)| part)
    }

    /// The members of an object.
    pub(super) fn members(&self) -> &'static [(&'static str, Self)] {
        if let Self::Members(members) = self { members } else { &[] }
    }

    /// The items of an array.
    pub(super) fn items(&self) -> &'static [Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    pub(super) fn text(&self) -> Option<&'static str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// The target of its `$ref`.
    pub(super) fn target(&self) -> Option<&'static Self> {
        if let Self::Ref(target) = self.get("$ref")? { Some(target) } else { None }
    }
}

/// The schema of an entry with one of the embedder's types: any options are valid.
pub(super) static OWN_ENTRY: Part = {
    use Part::{Bool, Members, Ref};
    Members(&[
        (
            "properties",
            Members(&[("type", Members(&[])), ("authority", Members(&[("$ref", Ref(&parts::AUTHORITY_ENTRY))]))]),
        ),
        ("additionalProperties", Bool(true)),
    ])
};
