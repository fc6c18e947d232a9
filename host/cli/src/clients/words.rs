//! The words of a shell's command line.

/// Splits a command line into words. Supports quotes and backslashes, but no other shell syntax.
pub fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Quotes a path below a variable's value, for a shell. `reference` is the reference to the variable.
pub fn quoted_below(reference: &str, below: &str) -> String {
    let mut text = format!("\"{reference}/");
    for c in below.chars() {
        if "$`\"\\".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text + "\""
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:@,%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::{quoted, split};

    #[test]
    fn quoted_text_is_one_word() {
        for word in ["a b", "it's", "$HOME", "", "/plain/path", "a\"b\\c", "多"] {
            assert_eq!(split(&quoted(word)), [word]);
        }
        assert_eq!(split(r#"hookbox run --config "$X/a b" c\ d"#), ["hookbox", "run", "--config", "$X/a b", "c d"]);
    }
}
