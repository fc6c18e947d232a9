//! Reads the event name and the tool name of an invalid event.
//!
//! A text may end too early, be nested too deep or have invalid UTF-8. It is still an event, and the hooks that
//! are configured for it count as failed, each under its own failure policy.

use std::ops::Range;

use crate::json::{
    scan::{Container, Fault, Scanner, Token},
    string::unescape,
};

/// The known parts of an invalid event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glimpse {
    /// The event's name as the client wrote it.
    pub name: String,
    /// The tool's name. `None`: it is missing or ambiguous, so the event may be about any tool.
    pub tool: Option<String>,
}

/// Paths of the event name and the tool name in a dialect's events. A path is one or two keys, from the outside in.
/// There are several paths if the dialect accepts several forms.
#[derive(Debug)]
pub struct Places {
    /// Paths of the event's name.
    pub name: &'static [&'static [&'static str]],
    /// Paths of the tool's name.
    pub tool: &'static [&'static [&'static str]],
}

/// Reads the names from a text of this dialect. `name` is the event's name where the wire does not carry it. Takes
/// linear time for any text.
pub(crate) fn glimpse(places: &Places, wire: &[u8], name: Option<&str>) -> Option<Glimpse> {
    let wire = behind_mark(wire);
    let (mut names, mut tools) = (Found::default(), Found::default());
    let walked = walk(wire, |path, token, range| {
        if token == Token::String {
            if places.name.iter().any(|place| is(path, place)) {
                names.add(text(wire, range));
            } else if places.tool.iter().any(|place| is(path, place)) {
                tools.add(text(wire, range));
            }
        }
    });
    let name = match (name, names) {
        (Some(name), _) => name.to_owned(),
        (None, Found::One(name)) => name,
        // After a fault in the text, the nesting is unknown.
        (None, Found::None) if walked.is_err() => {
            let mut found = Found::default();
            places.name.iter().filter_map(|place| place.last()).for_each(|key| anywhere(key, wire, &mut found));
            found.one()?
        }
        (None, _) => return None,
    };
    Some(Glimpse { name, tool: tools.one() })
}

/// Returns the number under this top-level key. Reading stops where the nesting is no longer clear.
pub fn number(key: &str, wire: &[u8]) -> Option<u64> {
    let wire = behind_mark(wire);
    let mut found = Found::default();
    // A fault only ends the search.
    let _ = walk(wire, |path, token, range| {
        if token == Token::Number && is(path, &[key]) {
            found.add(text(wire, range));
        }
    });
    found.one()?.parse().ok()
}

/// Removes a byte order mark. Clients should not write one, but a program in between may.
fn behind_mark(wire: &[u8]) -> &[u8] {
    wire.strip_prefix(b"\xef\xbb\xbf").unwrap_or(wire)
}

/// The value at a path.
#[derive(Debug, Default)]
enum Found {
    #[default]
    None,
    One(String),
    /// Values that differ: two readers could take different ones.
    Several,
}

impl Found {
    fn add(&mut self, found: String) {
        match self {
            Self::None => *self = Self::One(found),
            Self::One(before) if *before == found => {}
            _ => *self = Self::Several,
        }
    }

    fn one(self) -> Option<String> {
        if let Self::One(found) = self { Some(found) } else { None }
    }
}

/// Maximum number of keys in a path.
const DEPTH: usize = 2;

/// Reads the text as long as its nesting is clear. Calls the function for each scalar near the top, with its path.
fn walk(wire: &[u8], mut scalar: impl FnMut(&[String], Token, Range<usize>)) -> Result<(), Fault> {
    let mut scanner = Scanner::tolerant(wire);
    let mut path: Vec<String> = Vec::new();
    while let Some(token) = scanner.next()? {
        let depth = scanner.depth();
        match token {
            Token::Key if depth <= DEPTH => {
                path.truncate(depth - 1);
                path.push(text(wire, scanner.span()));
            }
            // Items of an array have no key. No path has an empty key.
            Token::Open(Container::Array) if depth <= DEPTH => {
                path.truncate(depth - 1);
                path.push(String::new());
            }
            Token::String | Token::Number if depth == path.len() => scalar(&path, token, scanner.span()),
            _ => {}
        }
    }
    Ok(())
}

fn is(path: &[String], place: &[&str]) -> bool {
    path.iter().map(String::as_str).eq(place.iter().copied())
}

/// Decodes a string of the text. Invalid UTF-8 becomes U+FFFD.
fn text(wire: &[u8], range: Range<usize>) -> String {
    unescape(&String::from_utf8_lossy(wire.get(range).unwrap_or_default()))
}

/// Finds the string of this key at any depth, unless the key has different strings. An escaped quote does not start a key.
fn anywhere(key: &str, wire: &[u8], found: &mut Found) {
    let quoted = format!("\"{key}\"").into_bytes();
    let mut at = 0;
    while let Some(rest) = wire.get(at..) {
        let Some(quote) = rest.iter().position(|byte| *byte == b'"') else { break };
        let opens = at + quote;
        at = opens + 1;
        if rest.get(quote..).is_some_and(|here| here.starts_with(&quoted))
            && opens.checked_sub(1).and_then(|before| wire.get(before)) != Some(&b'\\')
            && let Some(value) = value_of(wire.get(opens + quoted.len()..).unwrap_or_default())
        {
            found.add(value);
        }
    }
}

/// Reads the string after a key: `: "…"`.
fn value_of(after: &[u8]) -> Option<String> {
    let after = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    // The scanner reads only one string and does not check what follows.
    let mut scanner = Scanner::tolerant(after);
    match scanner.next() {
        Ok(Some(Token::String)) => Some(text(after, scanner.span())),
        _ => None,
    }
}
