//! The object of a client's text during decoding.

use std::sync::Arc;

use super::Raw;
use crate::{
    json::{DecodeError, Json, Members, Normal, normal},
    output::Note,
};

/// The object of a client's text, together with the text.
#[derive(Debug)]
pub(crate) struct Wire {
    /// The object's members, and those that the dialect added.
    pub(crate) members: Members,
    /// Notes for people on repairs of the text.
    pub(crate) notes: Vec<Note>,
    text: Arc<String>,
    added: Vec<(&'static str, Json)>,
    /// Names of null members that were replaced by added ones.
    replaced: Vec<&'static str>,
}

impl Wire {
    /// Returns true if the event has a member of this name that is not null.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.find(name).is_some_and(|value| !value.is_null())
    }

    /// Adds a member that is missing or null.
    pub(crate) fn add(&mut self, name: &'static str, value: impl Into<Json>) {
        if self.members.take(name).is_some() {
            self.replaced.push(name);
        }
        let value = value.into();
        self.added.push((name, value.clone()));
        self.members.push(name, value);
    }

    /// The whole event with the added members.
    pub(crate) fn raw(&mut self) -> Raw {
        let added = std::mem::take(&mut self.added);
        let added = added.into_iter().map(|(name, value)| (name.to_owned(), value));
        Raw::written(&self.text, &self.replaced, added.collect())
    }
}

/// Reads the object of a client's text. All of the text is checked; members are parsed on first use. Half a surrogate
/// pair is read as U+FFFD, with a note.
///
/// # Errors
/// The errors of [`crate::json::parse_object`].
pub(crate) fn parse_wire(bytes: &[u8]) -> Result<Wire, DecodeError> {
    let Normal { text, members, repaired } = normal(bytes)?;
    let note = || format!("{repaired} times half a surrogate pair, which is not a character: read as U+FFFD");
    let notes = if repaired > 0 { vec![Note::warning(note())] } else { Vec::new() };
    Ok(Wire { members, notes, text, added: Vec::new(), replaced: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::parse_wire;

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        let text = r#"{"a":"\ud83d\ude00 \ud83d","b":"\ude00\ud83d\u0041","\ud800":"\u00e9"}"#;
        let wire = parse_wire(text.as_bytes()).map(|wire| (wire.members.into_fields().to_object(), wire.notes));
        let (object, notes) = wire.unwrap_or_default();
        assert_eq!(
            serde_json::Value::Object(object).to_string(),
            "{\"a\":\"😀 \u{fffd}\",\"b\":\"\u{fffd}\u{fffd}A\",\"\u{fffd}\":\"é\"}"
        );
        assert!(notes.iter().any(|note| note.text.starts_with("4 times")), "{notes:?}");
    }
}
