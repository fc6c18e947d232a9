//! Restores digits of numbers that the hook's language cannot hold.

use serde_json::{Number, Value};

use super::rewrite::carried;
use crate::{event::Event, output::HookOutput};

/// Maximum number of digits that identify a double.
const OF_A_DOUBLE: usize = 17;

/// Restores the event's digits in a rewrite, because most languages read numbers into doubles.
/// decisions.md#order-and-rewrites: "If a number of a rewrite is the same double as the event's and has no more digits
/// than a double needs, it keeps the event's digits."
pub fn keep_digits(event: &Event, output: &mut HookOutput) {
    if let Some(updated) = &mut output.updated
        && has_number(updated)
    {
        keep(&carried(event), updated);
    }
}

fn keep(old: &Value, new: &mut Value) {
    match (old, new) {
        (Value::Number(old), Value::Number(new)) if handed_on(old, new) => new.clone_from(old),
        (Value::Object(old), Value::Object(new)) => {
            new.iter_mut().filter_map(|(key, new)| Some((old.get(key)?, new))).for_each(|(old, new)| keep(old, new));
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            old.iter().zip(new).for_each(|(old, new)| keep(old, new));
        }
        _ => {}
    }
}

fn handed_on(old: &Number, new: &Number) -> bool {
    let whole = |number: &Number| number.is_i64() || number.is_u64();
    old != new && !(whole(old) && whole(new)) && old.as_f64() == new.as_f64() && digits(new) <= OF_A_DOUBLE
}

/// Counts the significant digits of a number.
fn digits(number: &Number) -> usize {
    let text = number.to_string();
    let coefficient = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = coefficient.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len()
}

fn has_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(items) => items.iter().any(has_number),
        Value::Object(members) => members.values().any(has_number),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn passed_through_numbers_are_unchanged() {
        const BIG: &str = "123456789012345678901234567890";
        for (old, new, expected) in [
            (BIG, "1.2345678901234568e29", BIG),
            (BIG, "123456789012345680000000000000", BIG),
            ("1.50", "1.5", "1.50"),
            ("1.0", "1", "1.0"),
            ("0.1000000000000000055511151231257827", "0.1", "0.1000000000000000055511151231257827"),
            // A different number that is the same double.
            (BIG, "123456789012345678901234567891", "123456789012345678901234567891"),
            ("9007199254740993", "9007199254740992", "9007199254740992"),
            ("1.5", "2.5", "2.5"),
        ] {
            let read = |text: &str| crate::json::parse(format!("[{{\"n\":{text}}}]").as_bytes()).unwrap();
            let mut value = read(new);
            keep(&read(old), &mut value);
            assert_eq!(value, read(expected), "{old} as {new}");
        }
    }
}
