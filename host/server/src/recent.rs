//! The last verdicts, for the page.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use serde_json::{Value, json};

/// Verdicts that are kept of all tenants.
const KEPT: usize = 1000;
/// Bytes of one of them; of a longer one only what the table shows is kept.
const BYTES: usize = 16 << 10;
/// Verdicts that are told at once.
const AT_ONCE: usize = 500;

/// The last verdicts, oldest first.
#[derive(Debug, Default)]
pub struct Recent {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the one that comes next.
    next: u64,
    kept: VecDeque<(u64, String, Value)>,
}

impl Recent {
    /// Keeps one. `record` is [`fitting`], and has what the table and its details show.
    pub fn add(&self, tenant: &str, record: Value) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.next;
        state.next += 1;
        state.kept.push_back((number, tenant.to_owned(), record));
        if state.kept.len() > KEPT {
            state.kept.pop_front();
        }
    }

    /// Those from a number on, the last ones where they are too many; with the number to go on from.
    pub fn since(&self, first: u64, tenant: Option<&str>) -> Value {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = state
            .kept
            .iter()
            .filter(|(number, owner, _)| *number >= first && tenant.is_none_or(|tenant| owner == tenant));
        let mut found: Vec<&Value> = wanted.rev().take(AT_ONCE).map(|(_, _, record)| record).collect();
        found.reverse();
        json!({ "next": state.next, "verdicts": found })
    }
}

/// A record that is not larger than it may be.
pub fn fitting(mut record: Value) -> Value {
    if record.to_string().len() > BYTES {
        shorten(&mut record);
    }
    record
}

/// Leaves the words of a record and takes its long texts out.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => *text = hookbox::shorten(text, 200),
        Value::Array(items) => {
            items.truncate(50);
            items.iter_mut().for_each(shorten);
        }
        Value::Object(fields) => {
            fields.shift_remove("output");
            fields.values_mut().for_each(shorten);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use serde_json::json;

    use super::{BYTES, KEPT, Recent, fitting};

    #[test]
    fn the_last_ones_are_kept() {
        let recent = Recent::default();
        (0..KEPT + 10).for_each(|n| recent.add(if n % 2 == 0 { "a" } else { "b" }, json!({ "n": n })));
        let all = recent.since(0, None);
        assert_eq!(all["next"], KEPT + 10);
        let last = all["verdicts"].as_array().and_then(|verdicts| verdicts.last());
        assert_eq!(last, Some(&json!({ "n": KEPT + 9 })));
        let two = recent.since((KEPT + 6) as u64, Some("a"));
        assert_eq!(two["verdicts"], json!([{ "n": KEPT + 6 }, { "n": KEPT + 8 }]));
    }

    #[test]
    fn none_is_larger_than_it_may_be() {
        let recent = Recent::default();
        let long = "x".repeat(1 << 20);
        recent.add(
            "a",
            fitting(json!({ "event": "PreToolUse", "output": { "x": long }, "hooks": vec![json!({ "reason": long }); 100] })),
        );
        let kept = recent.since(0, None).to_string();
        assert!(kept.len() < BYTES && kept.contains("PreToolUse"), "{}", kept.len());
    }
}
