//! The request to the model, which is in `llm_request` on the wire.
//!
//! gemini.md#events: "`llm_request` is `{model, config, messages}`." Its untyped fields stay in [`Event::extra`].

use serde_json::{Value, json};

use crate::{
    event::{Event, Input, Json, field_type::left_untyped},
    json::{Members, Object},
};

pub(super) const REQUEST: &str = "llm_request";

/// The names of `config`: on the wire, and in the contract.
const CONFIG: (&str, &str) = ("config", "options");

/// Reads the typed fields of the request. A model that is not a string stays untyped, with a note.
pub(super) fn read(event: &mut Event) {
    let Some(request) = event.extra.get(REQUEST).and_then(Json::members) else { return };
    let model = match &mut event.input {
        Input::BeforeLlm(input) => {
            read_field(&request, "messages", &mut input.messages);
            read_field(&request, "tools", &mut input.tools);
            read_field(&request, CONFIG.0, &mut input.options);
            &mut input.model
        }
        Input::AfterLlm(input) => &mut input.model,
        _ => return,
    };
    match request.find("model").cloned().map(Json::into_string) {
        Some(Ok(text)) => *model = Some(text),
        Some(Err(other)) => {
            *model = None;
            if !other.is_null() {
                event.notes.push(left_untyped(&format!("/{REQUEST}/model"), "a string", &other));
            }
        }
        None => {}
    }
}

/// Reads a field of the request. Null counts as missing.
fn read_field(request: &Members, name: &str, field: &mut Option<Json>) {
    if let Some(value) = request.find(name) {
        *field = Some(value.clone()).filter(|value| !value.is_null());
    }
}

/// Splits an event into one without the fields that [`read`] set, and the request in the wire's form.
pub(super) fn split(event: &Event) -> (Event, Option<Value>) {
    let mut bare = event.clone();
    let mut typed = Object::new();
    match &mut bare.input {
        Input::BeforeLlm(input) => std::mem::take(input).encode(&mut typed),
        Input::AfterLlm(input) => {
            typed.extend(input.model.take().map(|model| ("model".to_owned(), model.into())));
        }
        _ => return (bare, None),
    }
    let request = match bare.extra.remove(REQUEST).map(Json::into_value) {
        Some(Value::Object(mut whole)) => {
            whole.extend(to_wire(typed));
            Some(Value::Object(whole))
        }
        None if typed.is_empty() => None,
        None => Some(json!(to_wire(typed))),
        Some(other) => Some(other),
    };
    (bare, request)
}

/// Renames the request's fields to the wire's names.
pub(super) fn to_wire(request: Object) -> Object {
    rename(request, CONFIG.1, CONFIG.0)
}

/// Renames the request's fields to the contract's names.
pub(super) fn from_wire(request: Object) -> Object {
    rename(request, CONFIG.0, CONFIG.1)
}

fn rename(object: Object, from: &str, to: &str) -> Object {
    object.into_iter().map(|(key, value)| (if key == from { to.to_owned() } else { key }, value)).collect()
}

/// Returns the fields of a new request that differ from the event's. A hook may return the whole request after a small
/// change.
pub(super) fn changes(event: &Event, request: &Object) -> Object {
    let mut old = Object::new();
    event.input.encode(&mut old);
    let differs = |key: &str, value: &Value| old.get(key) != Some(value);
    request.iter().filter(|(key, value)| differs(key, value)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Applies `changes` to the event's request.
pub(super) fn apply(event: &mut Event, changes: &Object) {
    let mut whole = event.extra.remove(REQUEST).map_or_else(|| json!({}), Json::into_value);
    if let Value::Object(whole) = &mut whole {
        whole.extend(to_wire(changes.clone()));
    }
    event.extra.insert(REQUEST, whole);
    read(event);
}
