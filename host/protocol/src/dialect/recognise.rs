//! Who is calling? A client may run the hooks that another one's settings name, and sends its own payload then.

use super::{ALL, Dialect};
use crate::json::{Object, parse_object};

/// Fields that tell a client's payload from others'.
#[derive(Debug)]
pub struct Mark {
    /// Names of the event, one of which the payload carries; none: any, or no name at all.
    pub events: &'static [&'static str],
    /// Fields that are there.
    pub has: &'static [&'static str],
    /// Fields that are not.
    pub lacks: &'static [&'static str],
}

impl Mark {
    /// Payloads with these fields.
    pub const fn has(has: &'static [&'static str]) -> Self {
        Self { events: &[], has, lacks: &[] }
    }

    /// Of those, the ones without these fields.
    #[must_use]
    pub const fn lacks(self, lacks: &'static [&'static str]) -> Self {
        Self { lacks, ..self }
    }

    /// Of those, the ones about these events.
    #[must_use]
    pub const fn of(self, events: &'static [&'static str]) -> Self {
        Self { events, ..self }
    }

    fn is_on(&self, payload: &Object) -> bool {
        let has = |field: &&str| payload.contains_key(*field);
        let name = payload.get("hook_event_name").and_then(serde_json::Value::as_str);
        let named = self.events.is_empty() || name.is_some_and(|name| self.events.contains(&name));
        named && self.has.iter().all(has) && !self.lacks.iter().any(has)
    }
}

/// What tells that a payload is of one dialect's client.
#[derive(Debug, Default)]
pub struct Marks {
    /// On payloads that nobody else sends.
    pub own: &'static [Mark],
    /// On payloads that others could have sent as well.
    pub shared: &'static [Mark],
}

/// The dialects whose clients can have sent this payload, judged by its fields alone: one where it bears a client's own
/// mark, several where it says too little, none where it is nobody's that we know. Profiles are not told apart: each dialect
/// is there once, as documented.
pub fn recognise(wire: &[u8]) -> Vec<&'static dyn Dialect> {
    let Ok(payload) = parse_object(wire) else { return Vec::new() };
    let bearing = |marks: fn(&Marks) -> &'static [Mark]| -> Vec<&'static dyn Dialect> {
        let documented = ALL.iter().copied().filter(|dialect| !dialect.name().contains('@'));
        documented.filter(|dialect| marks(&dialect.marks()).iter().any(|mark| mark.is_on(&payload))).collect()
    };
    let own = bearing(|marks| marks.own);
    if own.is_empty() { bearing(|marks| marks.shared) } else { own }
}
