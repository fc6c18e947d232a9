//! Members of an event that no typed field holds.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Json, Object, text::joined};

/// Members of an object by name, in order. Each keeps its text if a client wrote it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields(IndexMap<String, Json>);

impl Fields {
    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The member of this name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// Returns true if there is a member of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Sets a member. A new member becomes the last; an existing one keeps its place.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Json>) {
        self.0.insert(name.into(), value.into());
    }

    /// Removes a member. The others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.0.shift_remove(name)
    }

    /// Sets all members of `other`.
    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The parsed object.
    pub fn to_object(&self) -> Object {
        self.iter().map(|(name, value)| (name.to_owned(), value.value().clone())).collect()
    }

    /// The JSON text of the object, each value as the client wrote it.
    pub fn to_text(&self) -> String {
        joined(self.iter().map(|(name, value)| (name, value.to_text())))
    }
}

impl FromIterator<(String, Json)> for Fields {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

/// Makes an object with its own text, in which each member keeps the client's text.
impl From<Fields> for Json {
    fn from(fields: Fields) -> Self {
        let text = fields.to_text();
        let whole = 0..text.len();
        Self::written(&Arc::new(text), whole)
    }
}

impl From<Object> for Fields {
    fn from(object: Object) -> Self {
        Self(object.into_iter().map(|(name, value)| (name, value.into())).collect())
    }
}
