//! One line of JSON-RPC 2.0: a request or a notification of the client.
//!
//! Untyped parameters stay in [`Event::extra`] unchanged, including `meta` and `context`. The context fields are also
//! read from those two. The envelope stays in [`Event::raw`].

use std::cell::RefCell;

use serde_json::{Value, json};

use super::{
    events,
    reply::{FIRST_ID, without_raw},
};
use crate::{
    Dialect,
    dialect::common::{check_name, event_name},
    event::{
        AgentEvent, Event, EventContext, EventKind, Fields, Input, OtherEvent, Raw, decode_members, encode_fields,
        fields::{FieldType, left_untyped},
        wire::parse_wire,
    },
    json::{DecodeError, Members, Object, token},
    output::Note,
    protocol::EventSpec,
};

pub(super) fn decode(dialect: &dyn Dialect, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
    let mut wire = parse_wire(wire)?;
    let (raw, line, mut notes) = (wire.raw(), wire.members, wire.notes);
    check_envelope(&line)?;
    check_name(dialect, line.find("method").and_then(|stated| stated.as_str()), "method", name)?;
    let name = event_name(&line, "method", name)?;
    let params = match line.find("params").filter(|params| !params.is_null()) {
        None => None,
        Some(params) => Some(params.members().ok_or_else(|| DecodeError::wrong_type("/params", "an object", params))?),
    };
    let odd = RefCell::default();
    let at = At { pointer: "/params".into(), fields: params.as_ref().map(Within::Params), odd: &odd };
    let spec = dialect.spec_by_name(&name).unwrap_or(dialect.other_spec());
    let mut event = match spec.kind {
        EventKind::OtherEvent => {
            let payload = params.map(Members::into_fields).unwrap_or_default();
            Event { input: Input::OtherEvent(OtherEvent { payload }), ..blank(&name) }
        }
        EventKind::AgentEvent => {
            let (kind, context) = agent_event(&name, &at)?;
            let mut params = params.unwrap_or_default();
            let payload = params.take(if name == events::RUNTIME_EVENT { "payload" } else { "Payload" });
            let input = Input::AgentEvent(AgentEvent { kind: Some(kind), payload });
            Event { context, input, extra: params.into_fields(), ..blank(&name) }
        }
        _ => {
            let (pointer, context) = (at.pointer.clone(), context(&at));
            let is_known = |key: &str| spec.names.iter().any(|(wire, _)| *wire == key);
            let (known, rest) = params.unwrap_or_default().partition(is_known);
            let mut event = decode_members(spec, name, &[], &pointer, known, Raw::default())?;
            event.extra.extend(rest);
            Event { context, ..event }
        }
    };
    event.raw = raw;
    notes.append(&mut event.notes);
    notes.extend(odd.into_inner());
    event.notes = notes;
    Ok(event)
}

/// Checks the envelope. picoclaw.md#what-it-is: "Every message is JSON-RPC 2.0, one JSON message per line."
/// decisions.md#the-real-picoclaw: "Ids are integers; a string id or `2.0` is dropped."
fn check_envelope(line: &Members) -> Result<(), DecodeError> {
    match line.get("jsonrpc") {
        Some(Value::String(version)) if version == "2.0" => {}
        Some(other) => return Err(DecodeError::wrong_type("/jsonrpc", "the version \"2.0\"", other)),
        None => {
            return Err(DecodeError::Missing { pointer: "/jsonrpc".into(), why: "every message says \"2.0\"".into() });
        }
    }
    match line.get("id") {
        Some(id) if !id.is_null() && id.as_u64().is_none() => {
            Err(DecodeError::wrong_type("/id", "a whole number from 0", id))
        }
        _ => Ok(()),
    }
}

fn blank(name: &str) -> Event {
    Event {
        name: name.to_owned(),
        context: EventContext::default(),
        call: None,
        input: Input::OtherEvent(OtherEvent::default()),
        extra: Fields::default(),
        raw: Raw::default(),
        notes: Vec::new(),
    }
}

/// Returns the context of an event outside of the agent loop.
fn context(params: &At) -> EventContext {
    let inbound = params.inner("context").inner("inbound");
    EventContext {
        // decisions.md#the-real-picoclaw: "`channel`/`chat_id` moved into `context.inbound`."
        channel: params.take("channel").or_else(|| inbound.take("channel")),
        chat_id: params.take("chat_id").or_else(|| inbound.take("chat_id")),
        ..decode_meta(&params.inner("meta"))
    }
}

fn decode_meta(meta: &At) -> EventContext {
    EventContext {
        session_id: meta.take("SessionKey"),
        agent_id: meta.take("AgentID"),
        turn_id: meta.take("TurnID"),
        parent_turn_id: meta.take("ParentTurnID"),
        iteration: meta.take("Iteration"),
        ..EventContext::default()
    }
}

