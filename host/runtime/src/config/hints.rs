//! What a file says that is not a valid configuration: read leniently, so that a typo, a stray byte or other quotes than
//! JSON's open no gate.

use std::path::Path;

use hookbox_protocol::{Dialect, dialect};

use super::load::beginning;

/// What a file says that is not a valid configuration.
#[derive(Clone, Copy, Default)]
pub struct Hints {
    /// Failures block.
    pub fail_closed: bool,
    /// Its dialect.
    pub dialect: Option<&'static dyn Dialect>,
}

/// [`hints`] of a file; none where it cannot be read.
pub fn file_hints(path: &Path) -> Hints {
    beginning(path).map(|bytes| hints(&bytes)).unwrap_or_default()
}

/// Reads what a file says all the same when it is not a valid configuration, in whatever encoding.
pub fn hints(bytes: &[u8]) -> Hints {
    // UTF-16 of what is ASCII is ASCII between NULs.
    let bytes: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    let text = letters(&String::from_utf8_lossy(&bytes)).replace(UNSEEN, "");
    Hints { fail_closed: fail_closed_hint(&text), dialect: dialect_hint(&text) }
}

/// Returns true if a text that is not a valid configuration says all the same that failures block, or that those of some hook do:
/// it could be the hook of any event. A mistake elsewhere does not open the gate, and no mistake in saying so does.
pub fn fail_closed_hint(text: &str) -> bool {
    said(text).any(|(key, value)| {
        let value = value.get(..8).unwrap_or(value).to_ascii_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| value.starts_with(word));
        match key.replace(['_', '-'], "").to_ascii_lowercase().as_str() {
            "failclosed" => !is(&["false", "null", "none", "no", "off", "0", "~"]),
            "onfailure" | "failurebehavior" => is(&["block", "deny", "ask"]),
            _ => false,
        }
    })
}

/// The dialect that a text names which is not a valid configuration: what a client makes of our failure depends on it.
pub fn dialect_hint(text: &str) -> Option<&'static dyn Dialect> {
    let (_, value) = said(text).find(|(key, _)| *key == "dialect")?;
    let (end, _) = value.char_indices().find(|(_, c)| !is_word(*c) && *c != '@')?;
    dialect::by_name(value.get(..end)?)
}

/// Characters that nobody sees.
const UNSEEN: [char; 5] = ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{feff}'];

/// Whatever says `key: value`, and what follows: in the quotes of any language, in those of an encoding that is not ours,
/// which are U+FFFD here, and in none. A text that ends with the key has an empty value.
fn said(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let (before, word) = text.split_at_checked(at)?;
            let (skipped, word) = word.split_at_checked(word.find(is_word)?)?;
            let (key, after) = word.split_at_checked(word.find(|c| !is_word(c)).unwrap_or(word.len()))?;
            at = before.len() + skipped.len() + key.len();
            let begins = match skipped.chars().next_back() {
                None => before.is_empty(),
                Some(c) if is_quote(c) => true,
                Some(_) => {
                    let left = skipped.trim_end_matches([' ', '\t']);
                    (left.is_empty() && before.is_empty()) || left.ends_with(['{', '[', ',', ';', '\n', '\r'])
                }
            };
            let after = after.trim_start_matches(is_quote).trim_start();
            let value = after.strip_prefix([':', '=', '：']).or(after.is_empty().then_some(""));
            if let (true, Some(value)) = (begins, value) {
                return Some((key, value.trim_start_matches(|c: char| is_quote(c) || c.is_whitespace() || c == '>')));
            }
        }
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_quote(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace() && !"{}[]()<>:=,;.!?/*#+|&~".contains(c) && !is_word(c) && c != '：'
}

/// A text with letters for the escapes that stand for them.
fn letters(text: &str) -> String {
    let mut parts = text.split("\\u00");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (code.filter(u8::is_ascii_alphabetic), part.get(2..)) {
            (Some(letter), Some(rest)) => {
                plain.push(char::from(letter));
                plain.push_str(rest);
            }
            _ => plain.extend(["\\u00", part]),
        }
    }
    plain
}
