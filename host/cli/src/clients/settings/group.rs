//! Matcher groups and their handlers.

use jsonc_parser::cst::CstArray;
use serde_json::Value;

use super::jsonc;

/// The position of a handler in an event's array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The index of its group.
    pub group: usize,
    /// Its index in the group.
    pub handler: usize,
}

/// The handlers of a group. A handler without a group is returned itself.
pub(super) fn handlers(element: &Value) -> Vec<Value> {
    if let Some(Value::Array(handlers)) = element.get("hooks") {
        return handlers.clone();
    }
    let mut alone = element.clone();
    // A matcher belongs to the group.
    alone.as_object_mut().map(|alone| alone.remove("matcher"));
    vec![alone]
}

/// A group with only these handlers. A handler without a group is returned unchanged.
pub(super) fn with_handlers(group: &Value, handlers: Vec<Value>) -> Value {
    match group {
        Value::Object(group) if group.contains_key("hooks") => {
            let mut group = group.clone();
            group.insert("hooks".into(), handlers.into());
            Value::Object(group)
        }
        flat => flat.clone(),
    }
}

/// Replaces one handler by the handler of an entry. If it is the group's only handler, replaces the whole group with
/// its matcher. Returns false if the handler must move to a group of its own.
pub(super) fn replace(array: &CstArray, position: Position, entry: &Value) -> bool {
    let Some(element) = array.elements().into_iter().nth(position.group).and_then(|element| element.as_object()) else {
        return false;
    };
    let nested = element.array_value("hooks").filter(|_| entry.get("hooks").is_some());
    let Some(handlers) = nested.filter(|handlers| handlers.elements().len() > 1) else {
        return element.replace_with(jsonc::input(entry)).is_some();
    };
    let has_matcher = element.get("matcher").is_some();
    let handler = handlers.elements().into_iter().nth(position.handler).and_then(|handler| handler.as_object());
    match (handler, entry.pointer("/hooks/0")) {
        // With another handler's matcher it would not run on every call.
        (Some(handler), Some(entry)) if !has_matcher => handler.replace_with(jsonc::input(entry)).is_some(),
        _ => false,
    }
}

/// Removes handlers from an event's array, and groups that become empty.
pub(super) fn remove(array: &CstArray, positions: &[Position]) {
    for (group, element) in array.elements().into_iter().enumerate().rev() {
        let removed: Vec<usize> =
            positions.iter().filter(|position| position.group == group).map(|position| position.handler).collect();
        if removed.is_empty() {
            continue;
        }
        let nested = element.as_object().and_then(|group| group.array_value("hooks"));
        match nested {
            Some(handlers) if handlers.elements().len() > removed.len() => {
                let elements = handlers.elements().into_iter().enumerate();
                elements.filter(|(index, _)| removed.contains(index)).for_each(|(_, handler)| handler.remove());
            }
            _ => element.remove(),
        }
    }
}
