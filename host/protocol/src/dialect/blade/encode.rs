//! Encodes the verdict for the client.

use serde_json::{Value, json};

use crate::{
    dialect::common::{MARK, put_common, put_decision, put_extra, put_specific, put_text, specific_extra},
    event::{Event, EventKind},
    json::Object,
    output::{Decision, HookOutput},
};

pub(super) fn encode(event: &Event, output: &HookOutput) -> Value {
    if event.kind() == EventKind::CanUseTool {
        return callback(output);
    }
    let (mut wire, mut specific) = (Object::new(), Object::new());
    put_common(output, &mut wire);
    let denied = output.decision == Some(Decision::Deny);
    let extra = specific_extra(output);
    match event.kind() {
        EventKind::PreToolUse => put_decision(output, &mut specific),
        EventKind::PermissionRequest => {
            put_decision(output, &mut specific);
            // blade.md#permissionrequest: "The word is `approve`, not `allow`".
            if output.decision == Some(Decision::Allow) {
                specific.insert(MARK.into(), "approve".into());
            }
        }
        // decisions.md#blade-config: "`Stop` blocks the stop on `true`, `SubagentStop` blocks the stop on `false`."
        EventKind::Stop if denied => put_flag(&mut specific, ("continue", true), "continueReason", output),
        EventKind::SubagentStop if denied => put_flag(&mut specific, ("continue", false), "continueReason", output),
        EventKind::TaskCompleted if denied => put_flag(&mut specific, ("blockCompletion", true), "blockReason", output),
        EventKind::PreCompact if denied => put_flag(&mut specific, ("blockCompaction", true), "blockReason", output),
        // The hooks know which form the event has, so the verdict has the form of their outputs.
        EventKind::OtherEvent if extra.contains_key(MARK) => put_decision(output, &mut specific),
        // decisions.md#blade-config: "A blocked prompt is emitted as top-level `decision: "block"` + `reason`, as in the
        // document's example."
        _ if denied => {
            wire.insert("decision".into(), "block".into());
            put_text(&mut wire, "reason", output.reason.as_ref());
        }
        _ => {}
    }
    put_rest(event.kind(), output, &mut specific);
    for (key, value) in extra.into_iter().filter(|(key, _)| key != MARK) {
        specific.entry(key).or_insert(value);
    }
    put_specific(event, &mut wire, specific);
    put_extra(output, &mut wire);
    Value::Object(wire)
}

/// Blocks through a field of the event.
pub(super) fn put_flag(specific: &mut Object, (key, value): (&str, bool), reason: &str, output: &HookOutput) {
    specific.insert(key.into(), value.into());
    put_text(specific, reason, output.reason.as_ref());
}

/// Writes all fields but the decision.
fn put_rest(kind: EventKind, output: &HookOutput, specific: &mut Object) {
    let rewrite = match kind {
        EventKind::UserPromptSubmit => Some("updatedPrompt"),
        EventKind::PostToolUse => Some("updatedOutput"),
        _ => None,
    };
    if let (Some(key), Some(updated)) = (rewrite, &output.updated) {
        specific.insert(key.into(), updated.clone());
    }
    // blade.md#userpromptsubmit: "`contextInjection` | string | put into the context".
    let context = if kind == EventKind::UserPromptSubmit { "contextInjection" } else { "additionalContext" };
    put_text(specific, context, output.context.as_ref());
    if !output.env.is_empty() {
        specific.insert("env".into(), json!(output.env));
    }
}

/// Writes the answer of the callback. decisions.md#blades-canusetool: "answered with `behavior`, `message`,
/// `updatedInput`, `interrupt`". Without a decision, the client asks the user.
pub(super) fn callback(output: &HookOutput) -> Value {
    let mut wire = Object::new();
    let policy = match output.decision {
        Some(Decision::Allow) => "allow",
        Some(Decision::Deny) => "deny",
        _ => "ask",
    };
    wire.insert("behavior".into(), policy.into());
    put_text(&mut wire, "message", output.reason.as_ref());
    if let Some(updated) = &output.updated {
        wire.insert("updatedInput".into(), updated.clone());
    }
    if output.interrupt {
        wire.insert("interrupt".into(), true.into());
    }
    put_extra(output, &mut wire);
    Value::Object(wire)
}
