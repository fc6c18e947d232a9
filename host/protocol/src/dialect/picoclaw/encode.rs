//! Encodes an event as a message of JSON-RPC 2.0.

use serde_json::{Value, json};

use super::{
    events,
    reply::{FIRST_ID, without_raw},
};
use crate::{
    Dialect,
    event::{AgentEvent, Event, EventContext, EventKind, Input, encode_fields},
    json::Object,
    protocol::EventSpec,
};

/// Encodes an event, the inverse of [`decode`]. An event that never came over a wire is written as a client would have
/// sent it.
pub(super) fn encode(dialect: &dyn Dialect, event: &Event) -> Value {
    let params = match &event.input {
        Input::OtherEvent(other) => other.payload.to_object(),
        Input::AgentEvent(agent) => encode_agent_event(event, agent),
        _ => encode_params(dialect.spec(event.kind()), event),
    };
    let mut message = match &*event.raw {
        Value::Object(raw) => {
            raw.iter().filter(|(key, _)| *key != "params").map(|(k, v)| (k.clone(), v.clone())).collect()
        }
        _ => new_envelope(event),
    };
    if !params.is_empty() || event.raw.get("params").is_some() {
        message.insert("params".into(), Value::Object(params));
    }
    Value::Object(message)
}

fn new_envelope(event: &Event) -> Object {
    let mut message = Object::new();
    message.insert("jsonrpc".into(), "2.0".into());
    if event.kind() != EventKind::AgentEvent {
        message.insert("id".into(), FIRST_ID.into());
    }
    message.insert("method".into(), event.name.clone().into());
    message
}

fn encode_params(spec: &EventSpec, event: &Event) -> Object {
    let mut params = encode_fields(spec, &[], &without_raw(event));
    // An event from the wire has these in `extra`, unchanged.
    put_new(&mut params, "meta", encode_meta(&event.context));
    if !event.extra.contains_key("context") {
        put_texts(&mut params, [("channel", &event.context.channel), ("chat_id", &event.context.chat_id)]);
    }
    params
}

fn encode_meta(context: &EventContext) -> Object {
    let mut meta = Object::new();
    put_texts(
        &mut meta,
        [
            ("AgentID", &context.agent_id),
            ("TurnID", &context.turn_id),
            ("ParentTurnID", &context.parent_turn_id),
            ("SessionKey", &context.session_id),
        ],
    );
    if let Some(iteration) = context.iteration {
        meta.insert("Iteration".into(), iteration.into());
    }
    meta
}

fn encode_agent_event(event: &Event, agent: &AgentEvent) -> Object {
    let snake = event.name == events::RUNTIME_EVENT;
    let (kind, payload) = if snake { ("kind", "payload") } else { ("Kind", "Payload") };
    // `extra` has the client's number for the kind, unchanged.
    let mut params = event.extra.to_object();
    if let Some(word) = &agent.kind {
        params.entry(kind).or_insert_with(|| json!(word));
    }
    if let Some(value) = &agent.payload {
        params.insert(payload.into(), value.clone().into());
    }
    let context = &event.context;
    if snake {
        put_texts(&mut params, [("time", &context.timestamp)]);
        let mut scope = Object::new();
        put_texts(
            &mut scope,
            [
                ("agent_id", &context.agent_id),
                ("session_key", &context.session_id),
                ("turn_id", &context.turn_id),
                ("channel", &context.channel),
                ("chat_id", &context.chat_id),
            ],
        );
        put_new(&mut params, "scope", scope);
    } else {
        put_texts(&mut params, [("Time", &context.timestamp)]);
        put_new(&mut params, "Meta", encode_meta(context));
        let mut inbound = Object::new();
        put_texts(&mut inbound, [("channel", &context.channel), ("chat_id", &context.chat_id)]);
        if !inbound.is_empty() && !params.contains_key("Context") {
            params.insert("Context".into(), json!({ "inbound": inbound }));
        }
    }
    params
}

fn put_texts<const N: usize>(to: &mut Object, texts: [(&str, &Option<String>); N]) {
    for (key, text) in texts {
        if let Some(text) = text {
            to.entry(key).or_insert_with(|| json!(text));
        }
    }
}

fn put_new(to: &mut Object, key: &str, object: Object) {
    if !object.is_empty() {
        to.entry(key).or_insert(Value::Object(object));
    }
}
