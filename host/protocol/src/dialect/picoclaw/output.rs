//! Decodes the `result` object of a hook's reply.

use serde_json::Value;

use super::rewrite::{is_withheld, misfit};
use crate::{
    degrade::WITHHELD,
    dialect::common::{FieldReader, known_keys},
    event::{Event, EventKind},
    json::{DecodeError, Object, shorten},
    output::{Decision, Halt, HookOutput, Note, Scope},
};

/// The field of `modify`. The client sends the same object in this field.
pub(super) const fn rewrite_key(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::BeforeLlm => Some("request"),
        EventKind::AfterLlm => Some("response"),
        EventKind::PreToolUse => Some("call"),
        EventKind::PostToolUse => Some("result"),
        _ => None,
    }
}

pub(super) fn decode(event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
    let mut notes = Vec::new();
    let inner = unwrap_response(wire, &mut notes)?;
    let mut top = FieldReader::new("", inner.unwrap_or(wire));
    let mut output = match event.kind() {
        // picoclaw.md#hookevent: "A notification for observers: it is broadcast and needs no response."
        EventKind::AgentEvent => {
            if !wire.is_empty() {
                notes.push(Note::dropped(format!("{} is never answered", event.name)));
            }
            return Ok((HookOutput::default(), notes));
        }
        EventKind::PermissionRequest => decode_approval(&mut top, &mut notes)?,
        _ => decode_action(event, &mut top, &mut notes)?,
    };
    top.drop_known(known_keys::PICOCLAW, &mut notes, |key| format!("`{key}` has no effect here"));
    output.extra = top.rest();
    Ok((output, notes))
}

/// decisions.md#picoclaw: "A `command` handler under picoclaw gets the whole JSON-RPC request on one line of stdin and
/// prints the `result` object alone. A whole response is understood, with a warning." A hook process prints whole
/// responses, and ignoring its `deny_tool` would be unsafe.
fn unwrap_response<'a>(wire: &'a Object, notes: &mut Vec<Note>) -> Result<Option<&'a Object>, DecodeError> {
    if !wire.contains_key("jsonrpc") {
        return Ok(None);
    }
    if let Some(error) = wire.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").unwrap_or(error);
        return Err(DecodeError::wrong_type("/error", "a result", message));
    }
    notes.push(Note::warning("a whole JSON-RPC response; the `result` object alone is expected"));
    match wire.get("result") {
        Some(Value::Object(result)) => Ok(Some(result)),
        Some(other) => Err(DecodeError::wrong_type("/result", "an object", other)),
        None => Err(DecodeError::Missing { pointer: "/result".into(), why: "a response has one".into() }),
    }
}

/// decisions.md#the-real-picoclaw: "`approve_tool` answered with `{}` or an action means *denied*." The client reads a
/// missing `approved` as false.
fn decode_approval(top: &mut FieldReader, notes: &mut Vec<Note>) -> Result<HookOutput, DecodeError> {
    let approved = top.take::<bool>("approved")?;
    let reason = top.take::<String>("reason")?;
    if approved.is_none() {
        top.take::<Value>("action")?;
        notes.push(Note::warning("an approval without `approved` is a denial"));
    }
    let decision = if approved == Some(true) { Decision::Allow } else { Decision::Deny };
    Ok(HookOutput { decision: Some(decision), reason, ..HookOutput::default() })
}

