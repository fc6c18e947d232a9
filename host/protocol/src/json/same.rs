//! Whether a text is that of a value, without making another value of it.

use serde_json::{Number, Value};

use super::scan::{Container, Scanner, Token};

/// Whether this JSON text is read as this value.
pub(crate) fn same(text: &str, value: &Value) -> bool {
    // Before a long string is read that cannot be it.
    if text.starts_with('"') != value.is_string() {
        return false;
    }
    let mut scanner = Scanner::new(text.as_bytes());
    is(&mut scanner, text, value).is_some() && matches!(scanner.next(), Ok(None))
}

/// Reads one value; `None`: it is another one.
fn is<'a>(scanner: &mut Scanner<'a>, text: &'a str, value: &'a Value) -> Option<()> {
    let equal = match value {
        Value::String(said) => scanner.next_is(said).ok()?,
        Value::Array(items) => {
            (scanner.next().ok()?? == Token::Open(Container::Array)).then_some(())?;
            for item in items {
                is(scanner, text, item)?;
            }
            scanner.next().ok()?? == Token::Close
        }
        Value::Object(members) => {
            (scanner.next().ok()?? == Token::Open(Container::Object)).then_some(())?;
            // A value that was read has its members in the order of the text.
            for (name, member) in members {
                scanner.next_is(name).ok()?.then_some(())?;
                is(scanner, text, member)?;
            }
            scanner.next().ok()?? == Token::Close
        }
        Value::Null => scanner.next().ok()?? == Token::Null,
        Value::Bool(said) => scanner.next().ok()?? == if *said { Token::True } else { Token::False },
        Value::Number(number) => {
            (scanner.next().ok()?? == Token::Number).then_some(())?;
            serde_json::from_str::<Number>(text.get(scanner.span())?).ok()? == *number
        }
    };
    equal.then_some(())
}

/// Whether a value has a number that need not be the one that was written.
pub(crate) fn has_double(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_double),
        Value::Object(members) => members.values().any(has_double),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::same;
    use crate::json::{parse, text::Text};

    #[test]
    fn a_text_is_the_value_that_is_read_of_it() {
        let texts = [
            "null",
            "true",
            "false",
            "1",
            "1.0",
            "1e400",
            "\"\"",
            r#""a\nb""#,
            r#""\u0061\u000ab""#,
            r#""\ud83d\ude00""#,
            "\"😀\"",
            "[]",
            "{}",
            "[\"a\",\"b\"]",
            "[\"a\",\"b\",1]",
            "[\"a\",\"c\"]",
            "[[\"a\"],{}]",
            r#"{"a":"b","c":["d",null]}"#,
            r#"{ "\u0061" : "b" , "c" : [ "d" , null ] }"#,
            r#"{"c":["d",null],"a":"b"}"#,
            r#"{"a":"b"}"#,
            r#"{"a":1}"#,
            "[1",
            "\"a",
            "",
        ];
        for (one, other) in texts.iter().flat_map(|one| texts.iter().map(move |other| (one, other))) {
            let Ok(value) = parse(other.as_bytes()) else { continue };
            let read = parse(one.as_bytes());
            let in_order = read.as_ref().is_ok_and(|read| format!("{read}") == format!("{value}"));
            assert_eq!(same(one, &value), in_order, "{one} {other}");
        }
    }

    #[test]
    fn a_value_is_found_where_it_is_written() {
        let line = r#"{"long":"\"x\"","input":{"a":["x, y"],"n":1.0},"b":{"input":{"a":["x, y"],"n":1.0}}}"#;
        for text in [Text::from(line.to_owned()), Text::compacted(&line.replace(':', " : ").replace("},", "}\n,\t"))] {
            let value = parse(line.as_bytes()).unwrap_or_default();
            for (pointer, expected) in [("/input", r#"{"a""#), ("/b", r#"{"input""#), ("/long", r#""\""#)] {
                let found = value.pointer(pointer).and_then(|value| text.written_as(value));
                let start = found.map(|found| found.as_ptr().addr() - text.as_ptr().addr());
                assert_eq!(start, line.find(expected), "{pointer}");
            }
            assert_eq!(
                value.pointer("/input/a/0").and_then(|value| text.written_as(value)),
                None,
                "only members and theirs are looked at"
            );
        }
    }
}
