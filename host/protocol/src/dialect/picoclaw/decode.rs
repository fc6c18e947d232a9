//! Decodes a message of JSON-RPC 2.0: a request or a notification of the client.
//!
//! Untyped parameters stay in [`Event::extra`] unchanged, including `meta` and `context`. The context fields are also
//! read from those two. The envelope stays in [`Event::raw`].

use std::cell::RefCell;

use serde_json::Value;

use super::{
    events,
    part::{Part, Within},
};
use crate::{
    Dialect,
    dialect::common::{check_name, event_name},
    event::{
        AgentEvent, Event, EventContext, EventKind, Fields, Input, OtherEvent, Raw, decode_members, wire::parse_wire,
    },
    json::{DecodeError, Members},
};

pub(super) fn decode(dialect: &dyn Dialect, wire: &[u8], name: Option<&str>) -> Result<Event, DecodeError> {
    let mut wire = parse_wire(wire)?;
    let (raw, message, mut notes) = (wire.raw(), wire.members, wire.notes);
    check_envelope(&message)?;
    check_name(dialect, message.find("method").and_then(|stated| stated.as_str()), "method", name)?;
    let name = event_name(&message, "method", name)?;
    let params = match message.find("params").filter(|params| !params.is_null()) {
        None => None,
        Some(params) => Some(params.members().ok_or_else(|| DecodeError::wrong_type("/params", "an object", params))?),
    };
    let ignored = RefCell::default();
    let part = Part { pointer: "/params".into(), fields: params.as_ref().map(Within::Params), ignored: &ignored };
    let spec = dialect.spec_by_name(&name).unwrap_or(dialect.other_spec());
    let mut event = match spec.kind {
        EventKind::OtherEvent => {
            let payload = params.map(Members::into_fields).unwrap_or_default();
            Event { input: Input::OtherEvent(OtherEvent { payload }), ..blank(&name) }
        }
        EventKind::AgentEvent => {
            let (kind, context) = agent_event(&name, &part)?;
            let mut params = params.unwrap_or_default();
            let payload = params.take(if name == events::RUNTIME_EVENT { "payload" } else { "Payload" });
            let input = Input::AgentEvent(AgentEvent { kind: Some(kind), payload });
            Event { context, input, extra: params.into_fields(), ..blank(&name) }
        }
        _ => {
            let (pointer, context) = (part.pointer.clone(), context(&part));
            let is_known = |key: &str| spec.names.iter().any(|(wire, _)| *wire == key);
            let (known, rest) = params.unwrap_or_default().partition(is_known);
            let mut event = decode_members(spec, name, &[], &pointer, known, Raw::default())?;
            event.extra.extend(rest);
            Event { context, ..event }
        }
    };
    event.raw = raw;
    notes.append(&mut event.notes);
    notes.extend(ignored.into_inner());
    event.notes = notes;
    Ok(event)
}

/// Checks the envelope. picoclaw.md#what-it-is: "Every message is JSON-RPC 2.0, one JSON message per line."
/// decisions.md#the-real-picoclaw: "Ids are integers; a string id or `2.0` is dropped."
fn check_envelope(message: &Members) -> Result<(), DecodeError> {
    match message.get("jsonrpc") {
        Some(Value::String(version)) if version == "2.0" => {}
        Some(other) => return Err(DecodeError::wrong_type("/jsonrpc", "the version \"2.0\"", other)),
        None => {
            return Err(DecodeError::Missing { pointer: "/jsonrpc".into(), why: "every message says \"2.0\"".into() });
        }
    }
    match message.get("id") {
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
fn context(params: &Part) -> EventContext {
    let inbound = params.inner("context").inner("inbound");
    EventContext {
        // decisions.md#the-real-picoclaw: "`channel`/`chat_id` moved into `context.inbound`."
        channel: params.take("channel").or_else(|| inbound.take("channel")),
        chat_id: params.take("chat_id").or_else(|| inbound.take("chat_id")),
        ..decode_meta(&params.inner("meta"))
    }
}

fn decode_meta(meta: &Part) -> EventContext {
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
fn agent_event(name: &str, params: &Part) -> Result<(String, EventContext), DecodeError> {
    let snake = name == events::RUNTIME_EVENT;
    let kind = if snake { "kind" } else { "Kind" };
    let kind = match params.member(kind) {
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