fn decode_action(event: &Event, top: &mut FieldReader, notes: &mut Vec<Note>) -> Result<HookOutput, DecodeError> {
    let kind = event.kind();
    let action = top.take::<String>("action")?;
    let reason = top.take::<String>("reason")?;
    let mut output = HookOutput::default();
    match action.as_deref() {
        None if reason.is_some() || top.left().any(|(_, value)| !value.is_null()) => {
            if reason.is_some() || known_keys::PICOCLAW.iter().any(|key| top.contains(key)) {
                notes.push(Note::warning("the result has no action; it counts as `continue`").of_misfit());
            } else if event.name != super::events::HELLO {
                notes.push(Note::misfit("the result has no action"));
            }
        }
        // picoclaw.md#actions: "`continue` | all interceptors | let it pass unchanged".
        None | Some("continue") => {}
        Some("modify") if rewrite_key(kind).is_some() => take_rewrite(kind, top, &mut output, notes)?,
        // picoclaw.md#actions: "`respond` | `before_tool` | give the tool's result and leave out the real run".
        Some("respond") if kind == EventKind::PreToolUse => {
            let why = "`respond` gives the tool's result".to_owned();
            let mut result =
                top.take_object("result")?.ok_or(DecodeError::Missing { pointer: "/result".into(), why })?;
            result.retain(|_, value| !value.is_null());
            output.decision = Some(Decision::Respond(Value::Object(result)));
            if top.contains("call") {
                take_rewrite(kind, top, &mut output, notes)?;
            }
        }
        // picoclaw.md#actions: "`deny_tool` | `before_tool` | refuse to run the tool".
        Some("deny_tool") if kind == EventKind::PreToolUse => {
            (output.decision, output.reason) = (Some(Decision::Deny), reason);
        }
        // picoclaw.md#actions: "end the current turn with an error"; "end the whole agent loop by force".
        Some("abort_turn") => output.halt = Some(Halt { scope: Scope::Turn, reason }),
        Some("hard_abort") => output.halt = Some(Halt { scope: Scope::Session, reason }),
        // decisions.md#picoclaw: "Unknown actions are treated as `continue` and reported. An action of picoclaw on a
        // method that does not have it is an unknown action." The client logs it and continues.
        Some(other) => {
            let other = shorten(other, 60);
            let note = Note::dropped(format!("{} knows no action `{other}`; it counts as `continue`", event.name));
            notes.push(note.of_misfit());
        }
    }
    Ok(output)
}

/// Takes the rewrite of `modify`. decisions.md#the-real-picoclaw: "Flat forms are ignored by the client. The seed shows
/// neither: emit the nested form, accept both from hooks."
fn take_rewrite(
    kind: EventKind,
    top: &mut FieldReader,
    output: &mut HookOutput,
    notes: &mut Vec<Note>,
) -> Result<(), DecodeError> {
    let Some(key) = rewrite_key(kind) else { return Ok(()) };
    let Some(mut object) = top.take_object(key)? else {
        notes.push(Note::warning(format!("`modify` without `{key}` changes nothing")));
        return Ok(());
    };
    let mut at = format!("/{key}");
    output.updated = match kind {
        EventKind::PreToolUse => {
            let mut call = FieldReader::new(&at, &object);
            output.updated_tool = call.take::<String>("tool")?;
            at.push_str("/arguments");
            call.take::<Value>("arguments")?
        }
        EventKind::BeforeLlm => Some(Value::Object(object)),
        // The outer object repeats the event. The client reads only the inner one.
        _ => {
            let inner = object.shift_remove(key);
            if inner.is_some() {
                at = format!("{at}/{key}");
            }
            object.retain(|member, _| !ENVELOPE.contains(&member.as_str()));
            inner.or_else(|| (!object.is_empty()).then_some(Value::Object(object)))
        }
    };
    if kind == EventKind::PostToolUse && output.updated.as_ref().and_then(Value::as_object).is_some_and(is_withheld) {
        notes.push(Note::degraded(format!("a rewrite cannot be null; {WITHHELD}")));
    }
    match output.updated.as_ref().and_then(|updated| misfit(kind, updated)) {
        Some(found) => Err(DecodeError::wrong_type(format!("{at}{}", found.member), found.expected, found.value)),
        None => Ok(()),
    }
}

/// Members of the client's own request and response objects, besides the model's response and the tool's result.
const ENVELOPE: [&str; 8] = ["meta", "context", "model", "tool", "arguments", "duration", "channel", "chat_id"];
