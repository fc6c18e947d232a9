//! The text between the quotes of a JSON string. Events are mostly strings, so they are read eight bytes at a time.

/// Returns the number of bytes at the start of a text that need no escape in a string: no quote, backslash or control
/// character.
pub(super) fn plain(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(word) = eight(text, at) {
        let found = special(word);
        if found != 0 {
            return at + first(found);
        }
        at += 8;
    }
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len())
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = ONES << 7;

fn eight(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..).and_then(<[u8]>::first_chunk).map(|eight| u64::from_le_bytes(*eight))
}

/// Sets the highest bit of bytes that are not plain. The lowest of these bits is exact; higher ones may be wrong.
fn special(word: u64) -> u64 {
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero(word ^ (ONES * 0x22)) | zero(word ^ (ONES * 0x5c)) | control) & HIGH
}

/// Returns the index of the lowest byte whose highest bit is set.
fn first(word: u64) -> usize {
    (word.trailing_zeros() / 8) as usize
}

const fn is_plain(byte: u8) -> bool {
    !matches!(byte, b'"' | b'\\' | 0..=0x1f)
}

/// Decodes the escape at the start of these bytes. Returns its character and its length. `None` is half a surrogate
/// pair, which is not a character. An escape that JSON does not have is its literal characters.
pub(super) fn escaped(raw: &[u8]) -> (Option<char>, usize) {
    let character = match raw.get(1) {
        Some(b'u') => {
            let Some(first) = unit(raw, 2) else { return (Some('u'), 2) };
            return match (char::from_u32(first.into()), unit(raw, 8).filter(|_| raw.get(6..8) == Some(b"\\u"))) {
                (Some(character), _) => (Some(character), 6),
                (None, second) => match char::decode_utf16([Some(first), second].into_iter().flatten()).next() {
                    Some(Ok(character)) => (Some(character), 12),
                    _ => (None, 6),
                },
            };
        }
        Some(byte) if byte.is_ascii() => char::from(short(*byte)),
        _ => return (Some('\\'), 1),
    };
    (Some(character), 2)
}

/// Decodes an escape of one letter other than `u`.
const fn short(letter: u8) -> u8 {
    match letter {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 0xc,
        other => other,
    }
}

/// Parses the four hexadecimal digits at `at` as a UTF-16 unit.
fn unit(raw: &[u8], at: usize) -> Option<u16> {
    let digits = raw.get(at..at + 4)?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

/// Decodes the escapes of a string. Half a surrogate pair becomes U+FFFD. `raw` is the span of a
/// [`super::scan::Token::String`].
pub(crate) fn unescape(raw: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(raw.len()), raw);
    loop {
        let mut end = plain(rest.as_bytes());
        // Other special bytes occur only in texts of a tolerant scanner.
        while rest.as_bytes().get(end).is_some_and(|byte| *byte != b'\\') {
            end += 1 + plain(rest.as_bytes().get(end + 1..).unwrap_or_default());
        }
        let (plain, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        text.push_str(plain);
        if after.is_empty() {
            return text;
        }
        let (character, length) = escaped(after.as_bytes());
        text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = after.get(length..).unwrap_or_default();
    }
}

/// Counts the escapes of a string that are half a surrogate pair.
pub(super) fn broken(raw: &str) -> usize {
    let (mut broken, mut rest) = (0, raw);
    while let Some((_, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        let (character, length) = escaped(escape.as_bytes());
        broken += usize::from(character.is_none());
        rest = escape.get(length..).unwrap_or_default();
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::{broken, plain, unescape};

    #[test]
    fn plain_ends_at_the_first_byte_that_is_not() {
        let texts = ["", "a", "abcdefgh", "abcdefghi", "ä\u{7f}\u{80}ÿ€😀 and more than sixteen bytes"];
        for text in texts {
            assert_eq!(plain(text.as_bytes()), text.len(), "{text}");
            for special in ["\"", "\\", "\0", "\u{1}", "\u{1f}", "\n"] {
                for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                    let (before, after) = text.split_at(at);
                    let whole = format!("{before}{special}{after}\"");
                    assert_eq!(plain(whole.as_bytes()), at, "{whole:?}");
                }
            }
        }
    }

    #[test]
    fn escapes_are_characters() {
        for (raw, text, replaced) in [
            ("", "", 0),
            ("plain", "plain", 0),
            (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t", 0),
            (r"\u00e9\ud83d\ude00!", "é😀!", 0),
            (r"\ud83d \ude00\ud83d\u0041\ud83d\n\ud83d", "\u{fffd} \u{fffd}\u{fffd}A\u{fffd}\n\u{fffd}", 5),
            // A tolerant scanner accepts these.
            (r"\x\u12\é\", r"xu12\é\", 0),
            ("a\nb\\n\"c", "a\nb\n\"c", 0),
        ] {
            assert_eq!((unescape(raw).as_str(), broken(raw)), (text, replaced), "{raw}");
        }
    }
}
