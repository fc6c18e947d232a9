//! The whole of an event, as text and as value: each is made of the other when it is first asked for.

use std::{
    borrow::Cow,
    cell::LazyCell,
    collections::{HashMap, HashSet},
    fmt, iter,
    ops::{Deref, Range},
    sync::{Arc, OnceLock},
};

use serde_json::Value;

use crate::json::{
    Object, parse, same,
    text::{self, Text, only},
};

/// The JSON of an event. What a client wrote is kept as text, so that a large event is in memory once, and its numbers reach
/// hooks as they are written, also those that no 64 bits hold. Cheap to clone.
#[derive(Clone, Default)]
pub struct Raw(Arc<Forms>);

#[derive(Default)]
struct Forms {
    written: Option<Written>,
    text: OnceLock<String>,
    value: OnceLock<Box<Value>>,
}

/// What was written, and the members that were added to it. Both are made one only where somebody reads them as one.
#[derive(Clone)]
struct Written {
    text: Arc<Text>,
    /// Whether the members of the text are the event's too.
    kept: bool,
    /// Each key with the text of its value, without a copy where it is one of what was written.
    added: Vec<(String, Added)>,
    moved: Vec<Moved>,
    /// Texts of values that the client wrote as texts within the text.
    quoted: Vec<Arc<String>>,
}

#[derive(Clone)]
enum Added {
    Same(Range<usize>),
    New(Arc<String>),
}

/// What the event has under the contract's name, and the client wrote elsewhere. It is held once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The contract's name.
    pub(crate) name: &'static str,
    pub(crate) from: Place,
}

/// Where the client wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a member, or in a member of one.
    At(&'static str, Option<&'static str>),
    /// As these members, beside everything else.
    Members(HashSet<String>),
}

impl Written {
    fn added(&self) -> impl Iterator<Item = (&str, &str)> {
        self.added.iter().map(|(key, added)| (key.as_str(), self.text_of(added)))
    }

    fn text_of<'a>(&'a self, added: &'a Added) -> &'a str {
        match added {
            Added::Same(range) => self.text.get(range.clone()).unwrap_or_default(),
            Added::New(text) => text,
        }
    }

    /// What is to be added for a value that has this text, where it has one.
    fn add(&self, text: Option<&str>, value: &Value) -> Added {
        let Some(text) = text else { return Added::New(value.to_string().into()) };
        let start = text.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        if start < self.text.len() {
            Added::Same(start..start + text.len())
        } else {
            Added::New(text.to_owned().into())
        }
    }

    /// The whole, piece by piece.
    fn pieces(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let own = if self.kept { self.text.strip_suffix('}').unwrap_or(&self.text) } else { "{" };
        let mut first = own.len() == 1;
        let added = self.added().flat_map(move |(key, text)| {
            let comma = if std::mem::take(&mut first) { "" } else { "," };
            [Cow::Owned(format!("{comma}{}:", Value::from(key))), Cow::Borrowed(text)]
        });
        iter::once(Cow::Borrowed(own)).chain(added).chain(iter::once(Cow::Borrowed("}")))
    }
}

