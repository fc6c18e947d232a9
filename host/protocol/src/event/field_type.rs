//! The types of wire fields.

use serde_json::Value;

use crate::{
    json::{Json, describe},
    output::Note,
};

/// A type of a wire field, with its name for messages.
pub(crate) trait FieldType: serde::de::DeserializeOwned + serde::Serialize {
    const EXPECTED: &'static str;

    /// Returns `None` for a value of another type.
    fn read(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    /// Takes the member. Gives it back if it has another type, or if this type cannot hold all of it.
    fn take(member: Json) -> Result<Self, Json>;
}

/// Converts through a parsed value; for small values only.
fn take_small<T: FieldType>(member: Json) -> Result<T, Json> {
    match T::read(member.value()) {
        Some(typed) if serde_json::json!(typed) == *member.value() => Ok(typed),
        _ => Err(member),
    }
}

macro_rules! field_types {
    ($($ty:ty => $words:literal, $take:expr,)*) => { $(impl FieldType for $ty {
        const EXPECTED: &'static str = $words;

        fn take(member: Json) -> Result<Self, Json> {
            $take(member)
        }
    })* };
}

field_types! {
    String => "a string", Json::into_string,
    bool => "a boolean", take_small,
    Json => "any value", Ok,
    Value => "any value", |member: Json| Ok(member.into_value()),
    Vec<String> => "an array of strings", take_small,
    Vec<Value> => "an array", take_small,
}

macro_rules! whole_numbers {
    ($($ty:ty => $words:literal,)*) => { $(impl FieldType for $ty {
        const EXPECTED: &'static str = $words;

        fn read(value: &Value) -> Option<Self> {
            whole(value)?.try_into().ok()
        }

        fn take(member: Json) -> Result<Self, Json> {
            take_small(member)
        }
    })* };
}

whole_numbers! {
    u32 => "a whole number from 0 to 4294967295",
    u64 => "a whole number from 0",
}

/// Reads a whole number. JSON has one kind of number, so `10.0` is 10. The limit is 2^53, because larger doubles are
/// not exact.
fn whole(value: &Value) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = value.as_f64()?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked
    let whole = || (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64);
    value.as_u64().or_else(whole)
}

/// The note on a field of the wrong type, which is passed on unchanged.
pub(crate) fn left_untyped(pointer: &str, expected: &str, found: &Value) -> Note {
    Note::warning(format!("{pointer}: expected {expected}, found {}; left untyped", describe(found)))
}
