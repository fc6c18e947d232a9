//! Finds the line of a JSON pointer in the text of a file.

use std::collections::HashMap;

use serde_json::value::RawValue;

/// The line number, from 1, of the value at `pointer`. If it is missing, that of the nearest enclosing value.
pub(super) fn line(text: &str, pointer: &str) -> Option<usize> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut here: &RawValue = serde_json::from_str(text).ok()?;
    for token in pointer.split('/').skip(1) {
        match child(here, &token.replace("~1", "/").replace("~0", "~")) {
            Some(value) => here = value,
            None => break,
        }
    }
    // A raw value borrows from the text, so the difference of the addresses is its offset.
    let offset = (here.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    Some(text.get(..offset)?.matches('\n').count() + 1)
}

fn child<'a>(parent: &'a RawValue, token: &str) -> Option<&'a RawValue> {
    if parent.get().starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(parent.get()).ok()?;
        return items.get(token.parse::<usize>().ok()?).copied();
    }
    let mut members: HashMap<String, &RawValue> = serde_json::from_str(parent.get()).ok()?;
    members.remove(token)
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn pointers_lead_to_lines() {
        let text = "\n{ \"a\": 1,\n  \"b\": [\n    0,\n    { \"c/d~\":\n true } ] }";
        for (pointer, expected) in [
            ("", 2),
            ("/a", 2),
            ("/b", 3),
            ("/b/0", 4),
            ("/b/1", 5),
            ("/b/1/c~1d~0", 6),
            ("/b/1/absent", 5),
            ("/b/x", 3),
        ] {
            assert_eq!(line(text, pointer), Some(expected), "{pointer}");
        }
        assert_eq!(line("{", ""), None);
    }
}