impl Raw {
    /// Of the text of an object, on one line, with more members. Those that are written in it are added as they are
    /// written. `moved`: those of them that the client wrote elsewhere, and that are not where it wrote them any more.
    pub(crate) fn written<'a>(
        text: Arc<Text>,
        members: impl Iterator<Item = (&'a str, &'a Value)>,
        moved: Vec<Moved>,
    ) -> Self {
        let mut written = Written { text, kept: true, added: Vec::new(), moved, quoted: Vec::new() };
        written.added = {
            let top = LazyCell::new(|| text::members(&written.text).unwrap_or_default());
            let of = |from: &str| top.iter().find(|(name, _)| name == from).map(|(_, text)| *text);
            let added = |(key, value): (&str, &Value)| {
                let moved = written.moved.iter().find(|moved| moved.name == key);
                let added = match moved.map(|moved| &moved.from) {
                    Some(Place::At(from, None)) => written.add(of(from), value),
                    Some(Place::At(from, Some(below))) => {
                        let inner = of(from).and_then(text::members).unwrap_or_default();
                        written.add(inner.iter().find(|(name, _)| name == below).map(|(_, text)| *text), value)
                    }
                    Some(Place::Members(from)) => {
                        Added::New(joined(top.iter().filter(|(key, _)| from.contains(key))).into())
                    }
                    None => written.add(written.text.written_as(value), value),
                };
                (key.to_owned(), added)
            };
            members.map(added).collect()
        };
        Self::of(written)
    }

    /// The same, which knows how the client wrote a value within a text. What is on several lines is not passed on.
    #[must_use]
    pub(crate) fn quoting(&self, text: String) -> Self {
        let Some(written) = self.0.written.as_ref().filter(|_| !text.contains(['\n', '\r'])) else {
            return self.clone();
        };
        let mut quoting = written.clone();
        quoting.quoted.push(text.into());
        Self::of(quoting)
    }

    fn of(written: Written) -> Self {
        Self(Arc::new(Forms { written: Some(written), text: OnceLock::new(), value: OnceLock::new() }))
    }

    /// Another object, of members of this one.
    pub(crate) fn made_of<'a>(&self, members: impl Iterator<Item = (&'a str, &'a Value)>) -> Self {
        let Some(written) = &self.0.written else {
            return Value::Object(members.map(|(key, value)| (key.to_owned(), value.clone())).collect()).into();
        };
        let mut made = Written { kept: false, added: Vec::new(), moved: Vec::new(), ..written.clone() };
        let known: HashMap<_, _> = self.members().into_iter().collect();
        made.added = members
            .map(|(key, value)| {
                let text = known.get(key).copied().filter(|text| same::same(text, value));
                (key.to_owned(), written.add(text, value))
            })
            .collect();
        Self::of(made)
    }

    /// The members with their texts, as far as they were written.
    fn members(&self) -> Vec<(Cow<'_, str>, &str)> {
        let Some(written) = &self.0.written else { return Vec::new() };
        let own = if written.kept { text::members(&written.text).unwrap_or_default() } else { Vec::new() };
        let own = own.into_iter().map(|(key, text)| (Cow::Owned(key), text));
        own.chain(written.added().map(|(key, text)| (Cow::Borrowed(key), text))).collect()
    }

    /// Whether it is of an event that never was on a wire.
    pub(crate) fn is_unset(&self) -> bool {
        self.0.written.is_none()
            && self.0.text.get().is_none()
            && self.0.value.get().is_none_or(|value| value.is_null())
    }

    /// The text, where it is one already.
    fn one(&self) -> Option<&str> {
        match &self.0.written {
            Some(written) if written.kept && written.added.is_empty() => Some(&written.text),
            _ => self.0.text.get().map(String::as_str),
        }
    }

    /// The JSON text, on one line.
    pub fn text(&self) -> &str {
        let make = || if self.0.written.is_some() { self.to_text() } else { self.value().to_string() };
        self.one().unwrap_or_else(|| self.0.text.get_or_init(make))
    }

    /// [`Raw::text`], piece by piece: for whoever writes it somewhere, without a copy of what is large.
    pub fn pieces(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let written = self.0.written.as_ref().filter(|_| self.one().is_none());
        let one = written.is_none().then(|| Cow::Borrowed(self.text()));
        one.into_iter().chain(written.into_iter().flat_map(Written::pieces))
    }

    /// [`Raw::text`], for whoever keeps it.
    pub fn to_text(&self) -> String {
        let size = self.pieces().map(|piece| piece.len()).sum();
        self.pieces().fold(String::with_capacity(size), |whole, piece| whole + &piece)
    }

    /// Bytes that the client wrote, or that [`Raw::text`] has where it wrote nothing.
    pub fn size(&self) -> usize {
        self.0.written.as_ref().map_or_else(|| self.text().len(), |written| written.text.len())
    }

    /// The same as a value.
    pub fn value(&self) -> &Value {
        let parsed = || {
            let text = self.0.written.as_ref().map(|_| self.one().map_or_else(|| self.to_text().into(), Cow::from));
            text.and_then(|text| parse(text.as_bytes()).ok()).unwrap_or_default().into()
        };
        self.0.value.get_or_init(parsed)
    }

    /// One member of the object that it is, without reading the others.
    pub fn member(&self, key: &str) -> Option<Value> {
        match (self.0.value.get(), &self.0.written) {
            (None, Some(_)) => {
                let mut members = self.members().into_iter().rev();
                parse(members.find(|(name, _)| name == key)?.1.as_bytes()).ok()
            }
            _ => self.value().get(key).cloned(),
        }
    }

    /// Whether the object that it is has this member.
    pub(crate) fn has(&self, key: &str) -> bool {
        match &self.0.written {
            Some(_) => self.members().iter().any(|(name, _)| name == key),
            None => self.value().get(key).is_some(),
        }
    }

    /// What the client wrote elsewhere than the event has it.
    pub(crate) fn moved(&self) -> &[Moved] {
        self.0.written.as_ref().map_or(&[], |written| &written.moved)
    }

    /// The same with more members.
    #[must_use]
    pub fn with(&self, members: &[(&str, &Value)]) -> Self {
        if members.is_empty() {
            return self.clone();
        }
        let Some(written) = &self.0.written else {
            let text = Arc::new(self.text().to_owned().into());
            return Self::written(text, members.iter().copied(), Vec::new());
        };
        let mut more = written.clone();
        more.added.extend(
            members.iter().map(|(key, value)| ((*key).to_owned(), written.add(written.text.written_as(value), value))),
        );
        Self::of(more)
    }

    /// The text of a value as the client wrote it, where the value is a member of the event or of one of its members.
    pub fn written_as(&self, value: &Value) -> Option<&str> {
        let written = self.0.written.as_ref()?;
        let added = written.added.iter().filter_map(|(_, added)| match added {
            Added::Same(_) => None,
            Added::New(text) => Some(text),
        });
        let mut others = added.chain(&written.quoted).map(|text| text.as_str());
        written.text.written_as(value).or_else(|| others.find(|text| same::same(text, value)))
    }

    /// The text of an object made of members of the event, or of its members' members, each as the client wrote it.
    pub fn object(&self, object: &Object) -> String {
        let top = self.members();
        let below = top.iter().flat_map(|(_, text)| text::members(text).unwrap_or_default());
        let below = below.map(|(key, text)| (Cow::Owned(key), text));
        let mut known: HashMap<Cow<'_, str>, Vec<&str>> = HashMap::new();
        for (key, text) in top.iter().cloned().chain(below).filter(|(key, _)| object.contains_key(&**key)) {
            known.entry(key).or_default().push(text);
        }
        let written = |(key, value): (&String, &Value)| {
            let text = known.get(&**key).and_then(|texts| only(texts.iter().copied(), value));
            (key.clone(), text.map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed))
        };
        joined(object.iter().map(written).collect::<Vec<_>>().iter())
    }
}

