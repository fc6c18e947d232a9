//! The forms in which a permission is decided: `permissionDecision`, and a permission request's `decision`.

use serde_json::{Value, json};

use super::{Taker, decide, put_text, specific_extra};
use crate::{
    answer::{Answer, Note, Rule},
    dialect::Merged,
    event::{Event, Kind},
    json::{DecodeError, Object},
};

/// The key by which an event beyond the specification shows that it takes a permission decision.
pub(crate) const MARK: &str = "permissionDecision";

/// The same key of a permission request.
pub(crate) const PERMISSION: &str = "decision";

/// Remembers in `extra` that the hook gave its decision under `key` of `hookSpecificOutput`: which form an event beyond
/// the specification has, only its hooks know.
pub(crate) fn mark_form(answer: &mut Answer, key: &str) {
    if let Some(rule) = answer.rule_kind() {
        let specific = answer.extra.entry("hookSpecificOutput").or_insert_with(|| json!({}));
        specific[key] = rule.word().into();
    }
}

/// Whether an output gave its decision under `key` of `hookSpecificOutput`; null counts as absent.
pub(crate) fn shows_form(wire: &Object, key: &str) -> bool {
    wire.get("hookSpecificOutput").and_then(|specific| specific.get(key)).is_some_and(|value| !value.is_null())
}

/// Whether an event beyond the specification can ask or allow, only its hooks show. Where none did, the safer thing is
/// said.
pub(crate) fn ask_only_where_shown(event: &Event, merged: &mut Merged) {
    let shown = specific_extra(&merged.answer);
    if event.kind() != Kind::OtherEvent || shown.contains_key(MARK) {
        return;
    }
    let (rule, note) = match merged.answer.rule {
        Some(Rule::Allow) if shown.contains_key(PERMISSION) => return,
        Some(Rule::Ask) => {
            (Some(Rule::Deny), Note::degraded(format!("{} may be unable to ask; it blocks", event.name)))
        }
        Some(Rule::Allow) => (None, Note::dropped(format!("{} may have no word for allow", event.name))),
        _ => return,
    };
    merged.answer.rule = rule;
    merged.notes.push((None, note));
}

/// Writes `permissionDecision`, its reason and `updatedInput`.
pub(crate) fn put_decision(answer: &Answer, specific: &mut Object) {
    if let Some(rule) = &answer.rule {
        specific.insert(MARK.into(), rule.kind().word().into());
        put_text(specific, "permissionDecisionReason", answer.reason.as_ref());
    }
    if let Some(updated) = &answer.updated {
        specific.insert("updatedInput".into(), updated.clone());
    }
}

/// decisions.md: "`PermissionRequest` has its own output: `hookSpecificOutput.decision` = `{behavior:"allow",
/// updatedInput?, updatedPermissions?}` or `{behavior:"deny", message, interrupt?}`".
pub(crate) fn take_permission(specific: &mut Taker, answer: &mut Answer) -> Result<(), DecodeError> {
    let Some(decision) = specific.take_object(PERMISSION)? else { return Ok(()) };
    let mut decision = Taker::new("/hookSpecificOutput/decision", &decision);
    let rule = decision.take_word("behavior", &[("allow", Rule::Allow), ("deny", Rule::Deny)])?;
    decide(answer, rule, decision.take("message")?);
    answer.interrupt = decision.take("interrupt")?.unwrap_or_default();
    answer.updated = decision.take_object("updatedInput")?.map(Into::into).or(answer.updated.take());
    answer.updated_permissions = decision.take::<Vec<Value>>("updatedPermissions")?.map(Into::into);
    Ok(())
}

/// The inverse of [`take_permission`]. Asking is what the client does when nobody answers.
pub(crate) fn put_permission(answer: &Answer, specific: &mut Object) {
    let mut decision = match answer.rule {
        Some(Rule::Allow) => json!({ "behavior": "allow" }),
        Some(Rule::Deny) => json!({ "behavior": "deny" }),
        _ => return,
    };
    let Some(fields) = decision.as_object_mut() else { return };
    if answer.rule == Some(Rule::Deny) {
        put_text(fields, "message", answer.reason.as_ref());
        if answer.interrupt {
            fields.insert("interrupt".into(), true.into());
        }
    } else {
        for (key, value) in [("updatedInput", &answer.updated), ("updatedPermissions", &answer.updated_permissions)] {
            if let Some(value) = value {
                fields.insert(key.into(), value.clone());
            }
        }
    }
    specific.insert(PERMISSION.into(), decision);
}
