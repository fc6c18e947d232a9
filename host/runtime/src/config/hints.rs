//! Recognises `failClosed`, failure policies and the dialect in a file that is not a valid configuration. The reading
//! is lenient, so that a typo, an invalid byte or wrong quotation marks do not make hookbox fail open.

use std::path::Path;

use hookbox_protocol::{Dialect, dialect};

use super::{diagnostic::nearest, reader::beginning};

/// The settings recognised in a file that is not a valid configuration.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct Hints {
    /// True if failures block.
    pub fail_closed: bool,
    /// The dialect, if it is named.
    pub dialect: Option<&'static dyn Dialect>,
}

/// The [`hints`] of a file. The defaults if it cannot be read.
pub fn file_hints(path: &Path) -> Hints {
    beginning(path).map(|bytes| hints(&bytes)).unwrap_or_default()
}

/// Recognises settings in an invalid configuration of any encoding.
pub fn hints(bytes: &[u8]) -> Hints {
    // ASCII text in UTF-16 is ASCII with NUL bytes in between.
    let bytes: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    let text = letters(&String::from_utf8_lossy(&bytes)).replace(UNSEEN, "");
    Hints { fail_closed: fail_closed_hint(&text), dialect: dialect_hint(&text) }
}

/// Returns true if an invalid configuration sets `failClosed`, or a failure policy of some hook that blocks. The hook
/// could be subscribed to any event. Neither errors elsewhere in the text nor errors in this setting itself disable it.
pub fn fail_closed_hint(text: &str) -> bool {
    members(text).any(|(key, value)| {
        let value = value.get(..8).unwrap_or(value).to_ascii_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| value.starts_with(word));
        // The mistake may be in the key.
        let key = key.get(..LONGEST).unwrap_or(key).replace(['_', '-'], "");
        match nearest(&key, ["failClosed", "onFailure", "failureBehavior"]) {
            Some("failClosed") => !is(&["false", "null", "none", "no", "off", "0", "~"]),
            Some(_) => is(&["block", "deny", "ask"]),
            None => false,
        }
    })
}

/// More of a key, in bytes, is not compared with the names of policies.
const LONGEST: usize = 32;

/// The dialect that an invalid configuration names. It determines how the client treats hookbox's failure.
pub fn dialect_hint(text: &str) -> Option<&'static dyn Dialect> {
    let (_, value) = members(text).find(|(key, _)| *key == "dialect")?;
    let (end, _) = value.char_indices().find(|(_, c)| !is_word(*c) && *c != '@')?;
    dialect::by_name(value.get(..end)?)
}

/// Invisible characters.
const UNSEEN: [char; 5] = ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{feff}'];

/// Iterates over everything of the form `key: value`, with the text from the value on. Accepts quotation marks of any
/// language, missing ones, and ones in another encoding (U+FFFD here). A text that ends with the key has an empty
/// value.
fn members(text: &str) -> impl Iterator<Item = (&str, &str)> {
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

/// Replaces `\u00XX` escapes of letters by the letters.
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
