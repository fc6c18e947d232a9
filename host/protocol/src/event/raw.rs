//! The whole of an event, as text and as value: each is made of the other when it is first asked for.

use std::{
    fmt,
    ops::{Deref, Range},
    sync::{Arc, OnceLock},
};

use serde_json::Value;

use crate::json::{parse, same, scan};

/// The JSON of an event. What a client wrote is kept as text, so that a large event is in memory once, and its numbers reach
/// hooks as they are written, also those that no 64 bits hold. Cheap to clone.
#[derive(Clone, Default)]
pub struct Raw(Arc<Forms>);

#[derive(Default)]
struct Forms {
    written: Option<Written>,
    text: OnceLock<String>,
    value: OnceLock<Value>,
}

/// What was written, and the members that were added to it. Both are made one only where somebody reads them as one.
struct Written {
    text: String,
    /// Each key with the text of its value, without a copy where it is one of what was written.
    added: Vec<(String, Added)>,
}

enum Added {
    Same(Range<usize>),
    New(String),
}

impl Written {
    fn added(&self) -> impl Iterator<Item = (&str, &str)> {
        self.added.iter().map(|(key, added)| match added {
            Added::Same(range) => (key.as_str(), self.text.get(range.clone()).unwrap_or_default()),
            Added::New(text) => (key.as_str(), text.as_str()),
        })
    }

    fn whole(&self) -> String {
        let added: usize = self.added().map(|(key, text)| 2 * key.len() + text.len() + 5).sum();
        let mut whole = String::with_capacity(self.text.len() + added);
        whole.push_str(self.text.strip_suffix('}').unwrap_or(&self.text));
        for (key, text) in self.added() {
            whole.push_str(if whole.len() > 1 { "," } else { "" });
            whole.push_str(&Value::from(key).to_string());
            whole.push(':');
            whole.push_str(text);
        }
        whole.push('}');
        whole
    }
}

impl Raw {
    /// Of the text of an object, on one line, with more members. Those that are written in it are added as they are
    /// written.
    pub(crate) fn written<'a>(text: String, members: impl Iterator<Item = (&'a str, &'a Value)>) -> Self {
        let same = |value: &Value| {
            let found = written_in(&text, value)?;
            let start = found.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
            Some(Added::Same(start..start + found.len()))
        };
        let added = members
            .map(|(key, value)| (key.to_owned(), same(value).unwrap_or_else(|| Added::New(value.to_string()))))
            .collect();
        let written = Some(Written { text, added });
        Self(Arc::new(Forms { written, text: OnceLock::new(), value: OnceLock::new() }))
    }

    /// Whether it is of an event that never was on a wire.
    pub(crate) fn is_unset(&self) -> bool {
        self.0.written.is_none() && self.0.text.get().is_none() && self.0.value.get().is_none_or(Value::is_null)
    }

    /// The JSON text, on one line.
    pub fn text(&self) -> &str {
        match &self.0.written {
            Some(written) if written.added.is_empty() => &written.text,
            Some(written) => self.0.text.get_or_init(|| written.whole()),
            None => self.0.text.get_or_init(|| self.value().to_string()),
        }
    }

    /// Bytes that the client wrote, or that [`Raw::text`] has where it wrote nothing.
    pub fn size(&self) -> usize {
        self.0.written.as_ref().map_or_else(|| self.text().len(), |written| written.text.len())
    }

    /// The same as a value.
    pub fn value(&self) -> &Value {
        let parsed = || self.0.written.as_ref().and_then(|_| parse(self.text().as_bytes()).ok()).unwrap_or_default();
        self.0.value.get_or_init(parsed)
    }

    /// One member of the object that it is, without reading the others.
    pub fn member(&self, key: &str) -> Option<Value> {
        match (self.0.value.get(), &self.0.written) {
            (None, Some(written)) => {
                let added = written.added().find(|(name, _)| *name == key).map(|(_, text)| text);
                let found =
                    || scan::members(&written.text)?.into_iter().find(|(name, _)| name == key).map(|(_, text)| text);
                parse(added.or_else(found)?.as_bytes()).ok()
            }
            _ => self.value().get(key).cloned(),
        }
    }

    /// Whether the client wrote this member, and it was added under the other name as it is written.
    pub(crate) fn is_copied(&self, member: &str, name: &str) -> bool {
        let Some(written) = &self.0.written else { return false };
        let copied = written.added.iter().find_map(|(key, added)| match added {
            Added::Same(range) if key == name => written.text.get(..range.start),
            _ => None,
        });
        copied.is_some_and(|before| before.ends_with(&format!("{}:", Value::from(member))))
    }

    /// The same with more members.
    #[must_use]
    pub fn with(&self, members: &[(&str, &Value)]) -> Self {
        if members.is_empty() {
            return self.clone();
        }
        Self::written(self.text().to_owned(), members.iter().copied())
    }

    /// The text of a value as the client wrote it, where the value is a member of the event or of one of its members.
    pub fn written_as(&self, value: &Value) -> Option<&str> {
        written_in(&self.0.written.as_ref()?.text, value)
    }
}