/// decisions.md#the-real-picoclaw: "HEAD sends `hook.runtime_event` (`snake_case` envelope,
/// `kind:"agent.tool.exec_start"`), older ones `hook.event` (≤ v0.2.8 with an integer `Kind`, 0 = `turn_start`, 8 =
/// `tool_exec_start`). Accept all three."
fn agent_event(name: &str, params: &At) -> Result<(String, EventContext), DecodeError> {
    let snake = name == events::RUNTIME_EVENT;
    let kind = if snake { "kind" } else { "Kind" };
    let kind = match params.written(kind) {
        Some(Value::String(word)) => word.clone(),
        Some(number) if number.is_u64() => kind_name(number.as_u64().unwrap_or_default()),
        Some(other) => {
            return Err(DecodeError::wrong_type(params.pointer_of(kind), "an event kind, a string or a number", other));
        }
        None => {
            let why = format!("{name} means nothing without it");
            return Err(DecodeError::Missing { pointer: params.pointer_of(kind), why });
        }
    };
    let context = if snake {
        let scope = params.inner("scope");
        EventContext {
            session_id: scope.take("session_key"),
            agent_id: scope.take("agent_id"),
            turn_id: scope.take("turn_id"),
            parent_turn_id: params.inner("correlation").take("parent_turn_id"),
            channel: scope.take("channel"),
            chat_id: scope.take("chat_id"),
            timestamp: params.take("time"),
            ..EventContext::default()
        }
    } else {
        let inbound = params.inner("Context").inner("inbound");
        EventContext {
            channel: inbound.take("channel"),
            chat_id: inbound.take("chat_id"),
            timestamp: params.take("Time"),
            ..decode_meta(&params.inner("Meta"))
        }
    };
    Ok((kind, context))
}

/// Returns the name of an integer kind. The client itself prints `event_kind(n)` for an unknown number.
fn kind_name(number: u64) -> String {
    let known = usize::try_from(number).ok().and_then(|index| events::KINDS.get(index));
    known.map_or_else(|| format!("event_kind({number})"), |name| (*name).to_owned())
}

/// Encodes an event, the inverse of [`decode`]. An event that never came over a wire is written as a client would have
/// sent it.
pub(super) fn encode(dialect: &dyn Dialect, event: &Event) -> Value {
    let params = match &event.input {
        Input::OtherEvent(other) => other.payload.to_object(),
        Input::AgentEvent(agent) => encode_agent_event(event, agent),
        _ => encode_params(dialect.spec(event.kind()), event),
    };
    let mut line = match &*event.raw {
        Value::Object(raw) => {
            raw.iter().filter(|(key, _)| *key != "params").map(|(k, v)| (k.clone(), v.clone())).collect()
        }
        _ => new_envelope(event),
    };
    if !params.is_empty() || event.raw.get("params").is_some() {
        line.insert("params".into(), Value::Object(params));
    }
    Value::Object(line)
}

fn new_envelope(event: &Event) -> Object {
    let mut line = Object::new();
    line.insert("jsonrpc".into(), "2.0".into());
    if event.kind() != EventKind::AgentEvent {
        line.insert("id".into(), FIRST_ID.into());
    }
    line.insert("method".into(), event.name.clone().into());
    line
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

/// An optional object within the line, and its JSON pointer. A value of the wrong type counts as missing, with a note;
/// [`Event::extra`] has it anyway.
struct At<'a> {
    pointer: String,
    fields: Option<Within<'a>>,
    odd: &'a RefCell<Vec<Note>>,
}

#[derive(Clone, Copy)]
enum Within<'a> {
    Params(&'a Members),
    Object(&'a Object),
}

impl<'a> At<'a> {
    fn pointer_of(&self, key: &str) -> String {
        format!("{}/{}", self.pointer, token(key))
    }

    /// `null` counts as missing, because Go writes it for missing values.
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.written(key).filter(|value| !value.is_null())
    }

    fn written(&self, key: &str) -> Option<&'a Value> {
        match self.fields? {
            Within::Params(params) => params.get(key),
            Within::Object(object) => object.get(key),
        }
    }

    fn take<T: FieldType>(&self, key: &str) -> Option<T> {
        let value = self.get(key)?;
        let read = T::read(value);
        if read.is_none() {
            self.odd.borrow_mut().push(left_untyped(&self.pointer_of(key), T::EXPECTED, value));
        }
        read
    }

    fn inner(&self, key: &str) -> At<'a> {
        let pointer = self.pointer_of(key);
        let value = self.get(key);
        let fields = value.and_then(Value::as_object).map(Within::Object);
        if let (Some(value), None) = (value, fields) {
            self.odd.borrow_mut().push(left_untyped(&pointer, "an object", value));
        }
        At { pointer, fields, odd: self.odd }
    }
}
