//! The request to the model, which the wire has inside `llm_request`.
//!
//! gemini.md#events: "`llm_request` is `{model, config, messages}`." What of it is not typed stays in [`Event::extra`].

use serde_json::{Value, json};

use crate::{
    event::{Event, Input, Json, fields::left_untyped},
    json::{Members, Object},
};

pub(super) const REQUEST: &str = "llm_request";

/// The contract's name of `config`.
const CONFIG: (&str, &str) = ("config", "options");

/// Reads the typed fields of the request. A model that is not text stays untyped, with a note.
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

/// Null counts as absent.
fn read_field(request: &Members, name: &str, field: &mut Option<Json>) {
    if let Some(value) = request.find(name) {
        *field = Some(value.clone()).filter(|value| !value.is_null());
    }
}

/// The event without the fields that [`read`] set, and the request as the wire has it.
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

/// The request as the wire names its fields.
pub(super) fn to_wire(request: Object) -> Object {
    rename(request, CONFIG.1, CONFIG.0)
}

/// The request as the contract names its fields.
pub(super) fn from_wire(request: Object) -> Object {
    rename(request, CONFIG.0, CONFIG.1)
}

fn rename(object: Object, from: &str, to: &str) -> Object {
    object.into_iter().map(|(key, value)| (if key == from { to.to_owned() } else { key }, value)).collect()
}

/// What of a new request differs from the event's: a hook that gives back the whole changes only what it changed.
pub(super) fn changes(event: &Event, request: &Object) -> Object {
    let mut old = Object::new();
    event.input.encode(&mut old);
    let differs = |key: &str, value: &Value| old.get(key) != Some(value);
    request.iter().filter(|(key, value)| differs(key, value)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Makes the event's request what `changes` say.
pub(super) fn apply(event: &mut Event, changes: &Object) {
    let mut whole = event.extra.remove(REQUEST).map_or_else(|| json!({}), Json::into_value);
    if let Value::Object(whole) = &mut whole {
        whole.extend(to_wire(changes.clone()));
    }
    event.extra.insert(REQUEST, whole);
    read(event);
}
