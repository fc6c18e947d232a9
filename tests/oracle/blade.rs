//! A second implementation of blade with configured hooks, from `blade.md` and `decisions.md`.

use serde_json::{Value, json};

use crate::outcomes::{Outcome, Said, all, at, effects, fit, joined, output, read, strictest, word};

#[rustfmt::skip]
pub const KNOWN: &[&str] = &["hookSpecificOutput", "continue", "stopReason", "suppressOutput", "systemMessage", "decision",
    "reason", "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "updatedPrompt",
    "updatedOutput", "additionalContext", "contextInjection", "env", "continueReason", "blockCompletion",
    "blockCompaction", "blockReason"];
/// "`PreToolUse` `deny` > `ask` > `allow`; `PermissionRequest` `deny` > `ask` > `approve`."
const ORDER: [&str; 3] = ["deny", "ask", "allow"];
const GATES: [&str; 2] = ["PreToolUse", "PermissionRequest"];
/// An event, its field for a block, the value that blocks, and the field for the reason.
#[rustfmt::skip]
const BLOCKS: [(&str, &str, bool, &str); 5] = [("UserPromptSubmit", "", true, ""),
    ("Stop", "continue", true, "continueReason"), ("SubagentStop", "continue", false, "continueReason"),
    ("TaskCompleted", "blockCompletion", true, "blockReason"), ("Compaction", "blockCompaction", true, "blockReason")];
const REWRITES: [(&str, &str); 3] =
    [("PreToolUse", "updatedInput"), ("UserPromptSubmit", "updatedPrompt"), ("PostToolUse", "updatedOutput")];
const CONTEXT: [&str; 7] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "Stop"];

pub fn verdict(event: &str, outcomes: &[Outcome]) -> Value {
    let blocks = BLOCKS.iter().any(|(name, ..)| *name == event);
    let words = if GATES.contains(&event) { &ORDER[..] } else { &ORDER[..usize::from(blocks)] };
    let read = |o| fit(read(o, !words.is_empty(), |wire| said(event, wire)), words, CONTEXT.contains(&event));
    let hooks: Vec<Said> = outcomes.iter().map(read).collect();
    let (mut top, mut inside) = effects(&hooks);
    let decision = *ORDER.iter().find(|decision| hooks.iter().any(|h| h.decision == **decision)).unwrap_or(&"");
    let reason =
        joined(hooks.iter().filter(|h| !decision.is_empty() && h.decision == decision).map(|h| h.reason.clone()));
    if GATES.contains(&event) && !decision.is_empty() {
        let word = if event == "PermissionRequest" && decision == "allow" { "approve" } else { decision };
        inside.extend([("permissionDecision".into(), word.into()), ("permissionDecisionReason".into(), reason)]);
    } else if let Some((_, field, value, why)) = BLOCKS.iter().find(|(name, ..)| *name == event && decision == "deny") {
        if field.is_empty() {
            top.extend([("decision".into(), "block".into()), ("reason".into(), reason)]);
        } else {
            inside.extend([((*field).into(), json!(value)), ((*why).into(), reason)]);
        }
    }
    // "`updatedInput` needs no `allow`; a `deny` or `ask` from any hook keeps its force"; "last in registration order wins".
    if let Some((_, field)) = REWRITES.iter().find(|(name, _)| *name == event && decision != "deny") {
        let updated = hooks.iter().map(|h| h.updated.clone()).rfind(|u| !u.is_null());
        inside.insert((*field).into(), updated.unwrap_or_default());
    }
    if let (Some(context), "UserPromptSubmit") = (inside.get("additionalContext").cloned(), event) {
        inside.remove("additionalContext");
        inside.insert("contextInjection".into(), context);
    }
    output(event, top, inside)
}

/// Returns `None` if the hook counts as failed.
fn said(event: &str, printed: &Value) -> Option<Said> {
    let (inner, mut said) = (at(printed, "/hookSpecificOutput"), Said::common(event, printed, KNOWN)?);
    // "Event fields live inside `hookSpecificOutput`; they are also accepted at the top level."
    let both = |key: &str| [at(&inner, &format!("/{key}")), at(printed, &format!("/{key}"))];
    let one = |key: &str| both(key).into_iter().find(|value| !value.is_null()).unwrap_or_default();
    let well = |key: &str, is: fn(&Value) -> bool| both(key).iter().all(|value| value.is_null() || is(value));
    let words = ["deny", "ask", if event == "PermissionRequest" { "approve" } else { "allow" }];
    let mut decisions = vec![];
    for (place, top) in [(&inner, false), (printed, true)] {
        if GATES.contains(&event) {
            decisions.push((word(place, "/permissionDecision", &words)?, at(place, "/permissionDecisionReason")));
        }
        if let Some((_, field, value, why)) = BLOCKS.iter().find(|block| block.0 == event && !block.1.is_empty()) {
            // "The generic `continue:false` is the *top-level* one"; "`hookSpecificOutput.continue` is specific to the
            // event".
            let blocks = place[*field] == *value && !(top && *field == "continue");
            decisions.push((if blocks { "deny" } else { "" }, at(place, &format!("/{why}"))));
        }
        // "A deny or ask in the form or position of another event is understood on every event"
        let can_block = GATES.contains(&event) || BLOCKS.iter().any(|block| block.0 == event);
        if can_block && place["decision"]["behavior"] == "deny" {
            let message = at(place, "/decision/message");
            if !(message.is_null() || message.is_string()) {
                return None;
            }
            decisions.push(("deny", message));
            continue;
        }
        if can_block
            && !GATES.contains(&event)
            && ["deny", "ask"].iter().any(|word| place["permissionDecision"] == *word)
        {
            let why = at(place, "/permissionDecisionReason");
            if !(why.is_null() || why.is_string()) {
                return None;
            }
            decisions.push((word(place, "/permissionDecision", &["deny", "ask"])?, why));
        }
        decisions.push((word(place, "/decision", &["block"])?, at(place, "/reason")));
    }
    (said.decision, said.reason) = strictest(&ORDER, &decisions);
    if said.reason.is_null() && !said.decision.is_empty() {
        // A reason without a decision beside it.
        let mut lone = decisions.into_iter().filter(|(decision, _)| decision.is_empty()).map(|(_, reason)| reason);
        said.reason = lone.find(|reason| !reason.is_null()).unwrap_or_default();
    }
    said.context = joined([one("contextInjection"), one("additionalContext")]);
    said.updated = REWRITES.iter().find(|(name, _)| *name == event).map(|(_, field)| one(field)).unwrap_or_default();
    said.env = one(if event == "SessionStart" { "env" } else { "-" }).as_object().cloned().unwrap_or_default();
    let typed = all(&inner, &["/reason"], Value::is_string)
        && well("additionalContext", Value::is_string)
        && (!GATES.contains(&event) || well("permissionDecisionReason", Value::is_string))
        && (event != "PreToolUse" || well("updatedInput", Value::is_object))
        && (event != "UserPromptSubmit" || well("updatedPrompt", Value::is_string));
    typed.then_some(said)
}
