//! Encodes the verdict for Codex. Codex reads it strictly and ignores an output that it rejects.
//!
//! decisions.md#codex: "hookbox never prints `stopReason`, `suppressOutput`, a field that Codex does not know, or a
//! null."

use serde_json::Value;

use crate::{
    dialect::common::{put_permission, put_specific, put_text},
    event::{Event, EventKind},
    json::Object,
    output::{Decision, HookOutput, join},
};

pub(super) fn encode(event: &Event, output: &HookOutput) -> Value {
    let (mut wire, mut specific) = (Object::new(), Object::new());
    if output.halt.is_some() {
        wire.insert("continue".into(), false.into());
    }
    // decisions.md#codex: "The reason of a halt that is printed as `continue: false` is shown as `systemMessage`."
    let halted = output.halt.as_ref().and_then(|halt| halt.reason.clone());
    put_text(&mut wire, "systemMessage", join([&output.system_message, &halted]).as_ref());
    match (event.kind(), &output.decision) {
        (EventKind::PreToolUse, Some(Decision::Deny)) => {
            specific.insert("permissionDecision".into(), "deny".into());
            put_text(&mut specific, "permissionDecisionReason", output.reason.as_ref());
        }
        (EventKind::PreToolUse, Some(Decision::Allow)) => {
            if let Some(updated) = &output.updated {
                specific.insert("permissionDecision".into(), "allow".into());
                specific.insert("updatedInput".into(), updated.clone());
            }
        }
        (EventKind::PermissionRequest, _) => put_permission(output, &mut specific),
        (_, Some(Decision::Deny)) => {
            wire.insert("decision".into(), "block".into());
            put_text(&mut wire, "reason", output.reason.as_ref());
        }
        _ => {}
    }
    put_text(&mut specific, "additionalContext", output.context.as_ref());
    put_specific(event, &mut wire, specific);
    Value::Object(wire)
}
