//! Whether a text is that of a value, without making another value of it.

use serde_json::{Number, Value};

use super::scan::{Container, Scanner, Token, unescape};

/// Whether this JSON text is read as this value.
pub(crate) fn same(text: &str, value: &Value) -> bool {
    let mut scanner = Scanner::new(text.as_bytes());
    is(&mut scanner, text, value).is_some() && matches!(scanner.next(), Ok(None))
}

/// Reads one value; `None`: it is another one.
fn is(scanner: &mut Scanner<'_>, text: &str, value: &Value) -> Option<()> {
    let token = scanner.next().ok()??;
    starts(scanner, text, value, token)
}

fn starts(scanner: &mut Scanner<'_>, text: &str, value: &Value, token: Token) -> Option<()> {
    let equal = match (token, value) {
        (Token::Null, Value::Null) => true,
        (Token::True, Value::Bool(said)) => *said,
        (Token::False, Value::Bool(said)) => !said,
        (Token::String(range), Value::String(string)) => is_string(text.get(range)?, string),
        (Token::Number(range), Value::Number(number)) => {
            serde_json::from_str::<Number>(text.get(range)?).ok()? == *number
        }
        (Token::Open(Container::Array), Value::Array(items)) => {
            for item in items {
                is(scanner, text, item)?;
            }
            scanner.next().ok()?? == Token::Close
        }
        (Token::Open(Container::Object), Value::Object(members)) => {
            // A value that was read has its members in the order of the text.
            for (name, member) in members {
                let Token::Key(range) = scanner.next().ok()?? else { return None };
                is_string(text.get(range)?, name).then_some(())?;
                is(scanner, text, member)?;
            }
            scanner.next().ok()?? == Token::Close
        }
        _ => false,
    };
    equal.then_some(())
}

fn is_string(raw: &str, string: &str) -> bool {
    if raw.contains('\\') { unescape(raw).0 == string } else { raw == string }
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
