//! Fields that a client places elsewhere than the contract has them.

use serde_json::Value;

use crate::{
    event::{
        Raw,
        raw::{Moved, Place},
    },
    json::{Object, Wire},
};

/// A JSON pointer into the wire, and the name under which the contract has what it points at. Of several pointers for
/// one name the first that points at something counts.
pub(crate) type Alias = (&'static str, &'static str);

/// Gives fields a client may place elsewhere the contract's names, unless those are there. Nothing is copied: what they are
/// on the wire, [`Event::raw`](crate::Event::raw) knows.
pub(crate) fn take_aliases(wire: &mut Wire<'_>, aliases: &[Alias]) {
    for (pointer, name) in aliases {
        let Some(path) = pointer.strip_prefix('/').filter(|_| !wire.has(name)) else { continue };
        if pointed_at(|name| wire.members.get(name), pointer).is_some() {
            let (member, below) = path.split_once('/').map_or((path, None), |(member, below)| (member, Some(below)));
            wire.rename(name, member, below);
        }
    }
}

/// Puts what [`Wire`] moved back where the client wrote it.
pub(crate) fn put_back(wire: &mut Object, raw: &Raw) {
    for Moved { name, from } in raw.moved() {
        let Some(value) = wire.shift_remove(*name) else { continue };
        match (from, value) {
            (Place::At(member, None), value) => drop(wire.insert((*member).to_owned(), value)),
            (Place::At(member, Some(below)), value) => {
                if let Some(inner) = wire.entry(*member).or_insert_with(|| Object::new().into()).as_object_mut() {
                    inner.insert((*below).to_owned(), value);
                }
            }
            (Place::Members(_), Value::Object(members)) => wire.extend(members),
            (Place::Members(_), value) => drop(wire.insert((*name).to_owned(), value)),
        }
    }
}

/// Writes fields a client may place elsewhere also where the contract has them, unless they are there. The client's own
/// stay, so nothing is lost and hooks written for either find theirs.
pub(crate) fn add_aliases(wire: &mut Object, aliases: &[Alias]) {
    let found = elsewhere(|name| wire.get(name), aliases);
    wire.extend(found.into_iter().map(|(name, value)| (name.to_owned(), value)));
}

/// What there is of fields elsewhere only.
pub(crate) fn elsewhere<'w>(
    member: impl Fn(&str) -> Option<&'w Value> + Copy,
    aliases: &[Alias],
) -> Vec<(&'static str, Value)> {
    let mut found: Vec<(&str, Value)> = Vec::new();
    for (pointer, name) in aliases {
        let absent = member(name).is_none_or(Value::is_null) && !found.iter().any(|(other, _)| other == name);
        if let Some(value) = pointed_at(member, pointer).filter(|_| absent) {
            found.push((name, value.clone()));
        }
    }
    found
}

/// Takes out what [`add_aliases`] would write again: the wire as the client writes it.
pub(crate) fn drop_aliases(wire: &mut Object, aliases: &[Alias]) {
    let whole = wire.clone();
    for (pointer, name) in aliases {
        let first =
            aliases.iter().find(|(other, of)| of == name && pointed_at(|name| whole.get(name), other).is_some());
        let copy = wire.get(*name).is_some_and(|value| pointed_at(|name| whole.get(name), pointer) == Some(value));
        if copy && first.is_some_and(|(first, _)| first == pointer) {
            wire.shift_remove(*name);
        }
    }
}

/// Null counts as absent.
fn pointed_at<'w>(member: impl Fn(&str) -> Option<&'w Value>, pointer: &str) -> Option<&'w Value> {
    let (first, rest) = pointer
        .strip_prefix('/')?
        .split_once('/')
        .map_or((pointer.get(1..)?, None), |(first, rest)| (first, Some(rest)));
    let value = member(first)?;
    let found = match rest {
        Some(rest) => value.pointer(&format!("/{rest}"))?,
        None => value,
    };
    Some(found).filter(|value| !value.is_null())
}
