//! Encodes the verdict for the client.

use serde_json::Value;

use crate::{
    dialect::common::{
        MARK, PERMISSION, put_common, put_decision, put_extra, put_permission, put_specific, put_text, specific_extra,
    },
    event::{Event, EventKind},
    json::Object,
    output::{Decision, HookOutput},
};

pub(super) fn encode(event: &Event, output: &HookOutput) -> Value {
    let (mut wire, mut specific) = (Object::new(), Object::new());
    // decisions.md#codebuddy: "`continue` defaults to true", so only false is written. All clients read this spelling.
    put_common(output, &mut wire);
    if output.decision == Some(Decision::Deny) {
        wire.insert("decision".into(), "block".into());
        put_text(&mut wire, "reason", output.reason.as_ref());
    }
    let extra = specific_extra(output);
    match event.kind() {
        // decisions.md#the-real-codebuddy: "Its current output for a blocked tool is
        // `hookSpecificOutput.permissionDecision`; emit both that and the seed's `decision:"block"`."
        EventKind::PreToolUse => put_decision(output, &mut specific),
        // The hooks know which form the event has, so the verdict has the form of their outputs.
        EventKind::OtherEvent => {
            if extra.contains_key(PERMISSION) {
                put_permission(output, &mut specific);
            }
            if extra.contains_key(MARK) {
                put_decision(output, &mut specific);
            }
        }
        _ => {}
    }
    put_text(&mut specific, "additionalContext", output.context.as_ref());
    for (key, value) in extra.into_iter().filter(|(key, _)| key != MARK && key != PERMISSION) {
        specific.entry(key).or_insert(value);
    }
    put_specific(event, &mut wire, specific);
    put_extra(output, &mut wire);
    Value::Object(wire)
}
