//! Lazily parsed JSON. A guard that reads one member of a large input neither copies nor keeps the rest, and one that
//! never builds a [`Value`] does not contain the code for it.

use std::cell::OnceCell;
use std::fmt;
use std::ops::Range;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize as _, Deserializer as _};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};

/// A text and the parse error, if one was found.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) unreadable: &'a OnceCell<String>,
}

impl Source<'_> {
    fn noted<T>(&self, read: serde_json::Result<T>) -> Option<T> {
        read.map_err(|error| self.unreadable.set(error.to_string())).ok()
    }
}

/// One value of a text.
#[derive(Clone)]
pub(super) struct Node {
    at: Range<usize>,
    read: OnceCell<Read>,
    value: OnceCell<Option<Value>>,
}

/// A value; its members and items are not parsed yet.
#[derive(Clone)]
enum Read {
    Members(Vec<(String, Node)>),
    Items(Vec<Node>),
    String(String),
    /// A short value, which is parsed at each access.
    Scalar,
}

impl Node {
    pub(super) fn new(at: Range<usize>) -> Self {
        Self { at, read: OnceCell::new(), value: OnceCell::new() }
    }

    /// Creates the root of a text of `size` bytes whose value is known.
    pub(super) fn of(value: Value, size: usize) -> Self {
        Self { value: OnceCell::from(Some(value)), ..Self::new(0..size) }
    }

    /// Returns the value at these members and indices.
    pub(super) fn find(&self, source: &Source<'_>, steps: &[String]) -> Option<&Self> {
        steps.iter().try_fold(self, |node, step| match node.read(source) {
            // If a name occurs twice the last one counts, as in a [`Value`].
            Read::Members(members) => members.iter().rev().find(|(name, _)| name == step).map(|(_, node)| node),
            Read::Items(items) => items.get(index(step)?),
            Read::String(_) | Read::Scalar => None,
        })
    }

    pub(super) fn str(&self, source: &Source<'_>) -> Option<&str> {
        match self.read(source) {
            Read::String(string) => Some(string),
            _ => None,
        }
    }

    /// Returns the text of a boolean, a number or `null`.
    pub(super) fn scalar<'a>(&self, source: &Source<'a>) -> Option<&'a str> {
        matches!(self.read(source), Read::Scalar).then(|| self.text(source).trim_ascii())
    }

    pub(super) fn value(&self, source: &Source<'_>) -> Option<&Value> {
        self.value.get_or_init(|| source.noted(serde_json::from_str(self.text(source)))).as_ref()
    }

    /// Returns the value, if it is known.
    pub(super) fn known(&self) -> Option<&Value> {
        self.value.get()?.as_ref()
    }

    fn text<'a>(&self, source: &Source<'a>) -> &'a str {
        source.text.get(self.at.clone()).unwrap_or_default()
    }

    fn read(&self, source: &Source<'_>) -> &Read {
        self.read.get_or_init(|| {
            let text = self.text(source);
            let mut reader = Deserializer::from_str(text);
            // `deserialize_any` is not used for numbers: with the feature `arbitrary_precision`, which another crate
            // may enable, it presents a number as a map.
            let read = match text.trim_ascii_start().as_bytes().first() {
                Some(b'{' | b'[' | b'"') => reader.deserialize_any(Reader(source.text)),
                _ => IgnoredAny::deserialize(&mut reader).map(|_| Read::Scalar),
            };
            source.noted(read.and_then(|read| reader.end().map(|()| read))).unwrap_or(Read::Scalar)
        })
    }
}

/// Parses an array index. Signs and leading zeros are not allowed.
fn index(step: &str) -> Option<usize> {
    let is_plain = step == "0" || step.starts_with(|first| matches!(first, '1'..='9'));
    step.parse().ok().filter(|_| is_plain)
}

/// A visitor that reads one value of this text.
///
/// It implements the methods for all kinds of values, because serde's defaults contain the printing of doubles, which
/// would add a fifth to the size of a small hook.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn node(&self, raw: &RawValue) -> Node {
        let start = raw.get().as_ptr().addr().wrapping_sub(self.0.as_ptr().addr());
        Node::new(start..start.wrapping_add(raw.get().len()))
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read, A::Error> {
        let mut members = Vec::new();
        while let Some((name, raw)) = map.next_entry()? {
            members.push((name, self.node(raw)));
        }
        Ok(Read::Members(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Read, A::Error> {
        let mut items = Vec::new();
        while let Some(raw) = seq.next_element()? {
            items.push(self.node(raw));
        }
        Ok(Read::Items(items))
    }

    fn visit_str<E>(self, string: &str) -> Result<Read, E> {
        Ok(Read::String(string.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Read, E> {
        Ok(Read::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Read, E> {
        Ok(Read::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Read, E> {
        Ok(Read::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Read, E> {
        Ok(Read::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Read, E> {
        Ok(Read::Scalar)
    }
}
