//! JSON as a gate must read it: what two parsers could read differently is an error, because a gate must see what the
//! tool sees. See `docs/adr/0004-strict-json.md`.

mod checked;
mod members;
pub(crate) mod same;
pub(crate) mod scan;
pub(crate) mod string;
pub(crate) mod text;

use std::{collections::HashSet, sync::Arc};

use serde_json::{Map, Value};
use thiserror::Error;

use crate::{
    event::raw::{Moved, Place, Raw, joined},
    output::Note,
};
use checked::Checked;
pub(crate) use members::{Member, Members, Whole};
use scan::{Container, Fault, Token};
pub use scan::{MAX_DEPTH, MAX_NODES};
use string::escaped;
use text::Text;

/// A JSON object, in the order it was written.
pub type Object = Map<String, Value>;

/// Why a text is not an event or an output of a dialect. The message names the place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The text is not JSON, is nested deeper than [`MAX_DEPTH`], has more than [`MAX_NODES`] or repeats a key.
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

/// Parses one JSON text strictly: half a surrogate pair is an error too.
///
/// # Errors
/// [`DecodeError::Utf8`], or [`DecodeError::Syntax`] with line and column: also for a repeated key, of which one parser
/// keeps the first and another the last.
pub fn parse(bytes: &[u8]) -> Result<Value, DecodeError> {
    match read(bytes)? {
        (value, 0) => Ok(value),
        _ => Err(DecodeError::Syntax("an escape is half a surrogate pair, which is not a character".into())),
    }
}

/// Parses one JSON text and requires an object. Half a surrogate pair is read as U+FFFD.
///
/// # Errors
/// As [`parse`], or [`DecodeError::Type`].
pub fn parse_object(bytes: &[u8]) -> Result<Object, DecodeError> {
    match read(bytes)?.0 {
        Value::Object(object) => Ok(object),
        other => Err(DecodeError::wrong_type("", "an object", &other)),
    }
}

/// A text's value, and how many of its escapes were read as U+FFFD.
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

/// The object of a client's text, with its text.
#[derive(Debug)]
pub(crate) struct Wire<'a> {
    /// The object's members, to which the dialect may add more.
    pub(crate) members: Members<'a>,
    /// What was read otherwise than it is written.
    pub(crate) notes: Vec<Note>,
    /// The text that says what was read; how many of its members there are, and which are gone, since they were null and
    /// others of that name were added.
    text: Arc<Text>,
    had: usize,
    filled: Vec<&'static str>,
    moved: Vec<Moved>,
}

impl<'a> Wire<'a> {
    /// Whether the event has something under this name; null is nothing.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.find(name).is_some_and(|value| !value.is_null())
    }

    /// Gives what the client wrote elsewhere the contract's name, without a copy.
    pub(crate) fn rename(&mut self, name: &'static str, member: &'static str, below: Option<&'static str>) {
        let value = match below {
            None => self.members.take(member).inspect(|_| self.had -= 1),
            Some(below) => self.members.remove_below(member, below).map(Member::from),
        };
        if let Some(value) = value {
            self.put(name, Place::At(member, below), value);
        }
    }

    /// The same of several members, which become one object.
    pub(crate) fn gather(&mut self, name: &'static str, members: HashSet<String>) {
        let gathered = self.members.take_all(&members);
        self.had -= gathered.len();
        self.put(name, Place::Members(members), Value::Object(gathered).into());
    }

    fn put(&mut self, name: &'static str, from: Place, value: Member<'a>) {
        self.add(name, value);
        self.moved.push(Moved { name, from });
    }

    /// Adds a member that is not there, or is null.
    pub(crate) fn add(&mut self, name: &'static str, value: impl Into<Member<'a>>) {
        if self.members.take(name).is_some() {
            self.had -= 1;
            self.filled.push(name);
        }
        self.members.push(name, value);
    }

    /// The whole event with the members that were added: as it was written, as far as that is what was read.
    pub(crate) fn raw(&mut self) -> Raw {
        let (mut text, moved) = (Arc::clone(&self.text), std::mem::take(&mut self.moved));
        if !self.filled.is_empty() {
            let members = text::members(&text).unwrap_or_default();
            let left = joined(members.iter().filter(|(key, _)| !self.filled.contains(&key.as_str())));
            text = Arc::new(left.into());
        }
        let added = self.members.iter().skip(self.had).map(|(key, member)| (key, member.value()));
        Raw::written(text, added, moved)
    }
}

