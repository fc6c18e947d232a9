//! Validates a value against its JSON Schema and reports every error in plain words.
//!
//! This is not a general validator. It supports the keywords that [`super::schema`] uses. The test
//! `valid_files_deserialize` keeps the two in step.

use std::slice;

use hookbox_protocol::json::{Object, describe};
use serde_json::Value;

use super::{
    diagnostic::{Finding, list, nearest, suggestion},
    pointer::Pointer,
    schema::{OWN_ENTRY, Part},
};

/// All errors and warnings of `value` under `schema`. `own_types` are additional types of handlers.
pub(super) fn check(schema: &'static Part, own_types: &[String], value: &Value) -> Vec<Finding> {
    let mut walk = Walk { own_types, found: Vec::new() };
    walk.value(schema, value, Pointer::Whole);
    walk.found
}

struct Walk<'a> {
    own_types: &'a [String],
    found: Vec<Finding>,
}

/// The schema of one object, merged from all its parts.
#[derive(Default)]
struct Rules {
    /// The properties, as one slice for each part.
    properties: Vec<&'static [(&'static str, Part)]>,
    required: Vec<&'static str>,
    /// The schema of keys that are not in `properties`.
    additional: Option<&'static Part>,
    /// True if a part forbids keys that are not in `properties`.
    closed: bool,
    /// True if a part allows any key. It overrides `closed`.
    open: bool,
}

impl Rules {
    fn properties(&self) -> impl Iterator<Item = &'static (&'static str, Part)> {
        self.properties.iter().copied().flatten()
    }

    fn property(&self, key: &str) -> Option<&'static Part> {
        // Some handlers use a key that others only know. The used one applies.
        let of_key = || self.properties().filter(|(name, _)| *name == key).map(|(_, schema)| schema);
        of_key().find(|schema| unused(schema).is_none()).or_else(|| of_key().next())
    }

    fn near(&self, key: &str) -> Option<&'static str> {
        nearest(key, self.properties().map(|(name, _)| *name))
    }

    fn unknown(&self, key: &str, pointer: Pointer<'_>) -> Finding {
        let used = self.properties().filter(|(_, schema)| unused(schema).is_none());
        let used: Vec<&str> = used.map(|(name, _)| *name).collect();
        Finding::error(pointer, format!("unknown key `{key}`")).help(match self.near(key) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", list(&used)),
        })
    }
}

