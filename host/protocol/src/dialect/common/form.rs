//! The forms of a permission decision: `permissionDecision`, and the `decision` of a permission request.

use serde_json::{Value, json};

use super::{FieldReader, decide, put_text, specific_extra};
use crate::{
    event::{Event, EventKind},
    json::{DecodeError, Object},
    output::{Decision, HookOutput, Note},
    protocol::Outcome,
};

/// The key that marks an event outside of the specification as one that takes a permission decision.
pub(crate) const MARK: &str = "permissionDecision";

/// The same key for a permission request.
pub(crate) const PERMISSION: &str = "decision";

/// Records in `extra` that the hook decided under `key` of `hookSpecificOutput`. For an event outside of the
/// specification, only its hooks know the form.
pub(crate) fn mark_form(output: &mut HookOutput, key: &str) {
    if let Some(decision) = output.decision_kind() {
        let specific = output.extra.entry("hookSpecificOutput").or_insert_with(|| json!({}));
        specific[key] = decision.word().into();
    }
}

/// Returns true if an output has its decision under `key` of `hookSpecificOutput`. Null counts as missing.
pub(crate) fn shows_form(wire: &Object, key: &str) -> bool {
    wire.get("hookSpecificOutput").and_then(|specific| specific.get(key)).is_some_and(|value| !value.is_null())
}

/// Degrades an `ask` or `allow` on an event outside of the specification, unless the form that a hook used shows that
/// the event takes it.
pub(crate) fn ask_only_where_shown(event: &Event, outcome: &mut Outcome) {
    let shown = specific_extra(&outcome.output);
    if event.kind() != EventKind::OtherEvent || shown.contains_key(MARK) {
        return;
    }
    let (decision, note) = match outcome.output.decision {
        Some(Decision::Allow) if shown.contains_key(PERMISSION) => return,
        Some(Decision::Ask) => {
            (Some(Decision::Deny), Note::degraded(format!("{} may be unable to ask; it blocks", event.name)))
        }
        Some(Decision::Allow) => (None, Note::dropped(format!("{} may have no `allow`", event.name))),
        _ => return,
    };
    outcome.output.decision = decision;
    outcome.notes.push((None, note));
}

/// Writes `permissionDecision`, its reason and `updatedInput`.
pub(crate) fn put_decision(output: &HookOutput, specific: &mut Object) {
    if let Some(decision) = &output.decision {
        specific.insert(MARK.into(), decision.kind().word().into());
        put_text(specific, "permissionDecisionReason", output.reason.as_ref());
    }
    if let Some(updated) = &output.updated {
        specific.insert("updatedInput".into(), updated.clone());
    }
}

/// Takes the decision of a permission request. decisions.md#claude: "`PermissionRequest` has its own output:
/// `hookSpecificOutput.decision` = `{behavior:"allow",updatedInput?,updatedPermissions?}` or
/// `{behavior:"deny",message,interrupt?}`."
pub(crate) fn take_permission(
    specific: &mut FieldReader,
    output: &mut HookOutput,
    notes: &mut Vec<Note>,
) -> Result<(), DecodeError> {
    let Some(fields) = specific.take_object(PERMISSION)? else { return Ok(()) };
    let mut fields = FieldReader::new("/hookSpecificOutput/decision", &fields);
    let decision = fields.take_word("behavior", &[("allow", Decision::Allow), ("deny", Decision::Deny)])?;
    if decision.is_none() {
        let text = "/hookSpecificOutput/decision has no effect without `behavior`";
        notes.push(Note::dropped(text).of_misfit());
    }
    decide(output, decision, fields.take("message")?);
    output.interrupt = fields.take("interrupt")?.unwrap_or_default();
    output.updated = fields.take_object("updatedInput")?.map(Into::into).or(output.updated.take());
    output.updated_permissions = fields.take::<Vec<Value>>("updatedPermissions")?.map(Into::into);
    Ok(())
}

/// Takes a `permissionDecision` at the top, if it denies or asks. An `allow` stays and is reported; ignoring a denial
/// would be unsafe.
///
/// decisions.md#outputs: "A deny or ask in the form or position of another event is understood on every event".
pub(crate) fn take_top_denial(top: &mut FieldReader, output: &mut HookOutput) -> Result<(), DecodeError> {
    let strict = [("deny", Decision::Deny), ("ask", Decision::Ask)];
    if strict.iter().any(|(word, _)| top.object.get(MARK).is_some_and(|stated| stated == word)) {
        let decision = top.take_word(MARK, &strict)?;
        decide(output, decision, top.take("permissionDecisionReason")?);
    }
    Ok(())
}

/// Takes a denial in the form of a permission request on any other event. An `allow` stays, as in [`take_top_denial`].
pub(crate) fn take_permission_denial(specific: &mut FieldReader, output: &mut HookOutput) -> Result<(), DecodeError> {
    let denies = |stated: &Value| stated.get("behavior").is_some_and(|behavior| behavior == "deny");
    if specific.object.get(PERMISSION).is_some_and(denies)
        && let Some(fields) = specific.take_object(PERMISSION)?
    {
        let message = FieldReader::new(specific.pointer(PERMISSION), &fields).take("message")?;
        decide(output, Some(Decision::Deny), message);
    }
    Ok(())
}

/// Writes the decision, the inverse of [`take_permission`]. `ask` writes nothing, because the client asks by default.
pub(crate) fn put_permission(output: &HookOutput, specific: &mut Object) {
    let mut decision = match output.decision {
        Some(Decision::Allow) => json!({ "behavior": "allow" }),
        Some(Decision::Deny) => json!({ "behavior": "deny" }),
        _ => return,
    };
    let Some(fields) = decision.as_object_mut() else { return };
    if output.decision == Some(Decision::Deny) {
        put_text(fields, "message", output.reason.as_ref());
        if output.interrupt {
            fields.insert("interrupt".into(), true.into());
        }
    } else {
        for (key, value) in [("updatedInput", &output.updated), ("updatedPermissions", &output.updated_permissions)] {
            if let Some(value) = value {
                fields.insert(key.into(), value.clone());
            }
        }
    }
    specific.insert(PERMISSION.into(), decision);
}