/// The text of an object with these members.
pub(crate) fn joined<'a, K: AsRef<str> + 'a, T: AsRef<str> + 'a>(
    members: impl Iterator<Item = &'a (K, T)> + Clone,
) -> String {
    let size: usize = members.clone().map(|(key, text)| key.as_ref().len() + text.as_ref().len() + 5).sum();
    let mut whole = String::with_capacity(size + 2);
    whole.push('{');
    for (key, text) in members {
        whole.push_str(if whole.len() > 1 { "," } else { "" });
        whole.push_str(&Value::from(key.as_ref()).to_string());
        whole.push(':');
        whole.push_str(text.as_ref());
    }
    whole.push('}');
    whole
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

    /// Also where the contract has it elsewhere than the client wrote it, and where hooks of another stage see it.
    #[test]
    fn what_stands_elsewhere_keeps_its_digits() {
        for (wire, expected) in [
            (r#"{"hook_event_name":"PreToolUse","tool_name":"T","n":BIG,"f":1.0}"#, r#"{"n":BIG,"f":1.0}"#),
            (r#"{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":null,"input":{"n":BIG}}"#, r#"{"n":BIG}"#),
            (r#"{"hook_event_name":"PreToolUse","tool_name":"\ud800","input":{"n":BIG}}"#, r#"{"n":BIG}"#),
        ] {
            let event = event("codebuddy", &wire.replace("BIG", BIG));
            let expected = expected.replace("BIG", BIG);
            assert!(event.raw.text().ends_with(&format!(r#","tool_input":{expected}}}"#)), "{}", event.raw);
            assert_eq!(event.raw.written_as(&event.call.as_ref().unwrap().input), Some(&*expected), "{wire}");
        }
        let quoted = event("copilot", &r#"{"toolName":"T","toolArgs":"{\"n\":BIG}"}"#.replace("BIG", BIG));
        let expected = format!(r#"{{"n":{BIG}}}"#);
        assert_eq!(quoted.raw.written_as(&quoted.call.as_ref().unwrap().input), Some(&*expected));
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

    /// Half a surrogate pair is read as U+FFFD, a whole one is not.
    #[test]
    fn the_text_says_what_was_read() {
        let wire = r#"{"hook_event_name":"Stop","x":"\\ud800 \ud83d\ude00 \ud83d\u0041 \ude00\n \ud83d"}"#;
        let event = event("claude", wire);
        assert_eq!(
            event.raw.text(),
            r#"{"hook_event_name":"Stop","x":"\\ud800 \ud83d\ude00 \ufffd\u0041 \ufffd\n \ufffd"}"#
        );
        assert_eq!(event.raw.get("x"), event.raw.member("x").as_ref());
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
