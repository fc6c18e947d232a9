//! Encodes the verdict for the plugin.

use serde_json::Value;

use super::output::rewrite_key;
use crate::{
    dialect::common::{MARK, put_extra, put_specific, put_text, specific_extra},
    event::{Event, EventKind},
    json::Object,
    output::{Decision, HookOutput},
};

pub(super) fn encode(event: &Event, output: &HookOutput) -> Value {
    let (mut wire, mut specific) = (Object::new(), Object::new());
    if output.decision == Some(Decision::Deny) {
        let (to, word, reason) = match event.kind() {
            EventKind::PreToolUse => (&mut specific, (MARK, "deny"), "permissionDecisionReason"),
            _ => (&mut wire, ("decision", "block"), "reason"),
        };
        to.insert(word.0.into(), word.1.into());
        put_text(to, reason, output.reason.as_ref());
    }
    if let (Some(key), Some(updated)) = (rewrite_key(event.kind()), &output.updated) {
        specific.insert(key.into(), updated.clone());
    }
    put_text(&mut specific, "additionalContext", output.context.as_ref());
    for (key, value) in specific_extra(output) {
        specific.entry(key).or_insert(value);
    }
    put_specific(event, &mut wire, specific);
    put_extra(output, &mut wire);
    Value::Object(wire)
}