/// [`Raw::written_as`], of a text.
pub(crate) fn written_in<'a>(text: &'a str, value: &Value) -> Option<&'a str> {
    let members = scan::members(text)?;
    let below = members.iter().flat_map(|(_, text)| scan::members(text).unwrap_or_default());
    let mut found = members.iter().cloned().chain(below).map(|(_, text)| text).filter(|text| same::same(text, value));
    let first = found.next()?;
    // Where doubles stand for numbers that they do not hold, two texts can be one value.
    found.all(|other| other == first || !same::has_double(value)).then_some(first)
}

impl From<Value> for Raw {
    fn from(value: Value) -> Self {
        Self(Arc::new(Forms { value: value.into(), ..Forms::default() }))
    }
}

impl Deref for Raw {
    type Target = Value;
    fn deref(&self) -> &Value {
        self.value()
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.value() == other.value()
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::Raw;
    use crate::dialect::{ALL, by_name};

    const BIG: &str = "123456789012345678901234567890";

    fn event(dialect: &str, wire: &str) -> crate::Event {
        by_name(dialect).unwrap().decode_event(wire.as_bytes(), None).unwrap()
    }

    #[test]
    fn numbers_are_as_they_are_written() {
        for (dialect, wire) in [
            ("claude", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"n":BIG,"f":1.0}}"#),
            ("codebuddy", r#"{"hook_event_name":"PreToolUse","tool_name":"T","input":{"n":BIG,"f":1.0}}"#),
            ("blade", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"n":BIG,"f":1.0}}"#),
            ("blade-callback", r#"{"event":"PreToolUse","toolName":"T","toolInput":{"n":BIG,"f":1.0}}"#),
            ("copilot", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"n":BIG,"f":1.0}}"#),
            ("codex", r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"n":BIG,"f":1.0}}"#),
            ("gemini", r#"{"hook_event_name":"BeforeTool","tool_name":"T","tool_input":{"n":BIG,"f":1.0}}"#),
            ("opencode", r#"{"input":{"tool":"T"},"output":{"args":{"n":BIG,"f":1.0}}}"#),
            (
                "picoclaw",
                r#"{"jsonrpc":"2.0","id":1,"method":"hook.before_tool","params":{"tool":"T","arguments":{"n":BIG,"f":1.0}}}"#,
            ),
        ] {
            let wire = wire.replace("BIG", BIG);
            let event = event(dialect, &wire);
            let (text, input) = (event.raw.text(), &event.call.as_ref().unwrap().input);
            // What was added is as it was written, too.
            assert_eq!(text.matches(BIG).count(), if dialect == "codebuddy" { 2 } else { 1 }, "{dialect} {text}");
            assert!(text.starts_with(wire.trim_end_matches('}')), "{dialect} {text}");
            let expected = format!(r#"{{"n":{BIG},"f":1.0}}"#);
            assert_eq!(event.raw.written_as(input), Some(&*expected), "{dialect}");
            assert_eq!(event.raw.written_as(&json!({ "n": 1.5, "f": 2 })), None);
        }
    }

    /// Whatever a dialect adds, text and value are one.
    #[test]
    fn text_and_value_are_one() {
        let wires = [
            r#" { "hook_event_name" : "PreToolUse" , "tool_name" : "a \" b\\" , "tool_input" : null, "input" : [ 1 , { } ] } "#,
            r#"{"hook_event_name":"PreToolUse","tool_name":"T","command":"ls","x":"\ud83d\ude00 \u00e9"}"#,
            r#"{"event":"UserPromptSubmit","userPrompt":"p", "message":null}"#,
            r#"{"hook_event_name":"UserPromptSubmit","prompt":"a \ud800"}"#,
            "{}",
        ];
        for (dialect, wire) in ALL.iter().flat_map(|dialect| wires.map(|wire| (dialect, wire))) {
            let Ok(event) = dialect.decode_event(wire.as_bytes(), Some("PreToolUse")) else { continue };
            let text = event.raw.text().to_owned();
            assert!(!text.contains(['\n', '\t']) && !text.contains("\": "), "{text}");
            assert_eq!(crate::json::parse(text.as_bytes()).unwrap(), *event.raw, "{} {wire}", dialect.name());
            assert_eq!(event.raw.member("input"), event.raw.value().get("input").cloned());
            assert_eq!(Raw::from(event.raw.value().clone()), event.raw);
        }
    }
}
