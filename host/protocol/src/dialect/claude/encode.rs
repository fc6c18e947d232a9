//! The verdict as the client reads it.
//!
//! decisions.md: "stdout is obeyed only when the whole of it is one JSON object; a `null` for an optional field, a
//! missing or wrong `hookEventName`, or an unknown decision makes the client reject the output and *run the tool*. So:
//! never print a null, always print `hookEventName`, never print anything else."

use serde_json::Value;

use crate::{
    answer::{Answer, Rule},
    dialect::common::{
        MARK, put_common, put_decision, put_extra, put_permission, put_specific, put_text, specific_extra,
    },
    event::{Event, Kind},
    json::Object,
};

pub(super) fn encode(event: &Event, answer: &Answer) -> Value {
    let mut wire = Object::new();
    put_common(answer, &mut wire);
    let mut specific = Object::new();
    match event.kind() {
        Kind::PreToolUse => put_decision(answer, &mut specific),
        Kind::PermissionRequest => put_permission(answer, &mut specific),
        // In the form in which the hooks said it: which form the event has, only they knew.
        Kind::OtherEvent if specific_extra(answer).contains_key(MARK) => put_decision(answer, &mut specific),
        _ if answer.rule == Some(Rule::Deny) => {
            wire.insert("decision".into(), "block".into());
            put_text(&mut wire, "reason", answer.reason.as_ref());
        }
        _ => {}
    }
    if let (Kind::PostToolUse, Some(updated)) = (event.kind(), &answer.updated) {
        specific.insert("updatedToolOutput".into(), updated.clone());
    }
    put_text(&mut specific, "additionalContext", answer.context.as_ref());
    for (key, value) in specific_extra(answer) {
        specific.entry(key).or_insert(value);
    }
    put_specific(event, &mut wire, specific);
    put_extra(answer, &mut wire);
    Value::Object(wire)
}
