//! The members of an event's object, each read when somebody looks into it.

use std::{borrow::Cow, cell::OnceCell, collections::HashSet, ops::Range, sync::Arc};

use serde_json::Value;

use super::{Object, checked::Checked, read, string::unescape, text::Text};

/// A list, since an event has few members, and each is taken out once. No two have the same name.
#[derive(Debug, Default)]
pub(crate) struct Members<'a> {
    list: Vec<(Cow<'a, str>, Member<'a>)>,
    whole: Option<Whole<'a>>,
}

/// The text that members are written in, and the same to be kept.
#[derive(Debug, Clone)]
pub(crate) struct Whole<'a> {
    read: &'a str,
    kept: Arc<Text>,
}

/// The value of one.
#[derive(Debug, Clone)]
pub(crate) struct Member<'a> {
    /// Empty where it is not known.
    text: &'a str,
    /// Whether it has escapes, where it is a string.
    escapes: bool,
    value: OnceCell<Box<Value>>,
}

impl<'a> Members<'a> {
    /// With room for those of most events, and no more than allocators give at once.
    pub(super) fn new() -> Self {
        Self { list: Vec::with_capacity(12), whole: None }
    }

    /// Adds one that stands in the text.
    pub(super) fn push_unread(&mut self, name: Cow<'a, str>, text: &'a str, escapes: bool) {
        self.list.push((name, Member { text, escapes, value: OnceCell::new() }));
    }

    /// Tells that all of them are kept with this text, letter by letter.
    pub(super) fn kept_in(&mut self, read: &'a str, kept: &Arc<Text>) {
        self.whole = Some(Whole { read, kept: Arc::clone(kept) });
    }

    pub(crate) fn whole(&self) -> Option<Whole<'a>> {
        self.whole.clone()
    }

    /// One of them, unread.
    pub(crate) fn find(&self, name: &str) -> Option<&Member<'a>> {
        self.list.iter().find(|(key, _)| key == name).map(|(_, member)| member)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.find(name).map(Member::value)
    }

    /// Takes a member's member out.
    pub(crate) fn remove_below(&mut self, name: &str, below: &str) -> Option<Value> {
        let (_, member) = self.list.iter_mut().find(|(key, _)| key == name)?;
        let mut value = std::mem::take(member).into_value();
        let removed = value.as_object_mut().and_then(|object| object.shift_remove(below));
        *member = value.into();
        removed
    }

    /// Takes one out, as a value. The others keep their order.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Value> {
        self.take(name).map(Member::into_value)
    }

    /// Takes one out, unread.
    pub(crate) fn take(&mut self, name: &str) -> Option<Member<'a>> {
        let at = self.list.iter().position(|(key, _)| key == name)?;
        Some(self.list.remove(at).1)
    }

    /// Adds one, of which it is known that there is none of that name.
    pub(crate) fn push(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Member<'a>>) {
        self.list.push((name.into(), value.into()));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Member<'a>)> {
        self.list.iter().map(|(key, member)| (&**key, member))
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Takes an object out, whose members are not read; `Err`: it is another value.
    pub(crate) fn take_object(&mut self, name: &str) -> Option<Result<Self, Value>> {
        let whole = self.whole();
        let member = self.take(name)?;
        let read = Checked::new(member.text.as_bytes())
            .and_then(|mut text| super::members(&mut text).map_err(|fault| text.syntax(&fault)));
        Some(match read {
            Ok(read) => read.map(|members| Self { whole, ..members }),
            // It is not of a text.
            Err(_) => match member.into_value() {
                Value::Object(object) => Ok(object.into()),
                other => Err(other),
            },
        })
    }

    /// Those of which this is so, and the others.
    pub(crate) fn partition(self, is: impl Fn(&str) -> bool) -> (Self, Object) {
        let (list, others): (Vec<_>, Vec<_>) = self.list.into_iter().partition(|(key, _)| is(key));
        (Self { list, whole: self.whole }, Self { list: others, whole: None }.into_object())
    }

    /// Takes those of these names out, as an object.
    pub(crate) fn take_all(&mut self, names: &HashSet<String>) -> Object {
        let (left, taken) = std::mem::take(self).partition(|name| !names.contains(name));
        *self = left;
        taken
    }

    pub(crate) fn into_object(self) -> Object {
        self.list.into_iter().map(|(key, member)| (key.into_owned(), member.into_value())).collect()
    }
}

