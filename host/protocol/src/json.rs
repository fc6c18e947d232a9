//! Strict JSON. A text that two parsers could read differently is an error, because a gate must see what the tool sees.
//! See `docs/adr/0004-strict-json.md`.

mod checked;
mod fields;
mod members;
pub(crate) mod scan;
pub(crate) mod string;
pub(crate) mod text;
mod value;

use std::sync::Arc;

use serde_json::{Map, Value};
use thiserror::Error;

use checked::Checked;
pub use fields::Fields;
pub(crate) use members::Members;
use scan::{Container, Fault, Token};
pub use scan::{MAX_DEPTH, MAX_NODES};
use text::Member;
pub use value::Json;

/// A JSON object. Its members keep their order.
pub type Object = Map<String, Value>;

/// An error in a text that should be an event or an output of a dialect. The message names the place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The text is not JSON, or repeats a key.
    #[error("not valid JSON: {0}")]
    Syntax(String),
    /// The text exceeds [`MAX_DEPTH`] nesting levels or [`MAX_NODES`] values and keys.
    #[error("too large to be read: {0}")]
    Limit(String),
    /// The bytes are not UTF-8.
    #[error("not UTF-8: byte {0} starts no character")]
    Utf8(usize),
    /// The JSON is valid, but a value has another type than the dialect gives it.
    #[error("{pointer}: expected {expected}, found {found}")]
    Type {
        /// JSON pointer into the text; empty for the whole text.
        pointer: String,
        /// The type that the dialect expects.
        expected: String,
        /// The value that was found, shortened.
        found: String,
    },
    /// A required field is missing.
    #[error("{pointer}: missing; {why}")]
    Missing {
        /// JSON pointer of the missing field.
        pointer: String,
        /// The reason why it is required.
        why: String,
    },
    /// A word is unknown where the dialect has a fixed list.
    #[error("{pointer}: unknown {what} `{found}`, known are {known}")]
    Unknown {
        /// JSON pointer of the word.
        pointer: String,
        /// The kind of word, for example `decision`.
        what: &'static str,
        /// The word that was found, shortened.
        found: String,
        /// The words that the dialect knows.
        known: String,
    },
}

impl DecodeError {
    /// Makes a [`DecodeError::Type`] at `pointer`.
    pub fn wrong_type(pointer: impl Into<String>, expected: impl Into<String>, found: &Value) -> Self {
        Self::Type { pointer: pointer.into(), expected: expected.into(), found: describe(found) }
    }
}

/// Parses one JSON text strictly. Half a surrogate pair is an error too.
///
/// # Errors
/// [`DecodeError::Utf8`], [`DecodeError::Limit`], or [`DecodeError::Syntax`] with line and column. A repeated key is a
/// syntax error, because some parsers keep its first value and others its last.
pub fn parse(bytes: &[u8]) -> Result<Value, DecodeError> {
    match read(bytes)? {
        (value, 0) => Ok(value),
        _ => Err(DecodeError::Syntax("an escape is half a surrogate pair, which is not a character".into())),
    }
}

/// Parses one JSON text that must be an object. Half a surrogate pair is read as U+FFFD.
///
/// # Errors
/// The errors of [`parse`] for all other faults, and [`DecodeError::Type`].
pub fn parse_object(bytes: &[u8]) -> Result<Object, DecodeError> {
    match read(bytes)?.0 {
        Value::Object(object) => Ok(object),
        other => Err(DecodeError::wrong_type("", "an object", &other)),
    }
}

/// Reads a text. Returns its value and the number of escapes that were read as U+FFFD.
fn read(bytes: &[u8]) -> Result<(Value, usize), DecodeError> {
    let mut text = Checked::new(bytes)?;
    let value = whole(&mut text).map_err(|fault| text.syntax(&fault))?;
    Ok((value, text.replaced()))
}

fn whole(text: &mut Checked<'_>) -> Result<Value, Fault> {
    let first = text.next()?;
    let value = text.value(first)?;
    text.next()?;
    Ok(value)
}

/// The object of a text in normal form: compact, without half surrogate pairs.
pub(crate) struct Normal {
    pub(crate) text: Arc<String>,
    pub(crate) members: Members,
    /// The number of escapes that were half a surrogate pair. Each is U+FFFD now.
    pub(crate) repaired: usize,
}

