//! Decodes outputs and encodes the verdict. Their fields are at the top, with names that depend on the event.

use serde_json::{Value, json};

use super::is_gate;
use crate::{
    degrade::WITHHELD,
    dialect::common::{FieldReader, decide, known_keys, put_extra, put_text, take_specific, without_effect},
    event::{Event, EventKind},
    failure::Fallback,
    json::{DecodeError, Object, describe},
    output::{Decision, HookOutput, Note},
};

/// Output fields that have no effect by themselves.
const MERE: &[&str] = &["stopReason", "reason", "permissionDecisionReason", "message", "interrupt", "hookEventName"];

/// The words of one event: the table of copilot.md#answers.
struct Words {
    /// The fields of the decision and of its reason.
    decision: Option<[&'static str; 2]>,
    /// The words for decisions. `None`: the word has no effect.
    known: &'static [(&'static str, Option<Decision>)],
    /// The field of the rewrite.
    rewrite: Option<&'static str>,
    context: bool,
}

fn words(event: &Event) -> Words {
    const BLOCK: &[(&str, Option<Decision>)] = &[("block", Some(Decision::Deny))];
    // decisions.md#copilot: "`decision: "allow"` on a stop has no effect."
    const STOP: &[(&str, Option<Decision>)] = &[("block", Some(Decision::Deny)), ("allow", None)];
    const PERMISSION: &[(&str, Option<Decision>)] = &[("allow", Some(Decision::Allow)), ("deny", Some(Decision::Deny))];
    const TOOL: &[(&str, Option<Decision>)] =
        &[("allow", Some(Decision::Allow)), ("deny", Some(Decision::Deny)), ("ask", Some(Decision::Ask))];
    let spec = event.name.as_str();
    let nothing = Words { decision: None, known: &[], rewrite: None, context: false };
    let block = Words { decision: Some(["decision", "reason"]), known: BLOCK, ..nothing };
    match event.kind() {
        EventKind::PreToolUse => Words {
            decision: Some(["permissionDecision", "permissionDecisionReason"]),
            known: TOOL,
            rewrite: Some("modifiedArgs"),
            context: true,
        },
        EventKind::PermissionRequest => Words { decision: Some(["behavior", "message"]), known: PERMISSION, ..nothing },
        EventKind::PostToolUse => Words { rewrite: Some("modifiedResult"), context: true, ..block },
        EventKind::UserPromptSubmit => Words { rewrite: Some("modifiedPrompt"), context: true, ..block },
        EventKind::Stop => Words { known: STOP, ..block },
        EventKind::SubagentStop => Words { known: STOP, rewrite: Some("modifiedResponse"), ..block },
        EventKind::SessionStart
        | EventKind::SubagentStart
        | EventKind::Notification
        | EventKind::PostToolUseFailure => Words { context: true, ..nothing },
        EventKind::OtherEvent => match super::events::by_name(spec).map(|spec| spec.expressible.rewrite) {
            Some(true) => Words { rewrite: Some("modifiedTransformedPrompt"), ..nothing },
            Some(false) => nothing,
            None => Words { context: true, ..block },
        },
        _ => nothing,
    }
}

pub(super) fn decode(event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
    let (mut output, mut notes) = (HookOutput::default(), Vec::new());
    let (mut top, words) = (FieldReader::new("", wire), words(event));
    let mut spoke = false;
    if let Some([key, reason_key]) = words.decision {
        spoke = top.contains(key);
        let decision = top.take_word(key, words.known)?.flatten();
        decide(&mut output, decision, top.take(reason_key)?);
    }
    if event.kind() == EventKind::PermissionRequest {
        output.interrupt = top.take("interrupt")?.unwrap_or_default() && output.decision == Some(Decision::Deny);
    }
    output.updated = match words.rewrite {
        Some(key @ "modifiedArgs") => top.take_object(key)?.map(Value::Object),
        Some(key @ "modifiedResult") => top.take::<Value>(key)?.map(|result| withheld(result, &mut notes)),
        Some(key) => top.take::<String>(key)?.map(Value::String),
        None => None,
    };
    if words.context {
        output.context = top.take("additionalContext")?;
    }
    if event.name == "PreToolUse" {
        decode_nested(event, &mut top, &mut output, &mut notes)?;
    }
    spoke |= output.decision.is_some() || output.updated.is_some() || output.context.is_some();
    leftover(spoke, event, &mut top, &mut notes)?;
    if output.decision.is_none() {
        output.reason = None;
    }
    output.extra = top.rest();
    Ok((output, notes))
}

/// Decodes Claude's form. copilot.md#answers: "`PreToolUse` also takes Claude's `hookSpecificOutput` with
/// `permissionDecision`, `permissionDecisionReason`, `updatedInput` and `additionalContext`; `preToolUse` does not."
fn decode_nested(
    event: &Event,
    top: &mut FieldReader,
    output: &mut HookOutput,
    notes: &mut Vec<Note>,
) -> Result<(), DecodeError> {
    let Some(mut nested) = take_specific(top, event, notes)? else { return Ok(()) };
    let words: Vec<_> = words(event).known.to_vec();
    let decision = nested.take_word("permissionDecision", &words)?.flatten();
    decide(output, decision, nested.take("permissionDecisionReason")?);
    let updated = nested.take_object("updatedInput")?.map(Value::Object);
    let context = nested.take("additionalContext")?;
    output.updated = output.updated.take().or(updated);
    output.context = output.context.take().or(context);
    let text = |key: &str| format!("hookSpecificOutput has no `{key}` here");
    nested.drop_known(known_keys::COPILOT, notes, text);
    for (key, value) in &nested.rest() {
        notes.push(without_effect(&[key], key, value, text(key)));
    }
    Ok(())
}

