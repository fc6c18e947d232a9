//! JSON as a gate must read it: what two parsers could read differently is an error, because a gate must see what the
//! tool sees. See `docs/adr/0004-strict-json.md`.

mod members;
pub(crate) mod same;
pub(crate) mod scan;
pub(crate) mod string;
pub(crate) mod text;

use std::{borrow::Cow, collections::HashSet, ops::Range};

use serde_json::{Map, Number, Value, map::Entry};
use thiserror::Error;

use crate::{
    event::raw::{Moved, Place, Raw, joined},
    output::Note,
};
pub(crate) use members::Members;
use members::Names;
use scan::{Container, Fault, Scanner, Token};
pub use scan::{MAX_DEPTH, MAX_NODES};
use string::{escaped, unescape};
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
        Read { value, replaced: 0, .. } => Ok(value.into()),
        _ => Err(DecodeError::Syntax("an escape is half a surrogate pair, which is no character".into())),
    }
}

/// Parses one JSON text and requires an object. Half a surrogate pair is read as U+FFFD.
///
/// # Errors
/// As [`parse`], or [`DecodeError::Type`].
pub fn parse_object(bytes: &[u8]) -> Result<Object, DecodeError> {
    match read(bytes)?.value {
        Whole::Object(members) => Ok(members.into_object()),
        Whole::Other(other) => Err(DecodeError::wrong_type("", "an object", &other)),
    }
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
    text: Text,
    had: usize,
    filled: Vec<&'static str>,
    moved: Vec<Moved>,
}

impl Wire<'_> {
    /// Whether the event has something under this name; null is nothing.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.get(name).is_some_and(|value| !value.is_null())
    }

    /// Gives what the client wrote elsewhere the contract's name, without a copy.
    pub(crate) fn rename(&mut self, name: &'static str, member: &'static str, below: Option<&'static str>) {
        let value = match below {
            None => self.members.remove(member).inspect(|_| self.had -= 1),
            Some(below) => {
                self.members.get_mut(member).and_then(Value::as_object_mut).and_then(|o| o.shift_remove(below))
            }
        };
        if let Some(value) = value {
            self.put(name, Place::At(member, below), value);
        }
    }

    /// The same of several members, which become one object.
    pub(crate) fn gather(&mut self, name: &'static str, members: HashSet<String>) {
        let gathered = self.members.take_all(&members);
        self.had -= gathered.len();
        self.put(name, Place::Members(members), Value::Object(gathered));
    }

    fn put(&mut self, name: &'static str, from: Place, value: Value) {
        self.add(name, value);
        self.moved.push(Moved { name, from });
    }

    /// Adds a member that is not there, or is null.
    pub(crate) fn add(&mut self, name: &'static str, value: Value) {
        if self.members.remove(name).is_some() {
            self.had -= 1;
            self.filled.push(name);
        }
        self.members.push(name, value);
    }

    /// The whole event with the members that were added: as it was written, as far as that is what was read.
    pub(crate) fn raw(&mut self) -> Raw {
        let (mut text, moved) = (std::mem::take(&mut self.text), std::mem::take(&mut self.moved));
        if !self.filled.is_empty() {
            let members = text::members(&text).unwrap_or_default();
            text = joined(members.iter().filter(|(key, _)| !self.filled.contains(&key.as_str()))).into();
        }
        Raw::written(text, self.members.iter().skip(self.had), moved)
    }
}

/// [`parse_object`], with its text and what was read otherwise than it is written.
///
/// # Errors
/// As [`parse_object`].
pub(crate) fn parse_wire(bytes: &[u8]) -> Result<Wire<'_>, DecodeError> {
    let Read { value, replaced, blanks, whole, values } = read(bytes)?;
    let members = match value {
        Whole::Object(members) => members,
        Whole::Other(other) => return Err(DecodeError::wrong_type("", "an object", &other)),
    };
    let (text, notes) = if replaced > 0 {
        let note = format!("{replaced} times half a surrogate pair, which is no character: read as U+FFFD");
        (Text::compacted(&mended(whole)), vec![Note::warning(note)])
    } else if blanks {
        (Text::compacted(whole), Vec::new())
    } else {
        (Text::indexed(whole.to_owned(), values), Vec::new())
    };
    Ok(Wire { had: members.len(), members, notes, text, filled: Vec::new(), moved: Vec::new() })
}

