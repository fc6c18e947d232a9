//! Decodes the output of a hook that speaks codebuddy's JSON.

use serde_json::Value;

use crate::{
    dialect::common::{
        FieldReader, MARK, PERMISSION, decide, keep_extra, known_keys, mark_form, report_misplaced, shows_form,
        take_common, take_permission, take_permission_denial, take_specific, take_top_denial,
    },
    event::{Event, EventKind},
    json::{DecodeError, Object},
    output::{Decision, HookOutput, Note},
};

pub(super) fn decode(event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
    let (mut output, mut notes) = (HookOutput::default(), Vec::new());
    let mut top = FieldReader::new("", &one_continue(wire)?);
    take_common(&mut top, &mut output)?;
    // codebuddy.md#output: "`decision` | `block` | blocks the operation. There is no other word".
    let decision = top.take_word("decision", &[("block", Decision::Deny)])?;
    let reason = top.take::<String>("reason")?;
    decide(&mut output, decision, reason.clone());
    let mut specific = take_specific(&mut top, event, &mut notes)?;
    take_top_denial(&mut top, &mut output)?;
    if let Some(specific) = &mut specific {
        take_specific_fields(event.kind(), specific, &mut output, &mut notes)?;
        take_permission_denial(specific, &mut output)?;
        report_misplaced(specific, known_keys::CODEBUDDY, &mut notes);
    }
    if output.decision.is_some() {
        output.reason = output.reason.or(reason);
    }
    report_misplaced(&mut top, known_keys::CODEBUDDY, &mut notes);
    keep_extra(&mut output, top, specific);
    if event.kind() == EventKind::OtherEvent {
        for form in [MARK, PERMISSION] {
            if shows_form(wire, form) {
                mark_form(&mut output, form);
            }
        }
    }
    Ok((output, notes))
}

/// Merges the two spellings of `continue`. decisions.md#codebuddy: "`continue_` is the Python spelling of the same
/// field on input and output. An output may have both; the stricter one counts."
fn one_continue(wire: &Object) -> Result<Object, DecodeError> {
    let mut wire = wire.clone();
    match wire.shift_remove("continue_") {
        None | Some(Value::Null | Value::Bool(true)) => {}
        Some(Value::Bool(false)) => {
            // A `continue` of the wrong type stays, so that it is reported as an error.
            if wire.get("continue").is_none_or(|v| v.is_null() || v.is_boolean()) {
                wire.insert("continue".into(), false.into());
            }
        }
        Some(other) => return Err(DecodeError::wrong_type("/continue_", "a boolean", &other)),
    }
    Ok(wire)
}

fn take_specific_fields(
    kind: EventKind,
    specific: &mut FieldReader,
    output: &mut HookOutput,
    notes: &mut Vec<Note>,
) -> Result<(), DecodeError> {
    output.context = specific.take("additionalContext")?;
    // decisions.md#codebuddy: "`permissionDecision: deny` is understood everywhere", because ignoring a denial would be
    // unsafe.
    let words = [("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)];
    let decision = specific.take_word(MARK, &words)?;
    decide(output, decision, specific.take("permissionDecisionReason")?);
    if matches!(kind, EventKind::PreToolUse | EventKind::OtherEvent) {
        // codebuddy.md#output: "On `PreToolUse`, `hookSpecificOutput` can change the tool's input".
        output.updated = specific.take_object("updatedInput")?.map(Into::into);
    }
    if kind == EventKind::OtherEvent {
        // The current client's form on permission requests, which are outside of the specification's six events.
        take_permission(specific, output, notes)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::codebuddy::DOCUMENTED;
    use crate::protocol::Dialect;

    fn read(event: &str, output: Value) -> Result<HookOutput, DecodeError> {
        let event = json!({ "hook_event_name": event }).to_string();
        let event = DOCUMENTED.decode_event(event.as_bytes(), None).unwrap();
        let Value::Object(output) = output else { panic!("an object") };
        decode(&event, &output).map(|(output, _)| output)
    }

    #[test]
    fn either_spelling_of_continue_halts() {
        for output in [
            json!({ "continue": false, "stopReason": "why" }),
            json!({ "continue_": false, "stopReason": "why" }),
            json!({ "continue": true, "continue_": false, "stopReason": "why" }),
        ] {
            let halt = read("Stop", output.clone()).unwrap().halt;
            assert_eq!(halt.and_then(|halt| halt.reason).as_deref(), Some("why"), "{output}");
        }
        assert!(read("Stop", json!({ "continue_": true })).unwrap().is_silent());
        assert!(read("Stop", json!({ "continue_": "no" })).is_err());
    }

    #[test]
    fn a_block_holds_in_either_place() {
        let allow = json!({ "hookEventName": "PreToolUse", "permissionDecision": "allow" });
        let both = read("PreToolUse", json!({ "decision": "block", "reason": "no", "hookSpecificOutput": allow }));
        assert_eq!(both.unwrap(), HookOutput::decided(Decision::Deny, "no"));
        let deny = json!({ "permissionDecision": "deny", "permissionDecisionReason": "no" });
        assert_eq!(
            read("Stop", json!({ "hookSpecificOutput": deny })).unwrap(),
            HookOutput::decided(Decision::Deny, "no")
        );
    }

    #[test]
    fn an_unknown_word_is_an_error() {
        assert!(read("PreToolUse", json!({ "decision": "deny" })).is_err());
        assert!(read("PreToolUse", json!({ "hookSpecificOutput": { "permissionDecision": "block" } })).is_err());
    }
}
