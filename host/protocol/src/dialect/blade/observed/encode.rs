//! Encodes the verdict in the form that all real programs obey: one JSON object, plain text, or nothing.

use serde_json::{Value, json};

use super::wrapped_result;
use crate::{
    dialect::{
        blade::encode::{callback, put_flag},
        common::{MARK, put_common, put_decision, put_extra, put_specific, put_text, specific_extra},
    },
    event::{Event, EventKind},
    json::Object,
    output::{Decision, HookOutput, join},
};

/// Returns `None` for nothing: "Where nobody says anything, nothing is printed."
pub(in super::super) fn encode(event: &Event, output: &HookOutput) -> Option<Value> {
    match event.kind() {
        EventKind::CanUseTool => Some(callback(output)),
        EventKind::UserPromptSubmit => prompt(event, output),
        EventKind::PostToolUseFailure => plain(output.context.as_deref()),
        _ => object(event, output),
    }
}

fn object(event: &Event, output: &HookOutput) -> Option<Value> {
    let (mut wire, mut specific) = (Object::new(), Object::new());
    put_common(&HookOutput { halt: None, ..output.clone() }, &mut wire);
    let denied = output.decision == Some(Decision::Deny);
    let extra = specific_extra(output);
    match event.kind() {
        EventKind::PreToolUse => put_call(output, &extra, &mut specific),
        EventKind::PermissionRequest => {
            put_decision(output, &mut specific);
            if output.decision == Some(Decision::Allow) {
                specific.insert(MARK.into(), "approve".into());
            }
        }
        EventKind::PostToolUse => put_result(event, output, &mut specific),
        // decisions.md#blade-observed: "A halt on `Stop` or `SubagentStop` lets the agent stop regardless of other
        // hooks".
        EventKind::Stop | EventKind::SubagentStop if output.halt.is_some() => {}
        EventKind::Stop | EventKind::SubagentStop if denied => {
            put_flag(&mut specific, ("continue", false), "continueReason", output);
        }
        EventKind::TaskCompleted if denied => put_flag(&mut specific, ("blockCompletion", true), "blockReason", output),
        EventKind::PreCompact if denied => put_flag(&mut specific, ("blockCompaction", true), "blockReason", output),
        // decisions.md#blade-observed: "in `hookSpecificOutput` only if a hook used that form."
        EventKind::OtherEvent if extra.contains_key(MARK) => put_decision(output, &mut specific),
        _ if denied => put_block(output, &mut wire),
        _ => {}
    }
    if event.kind() == EventKind::SubagentStart {
        put_text(&mut specific, "additionalContext", output.context.as_ref());
    }
    if !output.env.is_empty() {
        specific.insert("env".into(), json!(output.env));
    }
    for (key, value) in extra.into_iter().filter(|(key, _)| key != MARK) {
        specific.entry(key).or_insert(value);
    }
    put_specific(event, &mut wire, specific);
    put_extra(output, &mut wire);
    (!wire.is_empty()).then_some(Value::Object(wire))
}

/// Writes a block in the form that most events take: "`{"decision": {"behavior": "block"}, "systemMessage": …}`".
fn put_block(output: &HookOutput, wire: &mut Object) {
    wire.insert("decision".into(), json!({ "behavior": "block" }));
    // decisions.md#blade-observed: "If a block uses `systemMessage` for its reason, messages of other hooks to the user
    // follow the reason".
    put_text(wire, "systemMessage", join([&output.reason, &output.system_message]).as_ref());
}

/// "On `PreToolUse`, what stands in `hookSpecificOutput` stands beside a `permissionDecision`: `allow` where no hook
/// decided." This `allow` grants nothing.
fn put_call(output: &HookOutput, extra: &Object, specific: &mut Object) {
    if output.decision.is_none() && (output.updated.is_some() || !extra.is_empty()) {
        specific.insert(MARK.into(), "allow".into());
    }
    put_decision(output, specific);
}

/// "`additionalContext` always stands beside `updatedOutput`, and is empty there: the context goes into the value."
fn put_result(event: &Event, output: &HookOutput, specific: &mut Object) {
    let context = output.context.as_deref().unwrap_or_default();
    let original = wrapped_result(event);
    // "Context beside a result that is an object comes with that result as a text".
    let emptied = original.filter(|result| !context.is_empty() && (result.is_object() || result.is_array()));
    let Some(value) = output.updated.as_ref().or(emptied) else {
        put_text(specific, "additionalContext", output.context.as_ref());
        return;
    };
    let value = match context {
        "" => value.clone(),
        // decisions.md#blade-observed: "Context is added to a value as in the programs".
        _ => format!("{}\n\n---\n**Hook Context:**\n{context}", as_text(value)).into(),
    };
    let value = if original.is_some() { json!({ "llmContent": value }) } else { value };
    specific.insert("additionalContext".into(), "".into());
    specific.insert("updatedOutput".into(), value);
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Encodes the answer to a prompt. All of stdout becomes part of the prompt, so the answer is as short as possible.
fn prompt(event: &Event, output: &HookOutput) -> Option<Value> {
    let mut wire = Object::new();
    if output.decision == Some(Decision::Deny) {
        put_block(output, &mut wire);
    } else if let Some(updated) = &output.updated {
        let mut specific = Object::new();
        specific.insert("updatedPrompt".into(), updated.clone());
        put_text(&mut specific, "contextInjection", output.context.as_ref());
        put_specific(event, &mut wire, specific);
    } else {
        return plain(output.context.as_deref());
    }
    Some(Value::Object(wire))
}

/// Encodes plain text. "a text that begins like an object gets a line before it", because it would be read as an object.
fn plain(context: Option<&str>) -> Option<Value> {
    let text = context.filter(|text| !text.trim().is_empty())?;
    let line = if text.trim_start().starts_with('{') { "Hook context:\n" } else { "" };
    Some(format!("{line}{text}").into())
}
