//! Strict JSON: what two parsers could read differently is an error, because a gate must see what the tool sees.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use thiserror::Error;

/// A JSON object, in the order it was written.
pub type Object = Map<String, Value>;

/// Why a text is not an event or an output of a dialect. The message names the place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The text is not JSON, is nested deeper than 128 levels, repeats a key or holds half a surrogate pair.
    #[error("not valid JSON: {0}")]
    Syntax(String),
    /// The bytes are not UTF-8.
    #[error("not UTF-8: byte {0} starts no character")]
    Utf8(usize),
    /// Valid JSON of another form than the dialect gives.
    #[error("{pointer}: expected {expected}, found {found}")]
    Type {
        /// JSON pointer into the text, empty for the whole of it.
        pointer: String,
        /// What the dialect says belongs there.
        expected: String,
        /// What is there, shortened.
        found: String,
    },
    /// A field without which the event means nothing.
    #[error("{pointer}: missing; {why}")]
    Missing {
        /// JSON pointer of the absent field.
        pointer: String,
        /// Why it is needed.
        why: String,
    },
    /// A word where the dialect knows only certain words.
    #[error("{pointer}: unknown {what} `{found}`, known are {known}")]
    Unknown {
        /// JSON pointer of the word.
        pointer: String,
        /// What the word should have been, for example `decision`.
        what: &'static str,
        /// The word, shortened.
        found: String,
        /// The words the dialect knows.
        known: String,
    },
}

impl DecodeError {
    /// A [`DecodeError::Type`] at `pointer`.
    pub fn wrong_type(pointer: impl Into<String>, expected: impl Into<String>, found: &Value) -> Self {
        Self::Type { pointer: pointer.into(), expected: expected.into(), found: describe(found) }
    }
}

/// Parses one JSON text strictly.
///
/// # Errors
/// [`DecodeError::Utf8`], or [`DecodeError::Syntax`] with line and column: also for a repeated key, of which one parser
/// keeps the first and another the last.
pub fn parse(bytes: &[u8]) -> Result<Value, DecodeError> {
    let text = std::str::from_utf8(bytes).map_err(|e| DecodeError::Utf8(e.valid_up_to()))?;
    serde_json::from_str::<Strict>(text).map(|strict| strict.0).map_err(|e| DecodeError::Syntax(e.to_string()))
}

/// Parses one JSON text strictly and requires an object.
///
/// # Errors
/// As [`parse`], or [`DecodeError::Type`].
pub fn parse_object(bytes: &[u8]) -> Result<Object, DecodeError> {
    match parse(bytes)? {
        Value::Object(object) => Ok(object),
        other => Err(DecodeError::wrong_type("", "an object", &other)),
    }
}

/// A value in a few words, for messages: its type, and its text when that is short.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(b) => format!("the boolean {b}"),
        Value::Number(n) => format!("the number {n}"),
        Value::String(s) => format!("the string {:?}", shorten(s, 60)),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(object) => format!("an object of {}", object.len()),
    }
}

/// The first `limit` characters of a text, with `…` where something was cut.
pub fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A key as one reference token of a JSON pointer (RFC 6901).
pub fn token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// A [`Value`] whose objects have no repeated key.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

impl<'de> DeserializeSeed<'de> for StrictVisitor {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::String(v.to_owned()))
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(StrictVisitor)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(de::Error::custom(format_args!("key `{}` appears twice", shorten(&key, 60))));
            }
            let value = map.next_value_seed(StrictVisitor)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_two_parsers_could_read_differently_is_an_error() {
        for bad in
            [&br#"{"a":1,"a":2}"#[..], br#""\ud800""#, b"{} {}", b"\xff", b"\"\0\"", b"", b"{\"a\":{\"b\":1,\"b\":1}}"]
        {
            assert!(parse(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn a_hundred_thousand_levels_are_an_error_not_a_crash() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(matches!(parse(deep.as_bytes()), Err(DecodeError::Syntax(m)) if m.contains("recursion")));
    }

    #[test]
    fn order_and_doubles_survive() {
        let text = r#"{"z":0.1,"a":1.7976931348623157e308,"m":[1,-1,18446744073709551615,2.0]}"#;
        assert_eq!(parse(text.as_bytes()).unwrap().to_string(), text.replace("e308", "e+308"));
    }
}
