//! The fields of an event that no type holds.

use super::field_type::{FieldType, left_untyped};
use crate::{
    json::{DecodeError, Fields, Json, token},
    output::Note,
    protocol::spec::EventSpec,
};

/// One wire field.
pub(crate) struct Field<'a> {
    /// The field's name in the contract.
    pub(super) ours: &'a str,
    pub(super) wire: &'a str,
    pub(super) member: Json,
}

/// The fields and notes that no type holds.
pub(crate) struct UntypedFields<'a> {
    pub(super) spec: &'a EventSpec,
    /// The JSON pointer of the object within the text.
    pub(super) at: &'a str,
    pub(super) extra: Fields,
    pub(super) notes: Vec<Note>,
}

impl UntypedFields<'_> {
    /// Reads a field. A value of the wrong type gives `None` and is left untyped.
    ///
    /// # Errors
    /// [`DecodeError::Type`]: the event requires the field and its type is wrong.
    pub(crate) fn read<T: FieldType>(&mut self, field: &mut Field<'_>) -> Result<Option<T>, DecodeError> {
        let value = match T::take(std::mem::take(&mut field.member)) {
            Ok(typed) => return Ok(Some(typed)),
            Err(member) => member,
        };
        let typed = T::read(&value);
        if typed.is_none() {
            let pointer = format!("{}/{}", self.at, token(field.wire));
            if self.spec.required.contains(&field.wire) {
                return Err(DecodeError::wrong_type(pointer, T::EXPECTED, &value));
            }
            self.notes.push(left_untyped(&pointer, T::EXPECTED, &value));
        }
        // `10.0` is read as 10 and kept as the client wrote it.
        self.keep(field, value);
        Ok(typed)
    }

    /// Reads a string that the event cannot do without.
    ///
    /// # Errors
    /// [`DecodeError::Type`]: the value is not a string.
    pub(crate) fn needed(&self, field: &mut Field<'_>) -> Result<String, DecodeError> {
        let read = std::mem::take(&mut field.member).into_string();
        read.map_err(|member| {
            let pointer = format!("{}/{}", self.at, token(field.wire));
            DecodeError::wrong_type(pointer, String::EXPECTED, member.value())
        })
    }

    /// Keeps a value that the types cannot hold without loss.
    pub(crate) fn keep(&mut self, field: &Field<'_>, value: impl Into<Json>) {
        self.extra.insert(field.wire, value);
    }
}
