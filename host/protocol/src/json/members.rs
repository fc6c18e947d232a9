//! The members of an object during decoding.

use std::{ops::Range, sync::Arc};

use serde_json::Value;

use super::{Fields, Json, Object, text::Member};

/// The members of an object. A dialect takes those that it knows. It is a list, because an event has few members and
/// each is taken once. Names are unique.
#[derive(Debug, Default)]
pub(crate) struct Members {
    text: Arc<String>,
    list: Vec<(Name, Json)>,
}

/// A member's name. Most names are ranges of the text, so that decoding does not allocate for each.
#[derive(Debug)]
enum Name {
    Written(Range<usize>),
    Known(&'static str),
    Unescaped(String),
}

impl Name {
    fn within<'a>(&'a self, text: &'a str) -> &'a str {
        match self {
            Self::Written(at) => text.get(at.clone()).unwrap_or_default(),
            Self::Known(name) => name,
            Self::Unescaped(name) => name,
        }
    }
}

impl Members {
    /// Makes the members at these places of a text.
    pub(super) fn written(text: &Arc<String>, places: Vec<Member>) -> Self {
        let member = |place: Member| {
            let name = place.unescaped_name(text).map_or(Name::Written(place.name), Name::Unescaped);
            (name, Json::written(text, place.value))
        };
        Self { text: Arc::clone(text), list: places.into_iter().map(member).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.list.iter().map(|(name, value)| (name.within(&self.text), value))
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.iter().position(|(other, _)| other == name)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Json> {
        self.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.find(name).map(Json::value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Looks up the value at a JSON pointer into the object. Null counts as missing.
    pub(crate) fn at(&self, pointer: &str) -> Option<Json> {
        let (first, rest) = pointer.strip_prefix('/').map(|path| path.split_once('/').unwrap_or((path, "")))?;
        let mut value = self.find(first)?.clone();
        for name in rest.split('/').filter(|name| !name.is_empty()) {
            value = value.member(name)?;
        }
        Some(value).filter(|value| !value.is_null())
    }

    /// Removes a member. The others keep their order.
    pub(crate) fn take(&mut self, name: &str) -> Option<Json> {
        self.position(name).map(|at| self.list.remove(at).1)
    }

    /// Adds a member. The object must not have one of this name yet.
    pub(crate) fn push(&mut self, name: &'static str, value: impl Into<Json>) {
        self.list.push((Name::Known(name), value.into()));
    }

    /// Replaces a member's value. The member keeps its place.
    pub(crate) fn replace(&mut self, name: &str, value: Json) {
        if let Some(at) = self.position(name)
            && let Some((_, member)) = self.list.get_mut(at)
        {
            *member = value;
        }
    }

    /// Divides the members into those for which `is` returns true, and the others.
    pub(crate) fn partition(self, is: impl Fn(&str) -> bool) -> (Self, Fields) {
        let Self { text, list } = self;
        let (list, others): (Vec<_>, Vec<_>) = list.into_iter().partition(|(name, _)| is(name.within(&text)));
        let others = Self { text: Arc::clone(&text), list: others };
        (Self { text, list }, others.into_fields())
    }

    pub(crate) fn into_fields(self) -> Fields {
        let Self { text, list } = self;
        let mut fields = Fields::default();
        for (name, value) in list {
            fields.insert(name.within(&text), value);
        }
        fields
    }

    /// Calls the function for every member in order, until the first error.
    pub(crate) fn each<E>(self, mut member: impl FnMut(&str, Json) -> Result<(), E>) -> Result<(), E> {
        let Self { text, list } = self;
        list.into_iter().try_for_each(|(name, value)| member(name.within(&text), value))
    }
}

impl From<Object> for Members {
    fn from(object: Object) -> Self {
        let list = object.into_iter().map(|(name, value)| (Name::Unescaped(name), value.into())).collect();
        Self { text: Arc::default(), list }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        event::wire::parse_wire,
        json::{parse, parse_object},
    };

    #[test]
    fn a_key_that_is_repeated_is_found_among_however_many() {
        for count in [1, 2, 31, 32, 33, 34, 1000] {
            let members: Vec<_> = (0..count).map(|number| format!(r#""k{number}":{number}"#)).collect();
            let text = |more: &str| format!("{{{}{more}}}", members.join(","));
            assert_eq!(parse_object(text("").as_bytes()).map(|object| object.len()), Ok(count));
            for repeated in [0, count / 2, count - 1] {
                // The key may be written with escapes.
                for key in [format!("k{repeated}"), format!("\\u006b{repeated}")] {
                    let text = text(&format!(r#","{key}":0"#));
                    // The object may be nested, and may not be parsed further.
                    for text in [text.clone(), format!(r#"{{"a":[{{}},{text}]}}"#)] {
                        let result = parse(text.as_bytes()).map_err(|error| error.to_string());
                        assert!(
                            result.as_ref().is_err_and(|result| result.contains("appears twice")),
                            "{text} {result:?}"
                        );
                        assert_eq!(
                            parse_wire(text.as_bytes()).map(drop).map_err(|error| error.to_string()),
                            result.map(drop)
                        );
                    }
                }
            }
        }
    }
}
