//! The members of an event's object, as they were read.

use std::{borrow::Cow, collections::HashSet};

use serde_json::Value;

use super::Object;

/// A list, since an event has few members, and each is taken out once. No two have the same name.
#[derive(Debug)]
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, Value)>);

impl<'a> Members<'a> {
    /// With room for those of most events, and no more than allocators give at once.
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(10))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Takes one out. The others keep their order.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(at).1)
    }

    /// Adds one, of which it is known that there is none of that name.
    pub(crate) fn push(&mut self, name: impl Into<Cow<'a, str>>, value: Value) {
        self.0.push((name.into(), value));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes those of these names out, as an object.
    pub(crate) fn take_all(&mut self, names: &HashSet<String>) -> Object {
        let (taken, left) = std::mem::take(&mut self.0).into_iter().partition(|(key, _)| names.contains(&**key));
        self.0 = left;
        Self(taken).into_object()
    }

    pub(crate) fn into_object(self) -> Object {
        self.0.into_iter().map(|(key, value)| (key.into_owned(), value)).collect()
    }
}

impl From<Object> for Members<'_> {
    fn from(object: Object) -> Self {
        Self(object.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl<'a> IntoIterator for Members<'a> {
    type Item = (Cow<'a, str>, Value);
    type IntoIter = std::vec::IntoIter<Self::Item>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The names that were read so far.
#[derive(Default)]
pub(super) struct Names<'a>(HashSet<Cow<'a, str>>);

impl<'a> Names<'a> {
    /// Adds a member, or gives its name back: there is one of that name. Many are looked up in a set.
    pub(super) fn add(
        &mut self,
        members: &mut Members<'a>,
        name: Cow<'a, str>,
        value: Value,
    ) -> Result<(), Cow<'a, str>> {
        const FEW: usize = 32;
        let is_new = if members.len() < FEW {
            members.get(&name).is_none()
        } else {
            if self.0.is_empty() {
                self.0.extend(members.0.iter().map(|(key, _)| key.clone()));
            }
            self.0.insert(name.clone())
        };
        if !is_new {
            return Err(name);
        }
        members.push(name, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{parse, parse_object};

    #[test]
    fn a_key_that_is_repeated_is_found_among_however_many() {
        for count in [1, 2, 31, 32, 33, 34, 1000] {
            let members: Vec<_> = (0..count).map(|number| format!(r#""k{number}":{number}"#)).collect();
            let text = |more: &str| format!("{{{}{more}}}", members.join(","));
            assert_eq!(parse_object(text("").as_bytes()).map(|object| object.len()), Ok(count));
            for repeated in [0, count / 2, count - 1] {
                // However it is written.
                for key in [format!("k{repeated}"), format!("\\u006b{repeated}")] {
                    let said = parse(text(&format!(r#","{key}":0"#)).as_bytes()).map_err(|error| error.to_string());
                    assert!(said.as_ref().is_err_and(|said| said.contains("appears twice")), "{count} {key} {said:?}");
                }
            }
        }
    }
}