/// Checks a text that must be an object and converts it to normal form. The members are ranges of the new text. Clients
/// usually write the normal form, which is copied unchanged.
///
/// # Errors
/// The errors of [`parse_object`].
pub(crate) fn normal(bytes: &[u8]) -> Result<Normal, DecodeError> {
    let mut checked = Checked::new(bytes)?;
    let places = match places(&mut checked).map_err(|fault| checked.syntax(&fault))? {
        Ok(places) => places,
        Err(other) => return Err(DecodeError::wrong_type("", "an object", &other)),
    };
    let (whole, repaired) = (checked.text().trim_ascii(), checked.replaced());
    if repaired == 0 && !checked.has_blanks() && checked.text().starts_with('{') {
        let text = Arc::new(whole.to_owned());
        let members = Members::written(&text, places);
        return Ok(Normal { text, members, repaired });
    }
    let text = Arc::new(if repaired == 0 { text::compact(whole) } else { text::compact(&text::repaired(whole)) });
    let places = text::members(&text, 0..text.len()).unwrap_or_default();
    let members = Members::written(&text, places);
    Ok(Normal { text, members, repaired })
}

/// Returns the members of a text that is an object. The inner `Err` has the value of any other text.
fn places(text: &mut Checked<'_>) -> Result<Result<Vec<Member>, Value>, Fault> {
    let first = text.next()?;
    if first != Some(Token::Open(Container::Object)) {
        let other = text.value(first)?;
        text.next()?;
        return Ok(Err(other));
    }
    let mut places = Vec::with_capacity(12);
    while text.next()? == Some(Token::Key) {
        let (name, escapes) = text.last();
        places.push(Member { name, escapes, value: text.value_range()? });
    }
    text.next()?;
    Ok(Ok(places))
}

/// Describes a value in a few words, for messages: its type, and its text if that is short.
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

/// Returns the first `limit` characters of a text, with `…` if the text was longer.
pub fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Escapes a key as one reference token of a JSON pointer (RFC 6901).
pub fn token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_json_is_an_error() {
        for bad in [
            &br#"{"a":1,"a":2}"#[..],
            br#"{"a":1,"\u0061":2}"#,
            br#""\ud800""#,
            b"{} {}",
            b"\xff",
            b"\"\0\"",
            b"",
            b"{\"a\":{\"b\":1,\"b\":1}}",
        ] {
            assert!(parse(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn a_hundred_thousand_levels_are_an_error_not_a_crash() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(matches!(parse(deep.as_bytes()), Err(DecodeError::Limit(m)) if m.contains("deeper than 1,000")));
    }

    /// A value of the maximum depth can be cloned, compared, written and dropped on a stack of 2 MiB, the stack of a test.
    #[test]
    fn a_thousand_levels_are_read_on_a_small_stack() {
        let deep = format!("{}1{}", r#"{"a":["#.repeat(MAX_DEPTH / 2), "]}".repeat(MAX_DEPTH / 2));
        let value = parse(deep.as_bytes()).unwrap();
        assert_eq!(value.clone(), value);
        assert_eq!(value.to_string(), deep);
    }

    /// This parser and `serde_json` agree on valid JSON, except for the texts that only this parser rejects.
    #[test]
    fn accepts_the_same_json_as_serde_json() {
        let texts = [
            "[]",
            "{}",
            "[1,]",
            "{,}",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "[1 2]",
            "{\"a\":1 \"b\":2}",
            "01",
            "-",
            "-0",
            "1.",
            "1.5e",
            "1e5",
            "1E+5",
            ".5",
            "+1",
            "tru",
            "true",
            "nul",
            "falsee",
            "[}",
            "{]",
            "]",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\\/\\b\"",
            " [ 1 , { \"a\" : null } ] ",
            "\u{feff}{}",
            "[1]x",
            "NaN",
            "18446744073709551616",
            "'a'",
            "{\"a\":1}}",
            "[[]",
            "// x\n1",
            "1 // x",
            "\t1\r\n",
            "\"a\nb\"",
        ];
        for text in texts {
            assert_eq!(parse(text.as_bytes()).ok(), serde_json::from_str(text).ok(), "{text}");
        }
    }

    #[test]
    fn order_and_doubles_survive() {
        let text = r#"{"z":0.1,"a":1.7976931348623157e308,"m":[1,-1,18446744073709551615,2.0]}"#;
        assert_eq!(parse(text.as_bytes()).unwrap().to_string(), text.replace("e308", "e+308"));
    }
}
