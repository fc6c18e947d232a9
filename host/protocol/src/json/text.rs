//! The text of an object as the client wrote it, and where its values stand in it.

use std::{
    ops::{Deref, Range},
    sync::OnceLock,
};

use serde_json::Value;

use super::{
    same::{has_double, same},
    scan::{Container, Scanner, Token},
    string::{plain, unescape},
};

/// A text that is known to be an object, on one line.
#[derive(Debug, Default)]
pub(crate) struct Text {
    line: String,
    /// Where the values of its members stand, and of their members. Found when somebody first asks.
    values: OnceLock<Vec<Range<usize>>>,
}

impl Text {
    /// Of a text that may have blanks around its tokens.
    pub(super) fn compacted(text: &str) -> Self {
        Self { line: compact(text), values: OnceLock::new() }
    }

    /// A value's text, if it is a member or a member of one.
    pub(crate) fn written_as(&self, value: &Value) -> Option<&str> {
        only(self.values().iter().filter_map(|range| self.line.get(range.clone())), value)
    }

    fn values(&self) -> &[Range<usize>] {
        self.values.get_or_init(|| {
            let members = members(&self.line).unwrap_or_default();
            let below = members.iter().flat_map(|(_, text)| self::members(text).unwrap_or_default());
            let start = |text: &str| text.as_ptr().addr().wrapping_sub(self.line.as_ptr().addr());
            let all = members.iter().cloned().chain(below);
            all.map(|(_, text)| start(text)..start(text).wrapping_add(text.len())).collect()
        })
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        &self.line
    }
}

/// A text that was not read by us.
impl From<String> for Text {
    fn from(line: String) -> Self {
        Self { line, values: OnceLock::new() }
    }
}

/// The text that is this value's.
pub(crate) fn only<'a>(texts: impl Iterator<Item = &'a str>, value: &Value) -> Option<&'a str> {
    let mut found = texts.filter(|text| same(text, value));
    let first = found.next()?;
    // Where doubles stand for numbers that they do not hold, two texts can be one value.
    found.all(|other| other == first || !has_double(value)).then_some(first)
}

/// The members of the text of an object, each with the text of its value; `None` where it is none.
pub(crate) fn members(text: &str) -> Option<Vec<(String, &str)>> {
    let mut scanner = Scanner::new(text.as_bytes());
    if scanner.next().ok()? != Some(Token::Open(Container::Object)) {
        return None;
    }
    let mut members = Vec::new();
    while scanner.next().ok()?? == Token::Key {
        scanner.skip_blanks();
        let (key, start) = (scanner.span(), scanner.at());
        let mut inside = matches!(scanner.next().ok()??, Token::Open(_));
        while inside {
            inside = !(scanner.next().ok()?? == Token::Close && scanner.depth() == 1);
        }
        members.push((unescape(text.get(key)?), text.get(start..scanner.at())?));
    }
    Some(members)
}

/// A text that is known to be JSON without the blanks around its tokens: on one line.
fn compact(text: &str) -> String {
    let (mut compact, mut kept, mut at) = (String::with_capacity(text.len()), 0, 0);
    let mut quoted = false;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => at += 1,
            _ if quoted => {
                at += plain(text.as_bytes().get(at..).unwrap_or_default()).max(1);
                continue;
            }
            b' ' | b'\n' | b'\r' | b'\t' => {
                compact.push_str(text.get(kept..at).unwrap_or_default());
                kept = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    compact.push_str(text.get(kept..).unwrap_or_default());
    compact
}
