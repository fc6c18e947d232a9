//! Code of other languages, as far as it is looked at.

/// Strings of one code that are read.
const MOST_STRINGS: usize = 64;

/// The first 64 quoted strings of code in most languages.
pub fn strings(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut letters = code.chars();
    while let Some(quote) = letters.next() {
        if !matches!(quote, '"' | '\'' | '`') {
            continue;
        }
        let mut text = String::new();
        while let Some(c) = letters.next() {
            match c {
                '\\' => text.extend(letters.next()),
                c if c == quote => break,
                c => text.push(c),
            }
        }
        if !text.is_empty() && found.len() < MOST_STRINGS {
            found.push(text);
        }
    }
    found
}