/// Reports the fields that were not read. decisions.md#copilot: "A hook fails if its output is not empty but the client
/// would read nothing of it. Of any other output, the part that the client would read counts, and the rest is
/// reported."
fn leftover(spoke: bool, event: &Event, top: &mut FieldReader, notes: &mut Vec<Note>) -> Result<(), DecodeError> {
    for key in known_keys::COPILOT {
        let Some(value) = top.take::<Value>(key)? else { continue };
        let says = !MERE.contains(key) && (*key != "continue" || value == false);
        if says && !spoke {
            return Err(DecodeError::Type {
                pointer: top.pointer(key),
                expected: format!("a field that this client reads on {}", event.name),
                found: describe(&value),
            });
        }
        if says {
            let text = format!("`{key}` has no effect on {}", event.name);
            notes.push(without_effect(known_keys::COPILOT, key, &value, text));
        }
    }
    // The known keys in another spelling.
    top.drop_known(known_keys::COPILOT, notes, |key| format!("`{key}` has no effect on {}", event.name));
    Ok(())
}

pub(super) fn encode(event: &Event, output: &HookOutput) -> Value {
    let (mut wire, words) = (Object::new(), words(event));
    let word = words.known.iter().find(|(_, decision)| decision.is_some() && *decision == output.decision);
    if let (Some([key, reason_key]), Some((word, _))) = (words.decision, word) {
        wire.insert(key.into(), (*word).into());
        // On a permission request, only a denial has a field for the reason.
        if event.kind() != EventKind::PermissionRequest || output.decision == Some(Decision::Deny) {
            put_text(&mut wire, reason_key, output.reason.as_ref());
        }
        if output.decision == Some(Decision::Deny) && key == "behavior" && output.interrupt {
            wire.insert("interrupt".into(), true.into());
        }
    }
    if let (Some(key), Some(updated)) = (words.rewrite, &output.updated) {
        let value = match (key, updated) {
            ("modifiedArgs", _) | (_, Value::String(_)) if key != "modifiedResult" => updated.clone(),
            ("modifiedResult", _) => result(updated),
            // Other rewrites are texts, so other values are written as JSON.
            _ => updated.to_string().into(),
        };
        wire.insert(key.into(), value);
    }
    if words.context {
        put_text(&mut wire, "additionalContext", output.context.as_ref());
    }
    put_extra(output, &mut wire);
    Value::Object(wire)
}

/// Replaces the text of a result that a hook made null. decisions.md#degradation: "A result that is
/// rewritten to `null` is withheld, with a note".
fn withheld(mut result: Value, notes: &mut Vec<Note>) -> Value {
    for name in ["textResultForLlm", "text_result_for_llm"] {
        if let Some(text) = result.get_mut(name).filter(|text| text.is_null()) {
            *text = WITHHELD.into();
            notes.push(Note::degraded(format!("a rewrite cannot be null; {WITHHELD}")));
        }
    }
    result
}

/// The names that differ between the two forms of a result.
const RESULT: &[(&str, &str)] = &[("resultType", "result_type"), ("textResultForLlm", "text_result_for_llm")];

/// A result in camelCase. copilot.md#answers: "`modifiedResult` is `{resultType, textResultForLlm}`."
/// decisions.md#copilot: "A result that is only a text is printed as `{resultType: "success",
/// textResultForLlm}`."
pub(super) fn result(updated: &Value) -> Value {
    match updated {
        Value::String(text) => json!({ "resultType": "success", "textResultForLlm": text }),
        other => renamed(other, |camel, pascal| (pascal, camel)),
    }
}

/// Renames the fields of a result. `direction` orders each pair of names as (from, to).
pub(super) fn renamed(
    result: &Value,
    direction: impl Fn(&'static str, &'static str) -> (&'static str, &'static str),
) -> Value {
    let Value::Object(fields) = result else { return result.clone() };
    let name = |key: &String| {
        let pairs = RESULT.iter().map(|(camel, pascal)| direction(camel, pascal));
        pairs.into_iter().find(|(from, _)| from == key).map_or_else(|| key.clone(), |(_, to)| to.to_owned())
    };
    Value::Object(fields.iter().map(|(key, value)| (name(key), value.clone())).collect())
}

/// The fallback that blocks an event of this kind when hookbox itself failed. `None`: the event is unknown.
///
/// decisions.md#copilot: "Under `failClosed` it is exit code 2 where that code denies, and a block on stdout with 0 on
/// other events that can be blocked."
pub(super) fn refusal(kind: Option<EventKind>, reason: &str) -> Fallback {
    if kind.is_some_and(is_gate) {
        return Fallback::block(None);
    }
    // Every event reads its own words and ignores the others.
    let every = json!({
        "permissionDecision": "deny", "permissionDecisionReason": reason,
        "behavior": "deny", "message": reason,
        "decision": "block", "reason": reason,
    });
    let block = json!({ "decision": "block", "reason": reason });
    Fallback { exit: Some(0), stdout: Some(if kind.is_some() { block } else { every }), stderr: true }
}
