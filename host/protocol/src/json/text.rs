//! Functions on JSON texts: compact them, split them into members, join members.

use std::ops::Range;

use serde_json::Value;

use super::{
    scan::{Container, Scanner, Token},
    string::{escaped, plain, unescape},
};

/// A member of an object within a text.
pub(super) struct Member {
    /// The bytes of its name, between the quotes.
    pub(super) name: Range<usize>,
    /// True if its name has escapes.
    pub(super) escapes: bool,
    /// The bytes of its value.
    pub(super) value: Range<usize>,
}

impl Member {
    /// Returns the member's name if it has to be unescaped.
    pub(super) fn unescaped_name(&self, text: &str) -> Option<String> {
        self.escapes.then(|| unescape(text.get(self.name.clone()).unwrap_or_default()))
    }
}

/// Returns the members of the object at `at` in a text. `None` for any other value.
pub(super) fn members(text: &str, at: Range<usize>) -> Option<Vec<Member>> {
    let from = at.start;
    let mut scanner = Scanner::new(text.get(at)?.as_bytes());
    if scanner.next().ok()? != Some(Token::Open(Container::Object)) {
        return None;
    }
    let mut members = Vec::new();
    while scanner.next().ok()?? == Token::Key {
        scanner.skip_blanks();
        let (name, escapes, start) = (scanner.span(), scanner.has_escapes(), scanner.at());
        let mut inside = matches!(scanner.next().ok()??, Token::Open(_));
        while inside {
            inside = !(scanner.next().ok()?? == Token::Close && scanner.depth() == 1);
        }
        let within = |range: Range<usize>| from + range.start..from + range.end;
        members.push(Member { name: within(name), escapes, value: within(start..scanner.at()) });
    }
    Some(members)
}

/// Removes the whitespace between the tokens of a JSON text, which puts it on one line.
pub(super) fn compact(text: &str) -> String {
    let (mut compact, mut copied, mut at) = (String::with_capacity(text.len()), 0, 0);
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
                compact.push_str(text.get(copied..at).unwrap_or_default());
                copied = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    compact.push_str(text.get(copied..).unwrap_or_default());
    compact
}

/// Replaces each escape that is half a surrogate pair with U+FFFD.
pub(super) fn repaired(text: &str) -> String {
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

/// Writes an object with these members, each a name and the text of its value.
pub(crate) fn joined<'a, T: AsRef<str>>(members: impl Iterator<Item = (&'a str, T)>) -> String {
    let members: Vec<_> = members.collect();
    let size: usize = members.iter().map(|(name, text)| name.len() + text.as_ref().len() + 5).sum();
    let mut whole = String::with_capacity(size + 2);
    whole.push('{');
    for (name, text) in members {
        whole.push_str(if whole.len() > 1 { "," } else { "" });
        whole.push_str(&Value::from(name).to_string());
        whole.push(':');
        whole.push_str(text.as_ref());
    }
    whole.push('}');
    whole
}