/// [`parse_object`], with its text and what was read otherwise than it is written. All of it is checked; its members are
/// read when somebody looks into them.
///
/// # Errors
/// As [`parse_object`].
pub(crate) fn parse_wire(bytes: &[u8]) -> Result<Wire<'_>, DecodeError> {
    let mut checked = Checked::new(bytes)?;
    let mut members = match members(&mut checked).map_err(|fault| checked.syntax(&fault))? {
        Ok(members) => members,
        Err(other) => return Err(DecodeError::wrong_type("", "an object", &other)),
    };
    let (whole, mut notes) = (checked.text().trim_ascii(), Vec::new());
    let text = Arc::new(match (checked.replaced(), checked.has_blanks()) {
        (0, false) => Text::from(whole.to_owned()),
        (0, true) => Text::compacted(whole),
        (replaced, _) => {
            let note = format!("{replaced} times half a surrogate pair, which is not a character: read as U+FFFD");
            notes.push(Note::warning(note));
            Text::compacted(&repaired(whole))
        }
    });
    if checked.replaced() == 0 && !checked.has_blanks() {
        members.kept_in(whole, &text);
    }
    Ok(Wire { had: members.len(), members, notes, text, filled: Vec::new(), moved: Vec::new() })
}

/// The members of a text that is an object, unread; the value of another.
fn members<'a>(text: &mut Checked<'a>) -> Result<Result<Members<'a>, Value>, Fault> {
    let first = text.next()?;
    if first != Some(Token::Open(Container::Object)) {
        let other = text.value(first)?;
        text.next()?;
        return Ok(Err(other));
    }
    let mut members = Members::new();
    while text.next()? == Some(Token::Key) {
        let name = text.string();
        let (text, escapes) = text.value_text()?;
        members.push_unread(name, text, escapes);
    }
    text.next()?;
    Ok(Ok(members))
}

/// A JSON text with U+FFFD wherever an escape is half a surrogate pair.
fn repaired(text: &str) -> String {
    let (mut repaired, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((plain, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        repaired.push_str(plain);
        let (character, length) = escaped(escape.as_bytes());
        let (escape, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        repaired.push_str(if character.is_some() { escape } else { "\\ufffd" });
        rest = after;
    }
    repaired + rest
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_two_parsers_could_read_differently_is_an_error() {
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
        assert!(matches!(parse(deep.as_bytes()), Err(DecodeError::Syntax(m)) if m.contains("deeper than 1,000")));
    }

    /// Whatever is read can be cloned, compared, written and dropped on a stack of 2 MiB, which a test has too.
    #[test]
    fn a_thousand_levels_are_read_on_a_small_stack() {
        let deep = format!("{}1{}", r#"{"a":["#.repeat(MAX_DEPTH / 2), "]}".repeat(MAX_DEPTH / 2));
        let value = parse(deep.as_bytes()).unwrap();
        assert_eq!(value.clone(), value);
        assert_eq!(value.to_string(), deep);
    }

    #[test]
    fn half_a_surrogate_pair_is_no_character() {
        let text = r#"{"a":"\ud83d\ude00 \ud83d","b":"\ude00\ud83d\u0041","\ud800":"\u00e9"}"#;
        let Wire { members, notes, .. } = parse_wire(text.as_bytes()).unwrap();
        assert_eq!(
            Value::Object(members.into_object()).to_string(),
            "{\"a\":\"😀 \u{fffd}\",\"b\":\"\u{fffd}\u{fffd}A\",\"\u{fffd}\":\"é\"}"
        );
        assert!(notes.iter().any(|note| note.text.starts_with("4 times")), "{notes:?}");
    }

    /// Ours and `serde_json`'s agree on what is JSON, wherever `serde_json` reads what it is told to.
    #[test]
    fn what_is_json_is_what_serde_json_takes() {
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
