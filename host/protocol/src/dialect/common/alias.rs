//! Fields that a client has at another place than the contract.

use serde_json::Value;

use crate::{
    event::{Raw, wire::Wire},
    json::Object,
};

/// A JSON pointer into the wire, and the contract's name of the field there. If several pointers have the same name,
/// the first one with a value is used.
pub(crate) type Alias = (&'static str, &'static str);

/// Adds fields that a client has at another place under the contract's names, unless they exist. Values are not copied:
/// both are the same range of the client's text.
pub(crate) fn take_aliases(wire: &mut Wire, aliases: &[Alias]) {
    for (pointer, name) in aliases.iter().filter(|(pointer, _)| pointer.starts_with('/')) {
        if !wire.has(name)
            && let Some(value) = wire.members.at(pointer)
        {
            wire.add(name, value);
        }
    }
}

/// Removes the names that [`take_aliases`] added, which restores the client's wire.
pub(crate) fn drop_added(wire: &mut Object, aliases: &[Alias], raw: &Raw) {
    for (_, name) in aliases.iter().filter(|(_, name)| !raw.wrote(name)) {
        wire.shift_remove(*name);
    }
}

/// Writes fields that a client has at another place under the contract's names too, unless they exist. The client's own
/// fields stay, so that hooks can read either.
pub(crate) fn add_aliases(wire: &mut Object, aliases: &[Alias]) {
    let found = elsewhere(|name| wire.get(name), aliases);
    wire.extend(found.into_iter().map(|(name, value)| (name.to_owned(), value)));
}

/// Finds the fields that exist only at another place.
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

/// Removes the fields that [`add_aliases`] would write again, which gives the client's wire.
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

/// Returns the value at a pointer. Null counts as missing.
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
