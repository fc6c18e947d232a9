//! Decodes the output of a hook that speaks gemini's JSON. The hook fails if Gemini CLI would ignore its output.

use serde_json::Value;

use super::model;
use crate::{
    dialect::common::{FieldReader, decide, keep_extra, known_keys, report_misplaced, take_common},
    event::{Event, EventKind},
    json::{DecodeError, Object, describe},
    output::{Decision, HookOutput, Note},
    protocol::EventSpec,
};

const RESPONSE: &str = "llm_response";

/// Fields that decide in other clients. Gemini CLI ignores them.
const IGNORED: &[&str] = &["permissionDecision", "updatedInput", "tool_output"];

/// The name of the field for a rewrite.
pub(super) const fn rewrite_key(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::PreToolUse => Some("tool_input"),
        EventKind::BeforeLlm => Some("llm_request"),
        EventKind::AfterLlm => Some(RESPONSE),
        _ => None,
    }
}

pub(super) fn decode(spec: &EventSpec, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
    let (mut output, mut notes) = (HookOutput::default(), Vec::new());
    let mut top = FieldReader::new("", wire);
    take_common(&mut top, &mut output)?;
    take_decision(spec, &mut top, &mut output)?;
    refuse_ignored(&mut top)?;
    let mut specific = top.take_object("hookSpecificOutput")?.map(|o| FieldReader::new("/hookSpecificOutput", &o));
    let mut instead = None;
    if let Some(specific) = &mut specific {
        // gemini.md#reading-an-answer: "`hookEventName` is not needed."
        specific.take::<String>("hookEventName")?;
        refuse_ignored(specific)?;
        if spec.expressible.context {
            output.context = specific.take("additionalContext")?;
        }
        if let Some(key) = rewrite_key(event.kind()) {
            output.updated = specific.take_object(key)?.map(|new| rewritten(event.kind(), new));
        }
        if event.kind() == EventKind::BeforeLlm {
            instead = take_response(specific, &output)?;
        }
        report_misplaced(specific, known_keys::GEMINI, &mut notes);
    }
    report_misplaced(&mut top, known_keys::GEMINI, &mut notes);
    keep_extra(&mut output, top, specific);
    if let Some(response) = instead {
        let specific = output.extra.entry("hookSpecificOutput").or_insert_with(|| Value::Object(Object::new()));
        specific[RESPONSE] = response;
    }
    Ok((output, notes))
}

fn take_decision(spec: &EventSpec, top: &mut FieldReader, output: &mut HookOutput) -> Result<(), DecodeError> {
    // gemini.md#decisions: "`decision` is `deny`, `block`, `ask` or `allow`."
    let words =
        [("deny", Decision::Deny), ("block", Decision::Deny), ("ask", Decision::Ask), ("allow", Decision::Allow)];
    let decision = top.take_word("decision", &words)?;
    let reason = top.take("reason")?;
    let can = |decision: &Decision| spec.expressible.decisions.contains(&decision.kind());
    if !spec.blockable {
        let refuses = decision.as_ref().is_some_and(|decision| *decision != Decision::Allow);
        if let Some(key) = refuses.then_some("decision").or(output.halt.is_some().then_some("continue")) {
            return Err(ignored(top, key, "nothing that blocks", &Value::String(spec.name.to_owned())));
        }
    }
    // `allow` has no effect on an event that asks for no permission.
    decide(output, decision.filter(|decision| *decision != Decision::Allow || can(decision)), reason);
    Ok(())
}

fn rewritten(kind: EventKind, new: Object) -> Value {
    Value::Object(if kind == EventKind::BeforeLlm { model::from_wire(new) } else { new })
}

/// Takes a response that replaces the model's. gemini.md#beforemodel-and-aftermodel: "A `llm_response` of a hook is the
/// answer in its place, and is used only beside a deny."
fn take_response(specific: &mut FieldReader, output: &HookOutput) -> Result<Option<Value>, DecodeError> {
    match specific.take::<Value>(RESPONSE)? {
        Some(response) if output.decision != Some(Decision::Deny) => {
            Err(ignored(specific, RESPONSE, "nothing without a deny", &response))
        }
        response => Ok(response),
    }
}

fn refuse_ignored(fields: &mut FieldReader) -> Result<(), DecodeError> {
    for key in IGNORED {
        if let Some(found) = fields.take::<Value>(key)? {
            return Err(ignored(fields, key, "no such field, because Gemini CLI ignores it", &found));
        }
    }
    Ok(())
}

fn ignored(fields: &FieldReader, key: &str, expected: &str, found: &Value) -> DecodeError {
    DecodeError::Type { pointer: fields.pointer(key), expected: expected.to_owned(), found: describe(found) }
}
