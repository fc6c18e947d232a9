//! A JSON value that keeps its text.

use std::{
    borrow::Cow,
    fmt,
    ops::{Deref, Range},
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{
    Members, parse,
    string::unescape,
    text::{self, compact},
};

/// A value of an event. A value that a client wrote is a range of the client's text and is parsed on first use. Large
/// parts of an event are never copied, and numbers keep all their digits. Cheap to clone.
#[derive(Clone, Default)]
pub struct Json {
    written: Option<Written>,
    value: OnceLock<Arc<Value>>,
}

/// A range of a text that is valid JSON, in its compact form.
#[derive(Clone)]
struct Written {
    text: Arc<String>,
    at: Range<usize>,
}

impl Json {
    /// The value at `at` in a text. `text` is strict JSON in compact form.
    pub(crate) fn written(text: &Arc<String>, at: Range<usize>) -> Self {
        Self { written: Some(Written { text: Arc::clone(text), at }), value: OnceLock::new() }
    }

    /// Parses a text that must be an object. `None` for any other text.
    pub(crate) fn object(text: &str) -> Option<Self> {
        parse(text.as_bytes()).ok().filter(Value::is_object)?;
        let line = compact(text);
        let whole = 0..line.len();
        Some(Self::written(&Arc::new(line), whole))
    }

    /// The text, if a client wrote it.
    pub fn text(&self) -> Option<&str> {
        let Written { text, at } = self.written.as_ref()?;
        text.get(at.clone())
    }

    /// The client's text, or else the text of the value.
    pub fn to_text(&self) -> Cow<'_, str> {
        self.text().map_or_else(|| self.value().to_string().into(), Cow::Borrowed)
    }

    /// The parsed value.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| {
            let string = self.quoted().map(Value::String);
            let parsed = || self.text().and_then(|text| parse(text.as_bytes()).ok()).unwrap_or_default();
            Arc::new(string.unwrap_or_else(parsed))
        })
    }

    /// Returns the parsed value. It is copied only if another clone shares it.
    pub fn into_value(self) -> Value {
        self.value();
        self.value.into_inner().map(Arc::unwrap_or_clone).unwrap_or_default()
    }

    /// Returns true for `null`. A text is not parsed for this.
    pub fn is_null(&self) -> bool {
        self.text().map_or_else(|| self.value().is_null(), |text| text == "null")
    }

    /// Returns the string, or `Err` with any other value.
    pub(crate) fn into_string(self) -> Result<String, Self> {
        match (self.quoted(), self.value.get().map(|value| &**value)) {
            (Some(string), _) => Ok(string),
            (None, Some(Value::String(string))) => Ok(string.clone()),
            (None, _) => Err(self),
        }
    }

    /// Decodes the text as a string, without parsing. `None`: it is not a string.
    fn quoted(&self) -> Option<String> {
        let raw = self.text()?.strip_prefix('"')?.strip_suffix('"')?;
        Some(if raw.contains('\\') { unescape(raw) } else { raw.to_owned() })
    }

    /// The members of an object. `None` for any other value.
    pub(crate) fn members(&self) -> Option<Members> {
        match &self.written {
            Some(Written { text, at }) => Some(Members::written(text, text::members(text, at.clone())?)),
            None => Some(self.value().as_object()?.clone().into()),
        }
    }

    /// One member of an object.
    pub(crate) fn member(&self, name: &str) -> Option<Self> {
        self.members()?.take(name)
    }
}

impl Deref for Json {
    type Target = Value;
    fn deref(&self) -> &Value {
        self.value()
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self { written: None, value: Arc::new(value).into() }
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        json.into_value()
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        let same = |one: &Written, other: &Written| Arc::ptr_eq(&one.text, &other.text) && one.at == other.at;
        let written = self.written.as_ref().zip(other.written.as_ref());
        written.is_some_and(|(one, other)| same(one, other)) || self.value() == other.value()
    }
}

impl PartialEq<Value> for Json {
    fn eq(&self, other: &Value) -> bool {
        self.value() == other
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}
