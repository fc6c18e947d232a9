//! The whole of an event, as text and as value: each is made of the other when it is first asked for.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

use crate::json::{parse, scan};

/// The JSON of an event. What a client wrote is kept as text, so that a large event is in memory once, and its numbers reach
/// hooks as they are written, also those that no 64 bits hold. Cheap to clone.
#[derive(Clone, Default)]
pub struct Raw(Arc<Forms>);

#[derive(Default)]
struct Forms {
    text: OnceLock<String>,
    value: OnceLock<Value>,
}

impl Raw {
    /// Of a text that is known to be JSON, on one line.
    pub(crate) fn written(text: String) -> Self {
        Self(Arc::new(Forms { text: text.into(), value: OnceLock::new() }))
    }

    /// The JSON text, on one line.
    pub fn text(&self) -> &str {
        self.0.text.get_or_init(|| self.value().to_string())
    }

    /// The same as a value.
    pub fn value(&self) -> &Value {
        let parsed = || self.0.text.get().and_then(|text| parse(text.as_bytes()).ok()).unwrap_or_default();
        self.0.value.get_or_init(parsed)
    }

    /// One member of the object that it is, without reading the others.
    pub fn member(&self, key: &str) -> Option<Value> {
        match (self.0.value.get(), self.0.text.get()) {
            (None, Some(text)) => {
                let found = scan::members(text)?.into_iter().find(|(name, _)| name == key);
                parse(found?.1.as_bytes()).ok()
            }
            _ => self.value().get(key).cloned(),
        }
    }

    /// The same with more members.
    #[must_use]
    pub fn with(&self, members: &[(&str, &Value)]) -> Self {
        if members.is_empty() {
            return self.clone();
        }
        let text = self.text();
        let added = members.iter().map(|(key, value)| {
            let written = written_in(text, value).unwrap_or_else(|| value.to_string());
            format!("{}:{written}", Value::from(*key))
        });
        let whole = text.strip_suffix('}').unwrap_or(text);
        let comma = if whole.len() > 1 { "," } else { "" };
        Self::written(format!("{whole}{comma}{}}}", added.collect::<Vec<_>>().join(",")))
    }

    /// A value's text as the client wrote it, where the value is a member of the event (or of one of its members) and its
    /// own text would not be the same: numbers that no 64 bits hold are not what was written.
    pub fn written_as(&self, value: &Value) -> Option<String> {
        written_in(self.0.text.get()?, value)
    }
}

/// [`Raw::written_as`], of a text.
pub(crate) fn written_in(text: &str, value: &Value) -> Option<String> {
    if !inexact(value) {
        return None;
    }
    let is = |text: &str| parse(text.as_bytes()).is_ok_and(|parsed| parsed == *value);
    let members = scan::members(text)?;
    let below = members.iter().filter_map(|(_, text)| scan::members(text)).flatten();
    members.iter().cloned().chain(below).map(|(_, text)| text).find(|text| is(text)).map(str::to_owned)
}

/// Doubles are whole numbers one by one up to here.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether a value has a number that was perhaps not a double as it was written.
fn inexact(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|double| double.abs() >= EXACT),
        Value::Array(items) => items.iter().any(inexact),
        Value::Object(object) => object.values().any(inexact),
        _ => false,
    }
}

impl From<Value> for Raw {
    fn from(value: Value) -> Self {
        Self(Arc::new(Forms { text: OnceLock::new(), value: value.into() }))
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
            assert_eq!(event.raw.written_as(input), Some(expected), "{dialect}");
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
