//! Encodes the verdict for Gemini CLI.

use serde_json::Value;

use super::{events::SELECTION, model, output::rewrite_key};
use crate::{
    dialect::common::{put_common, put_extra, put_specific, put_text, specific_extra},
    event::{Event, EventKind},
    json::Object,
    output::HookOutput,
};

/// The key of a tool selection.
pub(super) const TOOL_CONFIG: &str = "toolConfig";

pub(super) fn encode(event: &Event, output: &HookOutput) -> Option<Value> {
    let (mut wire, mut specific) = (Object::new(), Object::new());
    put_common(output, &mut wire);
    if let Some(decision) = output.decision_kind() {
        wire.insert("decision".into(), decision.word().into());
        put_text(&mut wire, "reason", output.reason.as_ref());
    }
    put_text(&mut specific, "additionalContext", output.context.as_ref());
    if let (Some(key), Some(updated)) = (rewrite_key(event.kind()), &output.updated) {
        let updated = match (event.kind(), updated) {
            (EventKind::BeforeLlm, Value::Object(request)) => Value::Object(model::to_wire(request.clone())),
            _ => updated.clone(),
        };
        specific.insert(key.into(), updated);
    }
    for (key, value) in specific_extra(output) {
        specific.entry(key).or_insert(value);
    }
    // decisions.md#gemini: "On `BeforeToolSelection` nothing is printed, unless a hook gave a `toolConfig`."
    if event.name == SELECTION && !specific.contains_key(TOOL_CONFIG) {
        return None;
    }
    put_specific(event, &mut wire, specific);
    put_extra(output, &mut wire);
    Some(Value::Object(wire))
}
