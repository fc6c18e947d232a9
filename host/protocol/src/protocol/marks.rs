//! Marks: fields that identify the payloads of a client.

use crate::json::Object;

/// Fields that identify a client's payload.
#[derive(Debug)]
pub struct Mark {
    /// Names of events, one of which the payload carries; empty: any name, or none.
    pub events: &'static [&'static str],
    /// Fields that are present.
    pub has: &'static [&'static str],
    /// Fields that are absent.
    pub lacks: &'static [&'static str],
}

impl Mark {
    /// Matches payloads that have these fields.
    pub const fn has(has: &'static [&'static str]) -> Self {
        Self { events: &[], has, lacks: &[] }
    }

    /// Restricts the match to payloads without these fields.
    #[must_use]
    pub const fn lacks(self, lacks: &'static [&'static str]) -> Self {
        Self { lacks, ..self }
    }

    /// Restricts the match to these events.
    #[must_use]
    pub const fn of(self, events: &'static [&'static str]) -> Self {
        Self { events, ..self }
    }

    pub(crate) fn is_on(&self, payload: &Object, name: Option<&str>) -> bool {
        let has = |field: &&str| payload.contains_key(*field);
        let named = self.events.is_empty() || name.is_some_and(|name| self.events.contains(&name));
        named && self.has.iter().all(has) && !self.lacks.iter().any(has)
    }
}

/// Fields that identify payloads of one dialect's client.
#[derive(Debug, Default)]
pub struct Marks {
    /// Marks of payloads that no other client sends.
    pub own: &'static [Mark],
    /// The marks of [`Marks::own`] that are proof: fields or events that only this client has.
    pub proof: &'static [Mark],
    /// The folder in the user's home where only this client keeps transcripts.
    pub home: Option<&'static str>,
    /// Marks of payloads that other clients could send as well.
    pub shared: &'static [Mark],
    /// Environment variables that the client sets for its hooks.
    pub env: &'static [&'static str],
}
