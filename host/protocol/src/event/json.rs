//! A value of an event that may be large.

use std::{
    fmt,
    ops::{Deref, Range},
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::json::{Member, Whole, parse, text::Text};

/// A value of an event, which is read when somebody looks into it: what a client wrote is in memory once, as the text that
/// hooks are given. Cheap to clone.
#[derive(Clone, Default)]
pub struct Json {
    /// Where it stands in the event's text.
    written: Option<(Arc<Text>, Range<usize>)>,
    value: OnceLock<Arc<Value>>,
}

impl Json {
    pub(crate) fn of_member(member: Member<'_>, whole: Option<&Whole<'_>>) -> Self {
        match whole.and_then(|whole| member.kept_in(whole)) {
            Some(written) => Self { written: Some(written), value: OnceLock::new() },
            None => member.into_value().into(),
        }
    }

    /// Its text, where it is as the client wrote it.
    pub fn text(&self) -> Option<&str> {
        let (text, range) = self.written.as_ref()?;
        text.get(range.clone())
    }

    /// What it is, read.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| {
            let read = self.text().and_then(|text| parse(text.as_bytes()).ok());
            read.unwrap_or_default().into()
        })
    }

    /// The value, without a copy where nobody else has it.
    pub fn into_value(self) -> Value {
        self.value();
        self.value.into_inner().map(Arc::unwrap_or_clone).unwrap_or_default()
    }

    /// Whether it is `null`, without reading it.
    pub fn is_null(&self) -> bool {
        self.text().map_or_else(|| self.value().is_null(), |text| text == "null")
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
        let same = |(one, at): &(Arc<Text>, _), (other, place): &(Arc<Text>, _)| Arc::ptr_eq(one, other) && at == place;
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
