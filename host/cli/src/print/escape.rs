//! Escapes untrusted text for a terminal.

use std::fmt::Write as _;

use serde_json::Value;

/// Escapes a text to one line that is safe for a terminal.
pub fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    safe
}

/// A name within a line. Quoted if it could be mistaken for several names or other words.
pub fn name(text: &str) -> String {
    let word = |c: char| c.is_alphanumeric() || ":/@._-+#".contains(c);
    if !text.is_empty() && text.chars().all(word) { text.to_owned() } else { quoted(text) }
}

/// A text in quotes, with quotes in it escaped.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", plain(&text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// JSON that is safe for a terminal. Characters that [`plain`] escapes are escaped as in JSON.
pub fn json_text(value: &Value) -> String {
    safe_json(&value.to_string())
}

/// JSON text that is safe for a terminal.
pub(super) fn safe_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Returns true for control characters, characters that change the direction of text, and invisible ones.
pub fn is_unsafe(c: char) -> bool {
    let unseen = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || unseen
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{json_text, name, plain};

    #[test]
    fn nothing_moves_the_cursor_or_begins_a_line() {
        assert_eq!(plain("a\x1b[2J\r\nrefused  —"), r"a\u{1b}[2J\r\nrefused  —");
        assert_eq!(
            plain("\u{9b}1m \u{202e}drow \u{2066} \u{2028} \u{7f}"),
            r"\u{9b}1m \u{202e}drow \u{2066} \u{2028} \u{7f}"
        );
        assert_eq!(plain("多 é 👩‍🚀"), "多 é 👩‍🚀");
    }

    #[test]
    fn a_name_is_one_name() {
        assert_eq!(name("wasi:io/poll@0.2.0"), "wasi:io/poll@0.2.0");
        assert_eq!(name("a, b"), r#""a, b""#);
        assert_eq!(name("a\" \\\n"), r#""a\" \\\n""#);
        assert_eq!(name(""), r#""""#);
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = json!({ "a\u{7f}": "\u{1b}[0m \u{202e} \u{e0041} \n é" });
        let text = json_text(&value);
        assert_eq!(text, r#"{"a\u007f":"\u001b[0m \u202e \udb40\udc41 \n é"}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
    }
}