impl Walk<'_> {
    fn value(&mut self, schema: &'static Part, value: &Value, pointer: Pointer<'_>) {
        let mut fitting = alternatives(schema);
        fitting.retain(|schema| accepts(schema, value));
        let Some(first) = fitting.first().copied() else {
            let expected = expected(&alternatives(schema));
            self.found.push(Finding::error(pointer, format!("expected {expected}, found {}", describe(value))));
            return;
        };
        match value {
            Value::String(text) => self.word(&fitting, text, pointer),
            Value::Number(_) => self.bounds(first, value, pointer),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(schema) = first.get("items") {
                        self.value(schema, item, Pointer::Item(&pointer, index));
                    }
                }
            }
            Value::Object(object) => self.object(first, object, pointer),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn word(&mut self, fitting: &[&'static Part], text: &str, pointer: Pointer<'_>) {
        let known = fitting.iter().flat_map(|schema| words(schema));
        let any_will_do = fitting.iter().any(|schema| words(schema).next().is_none());
        if !any_will_do && !known.clone().any(|word| word == text) {
            self.found.push(unknown_word(text, &known.collect::<Vec<_>>(), pointer));
        }
    }

    fn bounds(&mut self, schema: &Part, value: &Value, pointer: Pointer<'_>) {
        let (Some(number), bound) = (value.as_f64(), |key: &str| schema.get(key).and_then(Part::number)) else {
            return;
        };
        let unsigned = schema.get("format").and_then(Part::text) == Some("uint32");
        let expected = if let Some(least) = bound("exclusiveMinimum").filter(|least| number <= *least) {
            format!("more than {least}")
        } else if let Some(least) = bound("minimum").filter(|least| number < *least) {
            format!("{least} or more")
        } else if let Some(most) = bound("maximum").filter(|most| number > *most) {
            format!("{most} or less")
        } else if unsigned && number > f64::from(u32::MAX) {
            format!("{} or less", u32::MAX)
        } else {
            return;
        };
        self.found.push(Finding::error(pointer, format!("expected a number, {expected}, found {}", describe(value))));
    }

    fn object(&mut self, schema: &'static Part, object: &Object, pointer: Pointer<'_>) {
        let mut rules = Rules::default();
        self.gather(schema, object, pointer, &mut rules);
        if rules.required.contains(&"hooks") && !object.contains_key("hooks") && object.contains_key("type") {
            let found = Finding::error(pointer, "a handler without a group");
            self.found.push(found.help(r#"put it into the `hooks` of a group:   { "hooks": [ { "type": … } ] }"#));
            return;
        }
        for (key, value) in object {
            let below = Pointer::Member(&pointer, key);
            match (rules.property(key), rules.additional) {
                (Some(schema), _) => match unused(schema) {
                    Some(meaning) => {
                        let message = format!("`{key}` ({meaning}) is not used by hookbox");
                        self.found.push(Finding::warning(below, message));
                    }
                    None => self.value(schema, value, below),
                },
                // A misspelt key would be validated as a name in the map, so report it as unknown.
                (None, Some(schema)) if !fits(schema, value) && rules.near(key).is_some() => {
                    self.found.push(rules.unknown(key, below));
                }
                (None, Some(schema)) => self.value(schema, value, below),
                (None, None) if rules.closed && !rules.open => self.found.push(rules.unknown(key, below)),
                (None, None) => {}
            }
        }
        for missing in rules.required.iter().filter(|name| !object.contains_key(**name)) {
            self.found.push(Finding::error(pointer, format!("missing key `{missing}`")));
        }
    }

    /// Collects the rules for `object` from `schema` and its parts. Of a choice by `type`, only the chosen part.
    fn gather(&mut self, schema: &'static Part, object: &Object, pointer: Pointer<'_>, rules: &mut Rules) {
        if let Some(target) = schema.target() {
            self.gather(target, object, pointer, rules);
        }
        rules.properties.extend(schema.get("properties").map(Part::members));
        rules.required.extend(items(schema, "required").iter().filter_map(Part::text));
        for part in items(schema, "allOf") {
            self.gather(part, object, pointer, rules);
        }
        if let Some(choices) = choices(schema) {
            self.choose(choices, object, pointer, rules);
        }
        match schema.get("additionalProperties") {
            Some(Part::Bool(true)) => rules.open = true,
            Some(Part::Bool(false)) => rules.closed = true,
            Some(additional) => rules.additional = Some(additional),
            None if schema.get("unevaluatedProperties") == Some(&Part::Bool(false)) => rules.closed = true,
            None => {}
        }
    }

    fn choose(&mut self, choices: &'static [Part], object: &Object, pointer: Pointer<'_>, rules: &mut Rules) {
        let tag = |choice: &Part| choice.get("properties")?.get("type")?.get("const")?.text();
        let own_types = self.own_types.iter().map(String::as_str);
        let known: Vec<&str> = choices.iter().filter_map(tag).chain(own_types).collect();
        match object.get("type") {
            Some(Value::String(kind)) => match choices.iter().find(|choice| tag(choice) == Some(kind)) {
                Some(choice) => return self.gather(choice, object, pointer, rules),
                None if self.own_types.contains(kind) => return self.gather(&OWN_ENTRY, object, pointer, rules),
                None => self.found.push(unknown_word(kind, &known, Pointer::Member(&pointer, "type"))),
            },
            Some(other) => {
                let message = format!("expected a string, found {}", describe(other));
                self.found.push(Finding::error(Pointer::Member(&pointer, "type"), message));
            }
            None => {
                let missing = Finding::error(pointer, "missing key `type`");
                self.found.push(missing.help(format!("known are {}", list(&known))));
            }
        }
        // The valid keys are unknown without a type, so none is reported.
        rules.open = true;
    }
}

/// The alternatives of a schema, with references and choices resolved.
fn alternatives(schema: &'static Part) -> Vec<&'static Part> {
    fn gather(schema: &'static Part, all: &mut Vec<&'static Part>) {
        if let Some(target) = schema.target() {
            return gather(target, all);
        }
        match choices(schema) {
            Some(choices) if schema.get("properties").is_none() => choices.iter().for_each(|part| gather(part, all)),
            _ => all.push(schema),
        }
    }
    let mut all = Vec::new();
    gather(schema, &mut all);
    all
}

fn fits(schema: &'static Part, value: &Value) -> bool {
    alternatives(schema).iter().any(|schema| accepts(schema, value))
}

/// The meaning of a key that only clients use. `None` if hookbox uses it.
fn unused(schema: &Part) -> Option<&'static str> {
    schema.get("x-unused")?.text()
}

fn items(schema: &Part, name: &str) -> &'static [Part] {
    schema.get(name).map(Part::items).unwrap_or_default()
}

fn choices(schema: &Part) -> Option<&'static [Part]> {
    schema.get("oneOf").or_else(|| schema.get("anyOf")).map(Part::items)
}

/// The allowed words of a string schema. Empty: any text.
fn words(schema: &'static Part) -> impl Iterator<Item = &'static str> + Clone {
    schema.get("const").map_or_else(|| items(schema, "enum"), slice::from_ref).iter().filter_map(Part::text)
}

/// The allowed types of a schema. Empty: any type.
fn types(schema: &'static Part) -> impl Iterator<Item = &'static str> {
    let types = match schema.get("type") {
        Some(one @ Part::Text(_)) => slice::from_ref(one),
        several => several.map(Part::items).unwrap_or_default(),
    };
    types.iter().filter_map(Part::text)
}

/// Returns true if the value has one of the schema's types.
fn accepts(schema: &'static Part, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    let mut types = types(schema);
    types.next().is_none_or(|first| is(first) || types.any(is))
}

/// The allowed types in plain words. Leaves out `null`, which counts as missing.
fn expected(schemas: &[&'static Part]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in schemas.iter().flat_map(|schema| types(schema)) {
        let name = match name {
            "null" => continue,
            "boolean" => "true or false",
            "integer" => "a whole number",
            "number" => "a number",
            "string" => "a string",
            "array" => "an array",
            _ => "an object",
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(" or ")
}

fn unknown_word(word: &str, known: &[&str], pointer: Pointer<'_>) -> Finding {
    Finding::error(pointer, format!("unknown word `{word}`")).help(suggestion(word, known))
}
