//! The whole of an event as text and as value. Each is made from the other on first use.

use std::{
    borrow::Cow,
    fmt, iter,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

use crate::json::{Json, parse, text::joined};

/// The JSON of an event. It keeps the client's text, so that large parts are never copied and numbers keep all their
/// digits. Cheap to clone.
#[derive(Clone, Default)]
pub struct Raw(Arc<Forms>);

#[derive(Default)]
struct Forms {
    written: Option<Written>,
    text: OnceLock<String>,
    value: OnceLock<Box<Value>>,
}

/// A client's object, and the members that a dialect added to it. They are joined only for readers that need one text.
#[derive(Clone, Default)]
struct Written {
    /// The object in its normal form (see [`crate::json::normal`]).
    object: Json,
    /// Members that are missing in the object.
    added: Vec<(String, Json)>,
}

impl Written {
    /// The pieces of the whole text, in order.
    fn pieces(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let object = self.object.text().and_then(|text| text.strip_suffix('}')).unwrap_or("{");
        let mut first = object.len() == 1;
        let added = self.added.iter().flat_map(move |(name, value)| {
            let comma = if std::mem::take(&mut first) { "" } else { "," };
            [Cow::Owned(format!("{comma}{}:", Value::from(name.as_str()))), value.to_text()]
        });
        iter::once(Cow::Borrowed(object)).chain(added).chain(iter::once(Cow::Borrowed("}")))
    }
}

impl Raw {
    /// Makes the JSON of an object's text in normal form, without the members `replaced` and with the members `added`.
    pub(crate) fn written(text: &Arc<String>, replaced: &[&str], added: Vec<(String, Json)>) -> Self {
        let whole = 0..text.len();
        let mut object = Json::written(text, whole);
        if !replaced.is_empty() {
            let members = object.members().unwrap_or_default();
            let left =
                joined(members.iter().filter(|(name, _)| !replaced.contains(name)).map(|(n, v)| (n, v.to_text())));
            let whole = 0..left.len();
            object = Json::written(&Arc::new(left), whole);
        }
        Self::of(Written { object, added })
    }

    /// Makes an object of these members.
    pub(crate) fn made_of(members: Vec<(String, Json)>) -> Self {
        Self::of(Written { object: Json::default(), added: members })
    }

    fn of(written: Written) -> Self {
        Self(Arc::new(Forms { written: Some(written), ..Forms::default() }))
    }

    /// Returns true for an event that was never on a wire.
    pub(crate) fn is_unset(&self) -> bool {
        self.0.written.is_none()
            && self.0.text.get().is_none()
            && self.0.value.get().is_none_or(|value| value.is_null())
    }

    /// The text, if it exists in one piece.
    fn one(&self) -> Option<&str> {
        let written = self.0.written.as_ref().filter(|written| written.added.is_empty());
        written.and_then(|written| written.object.text()).or_else(|| self.0.text.get().map(String::as_str))
    }

    /// The JSON text, on one line.
    pub fn text(&self) -> &str {
        let make = || if self.0.written.is_some() { self.to_text() } else { self.value().to_string() };
        self.one().unwrap_or_else(|| self.0.text.get_or_init(make))
    }

    /// The pieces of [`Raw::text`], for writers that need no copy of large parts.
    pub fn pieces(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let written = self.0.written.as_ref().filter(|_| self.one().is_none());
        let one = written.is_none().then(|| Cow::Borrowed(self.text()));
        one.into_iter().chain(written.into_iter().flat_map(Written::pieces))
    }

    /// A copy of [`Raw::text`].
    pub fn to_text(&self) -> String {
        let size = self.pieces().map(|piece| piece.len()).sum();
        self.pieces().fold(String::with_capacity(size), |whole, piece| whole + &piece)
    }

    /// The number of bytes that the client wrote, or the length of [`Raw::text`] for other events.
    pub fn size(&self) -> usize {
        let written = self.0.written.as_ref().and_then(|written| written.object.text());
        written.map_or_else(|| self.text().len(), str::len)
    }

    /// The parsed value.
    pub fn value(&self) -> &Value {
        let parsed = || {
            let text = self.0.written.as_ref().map(|_| self.one().map_or_else(|| self.to_text().into(), Cow::from));
            text.and_then(|text| parse(text.as_bytes()).ok()).unwrap_or_default().into()
        };
        self.0.value.get_or_init(parsed)
    }

    /// One member. The others are not parsed.
    pub fn member(&self, name: &str) -> Option<Json> {
        let Some(written) = &self.0.written else { return self.value().get(name).cloned().map(Json::from) };
        let added = written.added.iter().find(|(added, _)| added == name).map(|(_, value)| value.clone());
        added.or_else(|| written.object.member(name))
    }

    /// Returns true if the client wrote a member of this name that is not null, or if the event was never on a wire.
    pub(crate) fn wrote(&self, name: &str) -> bool {
        let Some(written) = &self.0.written else { return self.is_unset() || self.value().get(name).is_some() };
        written.object.member(name).is_some_and(|value| !value.is_null())
    }

    /// A copy with more members. The object must not have them yet.
    #[must_use]
    pub(crate) fn with(&self, members: Vec<(String, Json)>) -> Self {
        if members.is_empty() {
            return self.clone();
        }
        let mut written = self.0.written.clone().unwrap_or_else(|| {
            let text = self.text().to_owned();
            let whole = 0..text.len();
            Written { object: Json::written(&Arc::new(text), whole), added: Vec::new() }
        });
        written.added.extend(members);
        Self::of(written)
    }
}

impl From<Value> for Raw {
    fn from(value: Value) -> Self {
        Self(Arc::new(Forms { value: Box::new(value).into(), ..Forms::default() }))
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
            // Added members keep their text too.
            assert_eq!(text.matches(BIG).count(), if dialect == "codebuddy" { 2 } else { 1 }, "{dialect} {text}");
            assert!(text.starts_with(wire.trim_end_matches('}')), "{dialect} {text}");
            let expected = format!(r#"{{"n":{BIG},"f":1.0}}"#);
            assert_eq!(input.text(), Some(&*expected), "{dialect}");
        }
    }

    /// This also holds for fields that the contract has at another place, and for hooks of another stage.
    #[test]
    fn moved_numbers_keep_their_digits() {
        for (wire, expected) in [
            (r#"{"hook_event_name":"PreToolUse","tool_name":"T","n":BIG,"f":1.0}"#, r#"{"n":BIG,"f":1.0}"#),
            (r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":null,"input":{"n":BIG}}"#, r#"{"n":BIG}"#),
            (r#"{"hook_event_name":"PreToolUse","tool_name":"\ud800","input":{"n":BIG}}"#, r#"{"n":BIG}"#),
        ] {
            let event = event("codebuddy", &wire.replace("BIG", BIG));
            let expected = expected.replace("BIG", BIG);
            assert!(event.raw.text().ends_with(&format!(r#","tool_input":{expected}}}"#)), "{}", event.raw);
            assert_eq!(event.call.as_ref().unwrap().input.text(), Some(&*expected), "{wire}");
        }
        let quoted = event("copilot", &r#"{"toolName":"T","toolArgs":"{\"n\":BIG}"}"#.replace("BIG", BIG));
        let expected = format!(r#"{{"n":{BIG}}}"#);
        assert_eq!(quoted.call.as_ref().unwrap().input.text(), Some(&*expected));
        let wire = r#"{"hook_event_name":"canUseTool","toolName":"T","input":{"n":BIG},"x":BIG}"#.replace("BIG", BIG);
        let mut event = event("blade", &wire);
        let before = event.clone();
        let sent = event.turn_into(crate::EventKind::PermissionRequest, by_name("blade").unwrap());
        assert_eq!(event.raw.get("hook_event_name").unwrap(), "PermissionRequest");
        assert!(event.raw.text().contains(&format!(r#""tool_input":{{"n":{BIG}}}"#)), "{}", event.raw);
        assert!(event.raw.text().contains(&format!(r#""x":{BIG}"#)), "{}", event.raw);
        event.turn_back(sent);
        assert_eq!(event, before);
    }

    /// Half a surrogate pair is read as U+FFFD. A whole pair is kept.
    #[test]
    fn the_text_equals_the_parsed_value() {
        let wire = r#"{"hook_event_name":"Stop","x":"\\ud800 \ud83d\ude00 \ud83d\u0041 \ude00\n \ud83d"}"#;
        let event = event("claude", wire);
        assert_eq!(
            event.raw.text(),
            r#"{"hook_event_name":"Stop","x":"\\ud800 \ud83d\ude00 \ufffd\u0041 \ufffd\n \ufffd"}"#
        );
        assert_eq!(event.raw.get("x"), event.raw.member("x").as_deref());
    }

    /// Text and value agree, whatever members a dialect adds.
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
            assert_eq!(event.raw.member("input").as_deref(), event.raw.value().get("input"));
            assert_eq!(Raw::from(event.raw.value().clone()), event.raw);
        }
    }
}
