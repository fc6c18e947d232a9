//! Who is calling? A client may run the hooks that another one's settings name, and sends its own payload then.

use super::registry::ALL;
use crate::{
    json::{Object, parse_object},
    protocol::{Dialect, Mark, Marks},
};

/// The dialects whose clients can have sent this payload, judged by its fields alone: one where it bears a client's own
/// mark, several where it says too little, none where it is nobody's that we know. Profiles are not told apart: each dialect
/// is there once, as documented.
pub fn recognise(wire: &[u8]) -> Vec<&'static dyn Dialect> {
    let Ok(payload) = parse_object(wire) else { return Vec::new() };
    let proven = proven(&payload);
    if !proven.is_empty() {
        return proven;
    }
    let own = bearing(&payload, |marks| marks.own);
    if own.is_empty() { bearing(&payload, |marks| marks.shared) } else { own }
}

/// The dialects whose clients have sent this payload for sure: by where its transcript is, or else by a field or an event
/// that only one client has.
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

/// Who called hooks that are configured for one dialect's client.
#[derive(Clone)]
pub enum Caller {
    /// That client; or nobody can tell, and then it counts as that one.
    Own,
    /// Another one. Its profile is the observed one, where there is one: this is the program, not its document.
    Foreign(&'static dyn Dialect),
    /// Another one, of which the payload does not tell which.
    Unclear(Vec<&'static dyn Dialect>),
}

/// The client that called hooks whose file is written for one client. The file's dialect yields only to positive proof.
pub fn caller(configured: &dyn Dialect, wire: &[u8]) -> Caller {
    let Ok(payload) = parse_object(wire) else { return Caller::Own };
    match proven(&payload).as_slice() {
        [one] if base(*one) != base(configured) => Caller::Foreign(observed(*one)),
        // What proves two things proves nothing.
        _ => Caller::Own,
    }
}

/// The client that called, where the event alone tells it (`--dialect auto`). `name` is the event's where it is given, and
/// `has` tells whether the environment has a variable of that name: it is asked only where the payload fits several clients,
/// because an agent inside another inherits its environment.
pub fn recognised(configured: &dyn Dialect, wire: &[u8], name: Option<&str>, has: impl Fn(&str) -> bool) -> Caller {
    let Ok(payload) = parse_object(wire) else { return Caller::Own };
    let proven = proven(&payload);
    let own = if proven.is_empty() { bearing(&payload, |marks| marks.own) } else { proven };
    let shared = bearing(&payload, |marks| marks.shared);
    let candidates = if own.is_empty() { &shared } else { &own };
    if candidates.is_empty() || candidates.iter().any(|dialect| base(*dialect) == base(configured)) {
        return Caller::Own;
    }
    // What bears nobody's mark is the configured client's, unless it is an event that only others have.
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

/// A dialect's name without its profile.
fn base(dialect: &dyn Dialect) -> &'static str {
    dialect.name().split('@').next().unwrap_or_default()
}

fn observed(documented: &'static dyn Dialect) -> &'static dyn Dialect {
    let profile =
        |dialect: &&&dyn Dialect| base(**dialect) == base(documented) && dialect.name().ends_with("@observed");
    ALL.iter().find(profile).copied().unwrap_or(documented)
}
