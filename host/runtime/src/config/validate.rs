//! Holds a value against its JSON Schema and tells everything that is wrong, in words for people.
//!
//! This is no general validator: it knows the keywords that [`super::schema`] emits, and the test
//! `what_is_valid_deserializes` keeps the two together.

use hookbox_protocol::json::{Object, describe, token};
use serde_json::Value;

use super::{
    diagnostic::{Finding, list, nearest, suggestion},
    schema::Schema,
};

/// Everything in `value` that is not as `schema` says.
pub(super) fn check(schema: &Schema, value: &Value) -> Vec<Finding> {
    let mut walk = Walk { schema, found: Vec::new() };
    walk.value(schema.top(), value, "");
    walk.found
}

struct Walk<'a> {
    schema: &'a Schema,
    found: Vec<Finding>,
}

/// What the schema says about one object, from all its parts.
#[derive(Default)]
struct Rules<'a> {
    properties: Vec<(&'a str, &'a Value)>,
    required: Vec<&'a str>,
    /// The schema of keys that are not in `properties`.
    additional: Option<&'a Value>,
    /// Whether a part says that there are no other keys than `properties`.
    closed: bool,
    /// Whether a part says that any key will do, which goes before `closed`.
    open: bool,
}

impl<'a> Rules<'a> {
    fn property(&self, key: &str) -> Option<&'a Value> {
        // Some handlers use what others only know.
        let of_key = || self.properties.iter().filter(|(name, _)| *name == key).map(|(_, schema)| *schema);
        of_key().find(|schema| unused(schema).is_none()).or_else(|| of_key().next())
    }

    fn near(&self, key: &str) -> Option<&'a str> {
        nearest(key, self.properties.iter().map(|(name, _)| *name))
    }

    fn unknown(&self, key: &str, pointer: &str) -> Finding {
        let used = self.properties.iter().filter(|(_, schema)| unused(schema).is_none());
        let used: Vec<&str> = used.map(|(name, _)| *name).collect();
        Finding::error(pointer, format!("unknown key `{key}`")).help(match self.near(key) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", list(&used)),
        })
    }
}

