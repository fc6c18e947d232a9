//! Encodes the verdict for the client.
//!
//! decisions.md#the-real-claude-code: "stdout is obeyed only when the whole of it is one JSON object; a `null` for an
//! optional field, a missing or wrong `hookEventName`, or an unknown decision makes the client reject the output and
//! *run the tool*. So: never print a null, always print `hookEventName`, never print anything else."

use serde_json::Value;

use crate::{
    dialect::common::{
        MARK, put_common, put_decision, put_extra, put_permission, put_specific, put_text, specific_extra,
    },
    event::{Event, EventKind},
    json::Object,
    output::{Decision, HookOutput},
};

pub(super) fn encode(event: &Event, output: &HookOutput) -> Value {
    let mut wire = Object::new();
    put_common(output, &mut wire);
    let mut specific = Object::new();
    match event.kind() {
        EventKind::PreToolUse => put_decision(output, &mut specific),
        EventKind::PermissionRequest => put_permission(output, &mut specific),
        // The hooks know which form the event has, so the verdict has the form of their outputs.
        EventKind::OtherEvent if specific_extra(output).contains_key(MARK) => put_decision(output, &mut specific),
        _ if output.decision == Some(Decision::Deny) => {
            wire.insert("decision".into(), "block".into());
            put_text(&mut wire, "reason", output.reason.as_ref());
        }
        _ => {}
    }
    if let (EventKind::PostToolUse, Some(updated)) = (event.kind(), &output.updated) {
        specific.insert("updatedToolOutput".into(), updated.clone());
    }
    put_text(&mut specific, "additionalContext", output.context.as_ref());
    for (key, value) in specific_extra(output) {
        specific.entry(key).or_insert(value);
    }
    put_specific(event, &mut wire, specific);
    put_extra(output, &mut wire);
    Value::Object(wire)
}
