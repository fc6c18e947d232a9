//! What a hook that speaks codebuddy's JSON said.

use serde_json::Value;

use crate::{
    answer::{Answer, Note, Rule},
    dialect::common::{
        MARK, PERMISSION, Taker, decide, keep_extra, mark_form, report_misplaced, shows_form, take_common,
        take_permission, take_specific,
    },
    event::{Event, Kind},
    json::{DecodeError, Object},
};

/// Output fields this module reads; no hook's `extra` may carry them.
pub(super) const KNOWN_KEYS: &[&str] = &[
    "continue",
    "continue_",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookEventName",
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "additionalContext",
];

pub(super) fn decode(event: &Event, wire: &Object) -> Result<(Answer, Vec<Note>), DecodeError> {
    let (mut answer, mut notes) = (Answer::default(), Vec::new());
    let mut top = Taker::new("", &one_continue(wire)?);
    take_common(&mut top, &mut answer)?;
    // codebuddy.md: "`decision` | 'block' | 设为 'block' 阻止操作" (`block` keeps it from happening). There is no other word.
    let rule = top.take_word("decision", &[("block", Rule::Deny)])?;
    let reason = top.take::<String>("reason")?;
    decide(&mut answer, rule, reason.clone());
    let mut specific = take_specific(&mut top, event, &mut notes)?;
    if let Some(specific) = &mut specific {
        take_specific_fields(event.kind(), specific, &mut answer)?;
        report_misplaced(specific, KNOWN_KEYS, &mut notes)?;
    }
    if answer.rule.is_some() {
        answer.reason = answer.reason.or(reason);
    }
    report_misplaced(&mut top, KNOWN_KEYS, &mut notes)?;
    keep_extra(&mut answer, top, specific);
    if event.kind() == Kind::OtherEvent {
        for form in [MARK, PERMISSION] {
            if shows_form(wire, form) {
                mark_form(&mut answer, form);
            }
        }
    }
    Ok((answer, notes))
}

/// decisions.md: "`continue_` is the Python spelling of the same field". The stricter of the two holds.
fn one_continue(wire: &Object) -> Result<Object, DecodeError> {
    let mut wire = wire.clone();
    match wire.shift_remove("continue_") {
        None | Some(Value::Null | Value::Bool(true)) => {}
        Some(Value::Bool(false)) => {
            // A `continue` of the wrong type stays, to be found out.
            if wire.get("continue").is_none_or(|v| v.is_null() || v.is_boolean()) {
                wire.insert("continue".into(), false.into());
            }
        }
        Some(other) => return Err(DecodeError::wrong_type("/continue_", "a boolean", &other)),
    }
    Ok(wire)
}

fn take_specific_fields(kind: Kind, specific: &mut Taker, answer: &mut Answer) -> Result<(), DecodeError> {
    answer.context = specific.take("additionalContext")?;
    // decisions.md: "Its current output for a blocked tool is `hookSpecificOutput.permissionDecision`". Understood on
    // every event, because dropping a deny would be worse.
    let words = [("allow", Rule::Allow), ("ask", Rule::Ask), ("deny", Rule::Deny)];
    let rule = specific.take_word(MARK, &words)?;
    decide(answer, rule, specific.take("permissionDecisionReason")?);
    if matches!(kind, Kind::PreToolUse | Kind::OtherEvent) {
        // codebuddy.md: "PreToolUse 特殊输出 可以修改工具输入" (`updatedInput` changes the tool's input).
        answer.updated = specific.take_object("updatedInput")?.map(Into::into);
    }
    if kind == Kind::OtherEvent {
        // The current client's form on permission requests, which are beyond the specification's six events.
        take_permission(specific, answer)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::{Dialect, codebuddy::DOCUMENTED};

    fn answer(event: &str, output: Value) -> Result<Answer, DecodeError> {
        let event = json!({ "hook_event_name": event }).to_string();
        let event = DOCUMENTED.decode_event(event.as_bytes(), None).unwrap();
        let Value::Object(output) = output else { panic!("an object") };
        decode(&event, &output).map(|(answer, _)| answer)
    }

    #[test]
    fn either_spelling_of_continue_halts() {
        for output in [
            json!({ "continue": false, "stopReason": "why" }),
            json!({ "continue_": false, "stopReason": "why" }),
            json!({ "continue": true, "continue_": false, "stopReason": "why" }),
        ] {
            let halt = answer("Stop", output.clone()).unwrap().halt;
            assert_eq!(halt.and_then(|halt| halt.reason).as_deref(), Some("why"), "{output}");
        }
        assert!(answer("Stop", json!({ "continue_": true })).unwrap().is_silent());
        assert!(answer("Stop", json!({ "continue_": "no" })).is_err());
    }

    #[test]
    fn a_block_holds_in_either_place() {
        let allow = json!({ "hookEventName": "PreToolUse", "permissionDecision": "allow" });
        let both = answer("PreToolUse", json!({ "decision": "block", "reason": "no", "hookSpecificOutput": allow }));
        assert_eq!(both.unwrap(), Answer::rule(Rule::Deny, "no"));
        let deny = json!({ "permissionDecision": "deny", "permissionDecisionReason": "no" });
        assert_eq!(answer("Stop", json!({ "hookSpecificOutput": deny })).unwrap(), Answer::rule(Rule::Deny, "no"));
    }

    #[test]
    fn an_unknown_word_is_an_error() {
        assert!(answer("PreToolUse", json!({ "decision": "deny" })).is_err());
        assert!(answer("PreToolUse", json!({ "hookSpecificOutput": { "permissionDecision": "block" } })).is_err());
    }
}