/// A JSON text with U+FFFD wherever an escape is half a surrogate pair.
fn mended(text: &str) -> String {
    let (mut mended, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((plain, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        mended.push_str(plain);
        let (character, length) = escaped(escape.as_bytes());
        let (escape, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        mended.push_str(if character.is_some() { escape } else { "\\ufffd" });
        rest = after;
    }
    mended + rest
}

/// From so many bytes on it is worth the time to keep no more memory than is needed.
const LARGE: usize = 64 << 10;

/// What was read.
struct Read<'a> {
    value: Whole<'a>,
    /// How many escapes were read as U+FFFD.
    replaced: usize,
    /// The text without the blanks around it, and whether there are others.
    whole: &'a str,
    blanks: bool,
    /// Where the values of members stand in the whole, and those of their members, unless there are blanks.
    values: Vec<Range<usize>>,
}

/// A text's value, whose members nobody needs as a map yet.
enum Whole<'a> {
    Object(Members<'a>),
    Other(Value),
}

impl From<Whole<'_>> for Value {
    fn from(whole: Whole<'_>) -> Self {
        match whole {
            Whole::Object(members) => Self::Object(members.into_object()),
            Whole::Other(value) => value,
        }
    }
}

/// A container that is not read to its end yet.
enum Open<'a> {
    Whole(Members<'a>),
    Object(Object),
    Array(Vec<Value>),
}

fn read(bytes: &[u8]) -> Result<Read<'_>, DecodeError> {
    let text = std::str::from_utf8(bytes).map_err(|e| DecodeError::Utf8(e.valid_up_to()))?;
    let syntax = |fault: Fault| DecodeError::Syntax(fault.within(bytes));
    let (mut scanner, mut replaced) = (Scanner::new(bytes), 0);
    let mut string = |scanner: &Scanner<'_>, range: Range<usize>| {
        let raw = text.get(range).unwrap_or_default();
        if !scanner.has_escapes() {
            return Cow::Borrowed(raw);
        }
        let (text, bad) = unescape(raw);
        replaced += bad;
        Cow::Owned(text)
    };
    // The containers that are open, each with the key that waits for its value, where that ends, and where the value begins.
    let mut open: Vec<(Open<'_>, Cow<'_, str>, usize, usize)> = Vec::new();
    let mut value = Whole::Other(Value::Null);
    let mut names = Names::default();
    let (mut nodes, mut values, mut below) = (0, Vec::with_capacity(16), Vec::new());
    let blanks_before = bytes.len() - bytes.trim_ascii_start().len();
    while let Some(token) = scanner.next().map_err(syntax)? {
        nodes += usize::from(token != Token::Close);
        if nodes > MAX_NODES {
            return Err(syntax(scanner.fault("more than 250,000 values and keys")));
        }
        let done = match token {
            Token::Open(container) => {
                let empty = match container {
                    Container::Object if open.is_empty() => Open::Whole(Members::new()),
                    Container::Object => Open::Object(Map::new()),
                    Container::Array => Open::Array(Vec::new()),
                };
                open.push((empty, Cow::default(), 0, 0));
                continue;
            }
            Token::Key(range) => {
                let end = range.end + 1;
                let key = string(&scanner, range);
                if let Some((_, waiting, ended, begins)) = open.last_mut() {
                    (*waiting, *ended, *begins) = (key, end, scanner.at() - blanks_before);
                }
                continue;
            }
            // Most arrays and objects have few items, and room for more: much, in a large text of small ones.
            Token::Close => match open.pop().map(|(open, ..)| open) {
                Some(Open::Whole(members)) => {
                    value = Whole::Object(members);
                    continue;
                }
                Some(Open::Object(object)) if bytes.len() >= LARGE && object.len() < 3 => {
                    Value::Object(object.into_iter().collect())
                }
                Some(Open::Object(object)) => Value::Object(object),
                Some(Open::Array(mut items)) => {
                    if bytes.len() >= LARGE {
                        items.shrink_to_fit();
                    }
                    Value::Array(items)
                }
                None => Value::Null,
            },
            Token::String(range) => Value::String(string(&scanner, range).into_owned()),
            Token::Number(range) => {
                let fault = Fault::new("a number that no 64 bits hold", range.end);
                let number = text.get(range).and_then(|raw| serde_json::from_str::<Number>(raw).ok());
                number.filter(|number| number.as_f64().is_some()).map(Value::Number).ok_or_else(|| syntax(fault))?
            }
            Token::True => true.into(),
            Token::False => false.into(),
            Token::Null => Value::Null,
        };
        let depth = open.len();
        match open.last_mut() {
            Some((Open::Whole(members), key, ended, begins)) => {
                values.push(*begins..scanner.at() - blanks_before);
                let added = names.add(members, std::mem::take(key), done);
                added.map_err(|key| syntax(scan::twice(&key, *ended)))?;
            }
            Some((Open::Object(object), key, ended, begins)) => {
                if depth == 2 {
                    below.push(*begins..scanner.at() - blanks_before);
                }
                match object.entry(std::mem::take(key)) {
                    Entry::Vacant(entry) => drop(entry.insert(done)),
                    Entry::Occupied(entry) => return Err(syntax(scan::twice(entry.key(), *ended))),
                }
            }
            Some((Open::Array(items), ..)) => items.push(done),
            None => value = Whole::Other(done),
        }
    }
    values.append(&mut below);
    Ok(Read { value, replaced, whole: text.trim_ascii(), blanks: scanner.has_blanks(), values })
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
