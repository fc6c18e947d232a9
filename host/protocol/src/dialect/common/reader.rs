//! Reads an output object field by field.

use serde_json::Value;

use crate::{
    event::field_type::FieldType,
    json::{DecodeError, Object, token},
    output::{DECIDING, Note, is_unknown},
};

/// Reads the known fields of an output object. The remaining fields are kept as `extra`.
///
/// `null` counts as missing, because hooks in Python print it for fields that they leave out.
pub(crate) struct FieldReader {
    pub(super) at: String,
    pub(super) object: Object,
}

impl FieldReader {
    pub(crate) fn new(at: impl Into<String>, object: &Object) -> Self {
        Self { at: at.into(), object: object.clone() }
    }

    /// Takes a field of a given type.
    pub(crate) fn take<T: FieldType>(&mut self, key: &str) -> Result<Option<T>, DecodeError> {
        let Some(value) = self.object.shift_remove(key).filter(|v| !v.is_null()) else { return Ok(None) };
        T::deserialize(&value).map(Some).map_err(|_| DecodeError::wrong_type(self.pointer(key), T::EXPECTED, &value))
    }

    /// Takes a field that must be an object.
    pub(crate) fn take_object(&mut self, key: &str) -> Result<Option<Object>, DecodeError> {
        match self.object.shift_remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(DecodeError::wrong_type(self.pointer(key), "an object", &other)),
        }
    }

    /// Takes a field that must be one of these words. Returns the value for the word.
    pub(crate) fn take_word<T: Clone>(&mut self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, DecodeError> {
        let Some(word) = self.take::<String>(key)? else { return Ok(None) };
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, value)| value.clone());
        found.map(Some).ok_or_else(|| DecodeError::Unknown {
            pointer: self.pointer(key),
            what: "decision",
            found: crate::json::shorten(&word, 60),
            known: words.iter().map(|(known, _)| format!("`{known}`")).collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns true if a field is still there and is an object.
    pub(crate) fn is_object(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(Value::is_object)
    }

    /// Removes the remaining fields that the contract knows, in any spelling, and reports those that are not null as
    /// fields without effect. `describe` makes the note's text from a key.
    pub(crate) fn drop_known(&mut self, known: &[&str], notes: &mut Vec<Note>, describe: impl Fn(&str) -> String) {
        self.object.retain(|key, value| {
            let keep = is_unknown(key, known);
            if !keep && !value.is_null() {
                notes.push(without_effect(known, key, value, describe(key)));
            }
            keep
        });
    }

    /// The fields that were not taken yet.
    pub(crate) fn left(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.object.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns true if a field is still there and is not null.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(|v| !v.is_null())
    }

    pub(crate) fn pointer(&self, key: &str) -> String {
        format!("{}/{}", self.at, token(key))
    }

    /// Returns the remaining fields without nulls.
    pub(crate) fn rest(mut self) -> Object {
        self.object.retain(|_, value| !value.is_null());
        self.object
    }
}

/// The note on a known field without effect. It is a misfit in another spelling than the known one, and as a deciding
/// field that stops the event.
///
/// decisions.md#outputs: "Where failures block, an output that does not fit the dialect blocks too".
pub(crate) fn without_effect(known: &[&str], key: &str, value: &Value, text: String) -> Note {
    const GO_ON: [&str; 4] = ["allow", "approve", "continue", "modify"];
    let word = value.get("behavior").unwrap_or(value);
    let goes_on = word == &Value::Bool(true) || word.as_str().is_some_and(|word| GO_ON.contains(&word));
    let note = Note::dropped(text);
    if known.contains(&key) && (goes_on || !DECIDING.contains(&key)) { note } else { note.of_misfit() }
}
