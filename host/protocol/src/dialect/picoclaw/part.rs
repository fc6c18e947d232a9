//! Optional objects within a message.

use std::cell::RefCell;

use serde_json::Value;

use crate::{
    event::field_type::{FieldType, left_untyped},
    json::{Members, Object, token},
    output::Note,
};

/// An optional object within a message, and its JSON pointer. A value of the wrong type counts as missing, with a note;
/// [`Event::extra`] has it anyway.
pub(super) struct Part<'a> {
    pub(super) pointer: String,
    pub(super) fields: Option<Within<'a>>,
    pub(super) ignored: &'a RefCell<Vec<Note>>,
}

/// The two forms of an object.
#[derive(Clone, Copy)]
pub(super) enum Within<'a> {
    Params(&'a Members),
    Object(&'a Object),
}

impl<'a> Part<'a> {
    pub(super) fn pointer_of(&self, key: &str) -> String {
        format!("{}/{}", self.pointer, token(key))
    }

    /// `null` counts as missing, because Go writes it for missing values.
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.member(key).filter(|value| !value.is_null())
    }

    pub(super) fn member(&self, key: &str) -> Option<&'a Value> {
        match self.fields? {
            Within::Params(params) => params.get(key),
            Within::Object(object) => object.get(key),
        }
    }

    pub(super) fn take<T: FieldType>(&self, key: &str) -> Option<T> {
        let value = self.get(key)?;
        let read = T::read(value);
        if read.is_none() {
            self.ignored.borrow_mut().push(left_untyped(&self.pointer_of(key), T::EXPECTED, value));
        }
        read
    }

    pub(super) fn inner(&self, key: &str) -> Part<'a> {
        let pointer = self.pointer_of(key);
        let value = self.get(key);
        let fields = value.and_then(Value::as_object).map(Within::Object);
        if let (Some(value), None) = (value, fields) {
            self.ignored.borrow_mut().push(left_untyped(&pointer, "an object", value));
        }
        Part { pointer, fields, ignored: self.ignored }
    }
}
