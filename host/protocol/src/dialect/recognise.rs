//! Recognises the client of a payload. A client may run the hooks of another client's settings, and then sends its own
//! payload.

use super::registry::ALL;
use crate::{
    json::{Object, parse_object},
    protocol::{Dialect, Mark, Marks},
};

/// Returns the dialects whose clients can have sent this payload, by its fields alone. There are several if its fields
/// are ambiguous, and none if no known client sends such a payload. Each dialect occurs once, in its documented
/// profile.
pub fn recognise(wire: &[u8]) -> Vec<&'static dyn Dialect> {
    let Ok(payload) = parse_object(wire) else { return Vec::new() };
    let proven = proven(&payload);
    if !proven.is_empty() {
        return proven;
    }
    let own = bearing(&payload, |marks| marks.own);
    if own.is_empty() { bearing(&payload, |marks| marks.shared) } else { own }
}

/// Returns the dialects whose clients have certainly sent this payload. The proof is the transcript's folder, or else a
/// field or an event that only one client has.
fn proven(payload: &Object) -> Vec<&'static dyn Dialect> {
    let transcript = payload.get("transcript_path").and_then(serde_json::Value::as_str).unwrap_or_default();
    let below = |home: &str| transcript.split(['/', '\\']).any(|part| part == home);
    let home: Vec<_> = documented().filter(|dialect| dialect.marks().home.is_some_and(below)).collect();
    if home.len() == 1 { home } else { bearing(payload, |marks| marks.proof) }
}

fn documented() -> impl Iterator<Item = &'static dyn Dialect> {
    ALL.iter().copied().filter(|dialect| !dialect.name().contains('@'))
}

fn bearing(payload: &Object, marks: fn(&Marks) -> &'static [Mark]) -> Vec<&'static dyn Dialect> {
    let name = payload.get("hook_event_name").and_then(serde_json::Value::as_str);
    documented().filter(|dialect| marks(&dialect.marks()).iter().any(|mark| mark.is_on(payload, name))).collect()
}

/// The client that called hooks which are configured for a dialect.
#[derive(Clone)]
pub enum Caller {
    /// The configured client. Unknown clients count as this one.
    Own,
    /// Another client. The dialect is its observed profile if there is one, because a real program called.
    Foreign(&'static dyn Dialect),
    /// Another client that the payload does not identify.
    Unclear(Vec<&'static dyn Dialect>),
}

/// Returns the client that called hooks of a file for `configured`. Only proof overrides the file's dialect.
pub fn caller(configured: &dyn Dialect, wire: &[u8]) -> Caller {
    let Ok(payload) = parse_object(wire) else { return Caller::Own };
    match proven(&payload).as_slice() {
        [one] if base(*one) != base(configured) => Caller::Foreign(observed(*one)),
        // Proof of several clients is no proof.
        _ => Caller::Own,
    }
}

/// Returns the client by the event alone (`--dialect auto`). `name` is the event's name if it is known. `has` returns
/// true if the environment has a variable; it is used only for a payload that fits several clients, because a nested
/// agent inherits the environment.
pub fn recognised(configured: &dyn Dialect, wire: &[u8], name: Option<&str>, has: impl Fn(&str) -> bool) -> Caller {
    let Ok(payload) = parse_object(wire) else { return Caller::Own };
    let proven = proven(&payload);
    let own = if proven.is_empty() { bearing(&payload, |marks| marks.own) } else { proven };
    let shared = bearing(&payload, |marks| marks.shared);
    let candidates = if own.is_empty() { &shared } else { &own };
    if candidates.is_empty() || candidates.iter().any(|dialect| base(*dialect) == base(configured)) {
        return Caller::Own;
    }
    // A payload without marks comes from the configured client, unless only other clients have such an event.
    let name = name.or_else(|| payload.get("hook_event_name").and_then(serde_json::Value::as_str));
    let names = |dialect: &dyn Dialect| name.is_some_and(|name| dialect.spec_by_name(name).is_some());
    if own.is_empty() && (names(configured) || !candidates.iter().any(|dialect| names(*dialect))) {
        return Caller::Own;
    }
    match candidates.as_slice() {
        [one] => Caller::Foreign(observed(*one)),
        several => {
            let set = |dialect: &&&'static dyn Dialect| dialect.marks().env.iter().any(|name| has(name));
            let mut hinted = several.iter().filter(set);
            match (hinted.next(), hinted.next()) {
                (Some(one), None) => Caller::Foreign(observed(*one)),
                _ => Caller::Unclear(candidates.clone()),
            }
        }
    }
}

/// Returns a dialect's name without its profile.
fn base(dialect: &dyn Dialect) -> &'static str {
    dialect.name().split('@').next().unwrap_or_default()
}

fn observed(documented: &'static dyn Dialect) -> &'static dyn Dialect {
    let profile =
        |dialect: &&&dyn Dialect| base(**dialect) == base(documented) && dialect.name().ends_with("@observed");
    ALL.iter().find(profile).copied().unwrap_or(documented)
}