impl From<Object> for Members<'_> {
    fn from(object: Object) -> Self {
        Self { list: object.into_iter().map(|(key, value)| (key.into(), value.into())).collect(), whole: None }
    }
}

impl<'a> IntoIterator for Members<'a> {
    type Item = (Cow<'a, str>, Member<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> Member<'a> {
    pub(crate) fn value(&self) -> &Value {
        self.value.get_or_init(|| {
            let read = || read(self.text.as_bytes()).map(|(value, _)| value).unwrap_or_default();
            Box::new(self.unquoted().map_or_else(read, Value::String))
        })
    }

    pub(crate) fn into_value(self) -> Value {
        self.value();
        self.value.into_inner().map(|value| *value).unwrap_or_default()
    }

    pub(crate) fn is_null(&self) -> bool {
        if self.text.is_empty() { self.value().is_null() } else { self.text == "null" }
    }

    /// Itself as a string, or back.
    pub(crate) fn into_string(self) -> Result<String, Self> {
        if let Some(string) = self.unquoted() {
            return Ok(string);
        }
        match self.into_value() {
            Value::String(string) => Ok(string),
            other => Err(other.into()),
        }
    }

    /// Where its text is a string.
    fn unquoted(&self) -> Option<String> {
        let raw = self.text.strip_prefix('"')?.strip_suffix('"')?;
        Some(if self.escapes { unescape(raw) } else { raw.to_owned() })
    }

    /// Where it stands in what is kept.
    pub(crate) fn kept_in(&self, whole: &Whole<'a>) -> Option<(Arc<Text>, Range<usize>)> {
        let start = self.text.as_ptr().addr().checked_sub(whole.read.as_ptr().addr())?;
        let range = start..start + self.text.len();
        (!self.text.is_empty() && whole.read.get(range.clone()).is_some()).then(|| (Arc::clone(&whole.kept), range))
    }
}

impl Default for Member<'_> {
    fn default() -> Self {
        Self { text: "null", escapes: false, value: OnceCell::new() }
    }
}

impl From<Value> for Member<'_> {
    fn from(value: Value) -> Self {
        Self { text: "", escapes: false, value: OnceCell::from(Box::new(value)) }
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{parse, parse_object, parse_wire};

    #[test]
    fn a_key_that_is_repeated_is_found_among_however_many() {
        for count in [1, 2, 31, 32, 33, 34, 1000] {
            let members: Vec<_> = (0..count).map(|number| format!(r#""k{number}":{number}"#)).collect();
            let text = |more: &str| format!("{{{}{more}}}", members.join(","));
            assert_eq!(parse_object(text("").as_bytes()).map(|object| object.len()), Ok(count));
            for repeated in [0, count / 2, count - 1] {
                // However it is written.
                for key in [format!("k{repeated}"), format!("\\u006b{repeated}")] {
                    let text = text(&format!(r#","{key}":0"#));
                    // And wherever it stands, read or unread.
                    for text in [text.clone(), format!(r#"{{"a":[{{}},{text}]}}"#)] {
                        let said = parse(text.as_bytes()).map_err(|error| error.to_string());
                        assert!(said.as_ref().is_err_and(|said| said.contains("appears twice")), "{text} {said:?}");
                        assert_eq!(
                            parse_wire(text.as_bytes()).map(drop).map_err(|error| error.to_string()),
                            said.map(drop)
                        );
                    }
                }
            }
        }
    }
}