impl<'a> Walk<'a> {
    fn value(&mut self, schema: &'a Value, value: &Value, pointer: &str) {
        let alternatives = self.alternatives(schema);
        let fitting: Vec<_> = alternatives.iter().copied().filter(|schema| accepts(schema, value)).collect();
        let Some(first) = fitting.first().copied() else {
            let expected = expected(&alternatives);
            self.found.push(Finding::error(pointer, format!("expected {expected}, found {}", describe(value))));
            return;
        };
        match value {
            Value::String(text) => self.word(&fitting, text, pointer),
            Value::Number(_) => self.bounds(first, value, pointer),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(schema) = first.get("items") {
                        self.value(schema, item, &format!("{pointer}/{index}"));
                    }
                }
            }
            Value::Object(object) => self.object(first, object, pointer),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The schemas of which one has to fit: references followed, choices opened.
    fn alternatives(&self, schema: &'a Value) -> Vec<&'a Value> {
        if let Some(target) = self.schema.target(schema) {
            return self.alternatives(target);
        }
        match choices(schema) {
            Some(choices) if schema.get("properties").is_none() => {
                choices.iter().flat_map(|choice| self.alternatives(choice)).collect()
            }
            _ => vec![schema],
        }
    }

    fn word(&mut self, fitting: &[&'a Value], text: &str, pointer: &str) {
        let words: Vec<Vec<&str>> = fitting.iter().map(|schema| words(schema)).collect();
        if words.iter().any(Vec::is_empty) {
            return; // any text will do
        }
        let words = words.concat();
        if !words.contains(&text) {
            self.found.push(unknown_word(text, &words, pointer));
        }
    }

    fn bounds(&mut self, schema: &Value, value: &Value, pointer: &str) {
        let (Some(number), bound) = (value.as_f64(), |key: &str| schema.get(key).and_then(Value::as_f64)) else {
            return;
        };
        let unsigned = schema.get("format").and_then(Value::as_str) == Some("uint32");
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

    fn object(&mut self, schema: &'a Value, object: &Object, pointer: &str) {
        let mut rules = Rules::default();
        self.gather(schema, object, pointer, &mut rules);
        for (key, value) in object {
            let below = format!("{pointer}/{}", token(key));
            match (rules.property(key), rules.additional) {
                (Some(schema), _) => match unused(schema) {
                    Some(meaning) => {
                        let message = format!("`{key}` ({meaning}) is not used by hookbox");
                        self.found.push(Finding::warning(below, message));
                    }
                    None => self.value(schema, value, &below),
                },
                // A key of its own that is misspelt would be read as one of the others.
                (None, Some(schema)) if !self.fits(schema, value) && rules.near(key).is_some() => {
                    self.found.push(rules.unknown(key, &below));
                }
                (None, Some(schema)) => self.value(schema, value, &below),
                (None, None) if rules.closed && !rules.open => self.found.push(rules.unknown(key, &below)),
                (None, None) => {}
            }
        }
        for missing in rules.required.iter().filter(|name| !object.contains_key(**name)) {
            self.found.push(Finding::error(pointer, format!("missing key `{missing}`")));
        }
    }

    fn fits(&self, schema: &'a Value, value: &Value) -> bool {
        self.alternatives(schema).iter().any(|schema| accepts(schema, value))
    }

    /// Collects what `schema` and its parts say about `object`; of a choice by `type`, the part that is chosen.
    fn gather(&mut self, schema: &'a Value, object: &Object, pointer: &str, rules: &mut Rules<'a>) {
        if let Some(target) = self.schema.target(schema) {
            self.gather(target, object, pointer, rules);
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            rules.properties.extend(properties.iter().map(|(name, schema)| (name.as_str(), schema)));
        }
        if let Some(required) = schema.get("required").and_then(Value::as_array) {
            rules.required.extend(required.iter().filter_map(Value::as_str));
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.gather(part, object, pointer, rules);
        }
        if let Some(choices) = choices(schema) {
            self.choose(choices, object, pointer, rules);
        }
        match schema.get("additionalProperties") {
            Some(Value::Bool(true)) => rules.open = true,
            Some(Value::Bool(false)) => rules.closed = true,
            Some(Value::Object(_)) => rules.additional = schema.get("additionalProperties"),
            _ if schema.get("unevaluatedProperties") == Some(&Value::Bool(false)) => rules.closed = true,
            _ => {}
        }
    }

    fn choose(&mut self, choices: &'a [Value], object: &Object, pointer: &str, rules: &mut Rules<'a>) {
        let tag = |choice: &'a Value| choice.pointer("/properties/type/const").and_then(Value::as_str);
        let known: Vec<&str> = choices.iter().filter_map(tag).collect();
        match object.get("type") {
            Some(Value::String(kind)) => match choices.iter().find(|choice| tag(choice) == Some(kind)) {
                Some(choice) => return self.gather(choice, object, pointer, rules),
                None => self.found.push(unknown_word(kind, &known, &format!("{pointer}/type"))),
            },
            Some(other) => {
                let message = format!("expected a string, found {}", describe(other));
                self.found.push(Finding::error(format!("{pointer}/type"), message));
            }
            None => {
                let missing = Finding::error(pointer, "missing key `type`");
                self.found.push(missing.help(format!("known are {}", list(&known))));
            }
        }
        // Which keys belong here is not known, so none is called unknown.
        rules.open = true;
    }
}

/// What a key is for in the client that knows it, when we do not use it.
fn unused(schema: &Value) -> Option<&str> {
    schema.get("x-unused")?.as_str()
}

fn choices(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()
}

/// The words a schema of strings allows; none: every text.
fn words(schema: &Value) -> Vec<&str> {
    match schema.get("enum").and_then(Value::as_array) {
        Some(words) => words.iter().filter_map(Value::as_str).collect(),
        None => schema.get("const").and_then(Value::as_str).into_iter().collect(),
    }
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether the value is of a type the schema allows.
fn accepts(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    types.is_empty()
        || types.iter().any(|name| match *name {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            _ => value.is_object(),
        })
}

/// What the schemas allow, for people. That `null` counts as absent is not worth saying.
fn expected(schemas: &[&Value]) -> String {
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

fn unknown_word(word: &str, known: &[&str], pointer: &str) -> Finding {
    Finding::error(pointer, format!("unknown word `{word}`")).help(suggestion(word, known))
}
