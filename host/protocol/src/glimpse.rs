//! What can still be told of an event that cannot be read: which one it is, and of which tool.
//!
//! A text that breaks off, is nested too deep or is not UTF-8 somewhere still belongs to an event, and the hooks that are
//! subscribed to it have a say in what follows: each counts as failed, by its own policy.

use std::ops::Range;

use crate::json::{
    scan::{Container, Fault, Scanner, Token},
    string::unescape,
};

/// What is known of an event that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glimpse {
    /// The event's name as the client wrote it.
    pub name: String,
    /// The tool's name; `None` also where it could not be found for sure: then any tool has to be reckoned with.
    pub tool: Option<String>,
}

/// Where a dialect's events have their own name and the tool's: each place is one or two keys, from the outside in. Several
/// where the dialect knows several ways to write it.
#[derive(Debug)]
pub struct Places {
    /// The event's name.
    pub name: &'static [&'static [&'static str]],
    /// The tool's name.
    pub tool: &'static [&'static [&'static str]],
}

/// Finds what is known of a text of this dialect. `name` is the event's name where the wire does not carry it. Linear in
/// the text, whatever it is.
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
        // Behind the place where the text is broken nobody knows what is within what.
        (None, Found::None) if walked.is_err() => {
            let mut found = Found::default();
            places.name.iter().filter_map(|place| place.last()).for_each(|key| anywhere(key, wire, &mut found));
            found.one()?
        }
        (None, _) => return None,
    };
    Some(Glimpse { name, tool: tools.one() })
}

/// The number under this key at the top, as far as it is clear what is within what.
pub fn number(key: &str, wire: &[u8]) -> Option<u64> {
    let wire = behind_mark(wire);
    let mut found = Found::default();
    // What comes behind a fault is not asked for.
    let _ = walk(wire, |path, token, range| {
        if token == Token::Number && is(path, &[key]) {
            found.add(text(wire, range));
        }
    });
    found.one()?.parse().ok()
}

/// A text behind its byte order mark, if it has one: what a client should not write, and some program between may.
fn behind_mark(wire: &[u8]) -> &[u8] {
    wire.strip_prefix(b"\xef\xbb\xbf").unwrap_or(wire)
}

/// What stands in a place.
#[derive(Debug, Default)]
enum Found {
    #[default]
    None,
    One(String),
    /// Two readers could read two things.
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

/// Keys on the way to a place at most.
const DEPTH: usize = 2;

/// Reads as far as it is clear what is within what, and gives each scalar near the top with the keys on the way to it.
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
            // What is in an array has no key: this one no place has.
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

/// A string of the text. What is not UTF-8 in it is U+FFFD.
fn text(wire: &[u8], range: Range<usize>) -> String {
    unescape(&String::from_utf8_lossy(wire.get(range).unwrap_or_default()))
}

/// The string beside this key, wherever it stands, unless different ones do. A quote behind a backslash opens nothing.
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

/// The string after a key: `: "…"`.
fn value_of(after: &[u8]) -> Option<String> {
    let after = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    // Only the one string: a scanner that ends behind it.
    let mut scanner = Scanner::tolerant(after);
    match scanner.next() {
        Ok(Some(Token::String)) => Some(text(after, scanner.span())),
        _ => None,
    }
}
