//! The verdict as the client reads it.

use serde_json::{Value, json};

use crate::{
    answer::{Answer, Rule},
    dialect::common::{MARK, put_common, put_decision, put_extra, put_specific, put_text, specific_extra},
    event::{Event, Kind},
    json::Object,
};

pub(super) fn encode(event: &Event, answer: &Answer) -> Value {
    if event.kind() == Kind::CanUseTool {
        return callback(answer);
    }
    let (mut wire, mut specific) = (Object::new(), Object::new());
    put_common(answer, &mut wire);
    let denied = answer.rule == Some(Rule::Deny);
    let extra = specific_extra(answer);
    match event.kind() {
        Kind::PreToolUse => put_decision(answer, &mut specific),
        Kind::PermissionRequest => {
            put_decision(answer, &mut specific);
            // blade-config.md: "`permissionDecision` | 'approve' | 'deny' | 'ask'": here the word is another.
            if answer.rule == Some(Rule::Allow) {
                specific.insert(MARK.into(), "approve".into());
            }
        }
        // decisions.md: "`Stop` blocks the stop on `true`, `SubagentStop` blocks the stop on `false`."
        Kind::Stop if denied => block(&mut specific, ("continue", true), "continueReason", answer),
        Kind::SubagentStop if denied => block(&mut specific, ("continue", false), "continueReason", answer),
        Kind::TaskCompleted if denied => block(&mut specific, ("blockCompletion", true), "blockReason", answer),
        Kind::PreCompact if denied => block(&mut specific, ("blockCompaction", true), "blockReason", answer),
        // In the form in which the hooks said it: which form the event has, only they knew.
        Kind::OtherEvent if extra.contains_key(MARK) => put_decision(answer, &mut specific),
        // blade-config.md: "{"decision": "block", "reason": …}", at the top as its example has it.
        _ if denied => {
            wire.insert("decision".into(), "block".into());
            put_text(&mut wire, "reason", answer.reason.as_ref());
        }
        _ => {}
    }
    put_rest(event.kind(), answer, &mut specific);
    for (key, value) in extra.into_iter().filter(|(key, _)| key != MARK) {
        specific.entry(key).or_insert(value);
    }
    put_specific(event, &mut wire, specific);
    put_extra(answer, &mut wire);
    Value::Object(wire)
}

fn block(specific: &mut Object, (key, value): (&str, bool), reason: &str, answer: &Answer) {
    specific.insert(key.into(), value.into());
    put_text(specific, reason, answer.reason.as_ref());
}

/// Everything but the decision.
fn put_rest(kind: Kind, answer: &Answer, specific: &mut Object) {
    let rewrite = match kind {
        Kind::UserPromptSubmit => Some("updatedPrompt"),
        Kind::PostToolUse => Some("updatedOutput"),
        _ => None,
    };
    if let (Some(key), Some(updated)) = (rewrite, &answer.updated) {
        specific.insert(key.into(), updated.clone());
    }
    // blade-config.md: prompts have "`contextInjection` | 注入到上下文的内容" (injected into the context).
    let context = if kind == Kind::UserPromptSubmit { "contextInjection" } else { "additionalContext" };
    put_text(specific, context, answer.context.as_ref());
    if !answer.env.is_empty() {
        specific.insert("env".into(), json!(answer.env));
    }
}

/// blade-config.md: "{ behavior: 'allow' }", "{ behavior: 'deny', message: … }". When nobody says anything the client's
/// own flow asks.
fn callback(answer: &Answer) -> Value {
    let mut wire = Object::new();
    let behavior = match answer.rule {
        Some(Rule::Allow) => "allow",
        Some(Rule::Deny) => "deny",
        _ => "ask",
    };
    wire.insert("behavior".into(), behavior.into());
    put_text(&mut wire, "message", answer.reason.as_ref());
    if let Some(updated) = &answer.updated {
        wire.insert("updatedInput".into(), updated.clone());
    }
    if answer.interrupt {
        wire.insert("interrupt".into(), true.into());
    }
    put_extra(answer, &mut wire);
    Value::Object(wire)
}
