//! A second implementation of codex, from `codex.md` and `decisions.md`. It works on JSON values and prefers simplicity
//! to speed.

use serde_json::{Map, Value, json};

use crate::outcomes::{OURS, Outcome, Said, at, fit, joined, output, read, strictest, word};

const COMMON: [&str; 4] = ["continue", "stopReason", "suppressOutput", "systemMessage"];
const BLOCKS: [&str; 5] = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"];
/// Events on which a halt becomes a denial.
const HALT_DENIES: [&str; 4] = ["PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit"];
/// Events that can halt.
const HALTS: [&str; 5] = ["SessionStart", "Stop", "SubagentStop", "PreCompact", "PreNap"];
/// Events on which a denial becomes a halt.
const DENY_HALTS: [&str; 3] = ["SessionStart", "PreCompact", "PreNap"];
const WATCHED: [&str; 5] = ["SessionEnd", "PostCompact", "Interrupt", "PreModelRequest", "PostModelRequest"];

pub fn verdict(event: &Value, outcomes: &[Outcome]) -> Value {
    let name = event["hook_event_name"].as_str().unwrap();
    let hooks: Vec<Said> = outcomes.iter().map(|outcome| sayable(name, event, outcome)).collect();
    let denials = joined(hooks.iter().filter(|h| h.decision == "deny").map(|h| h.reason.clone()));
    let mut denied = hooks.iter().any(|h| h.decision == "deny");
    let last =
        |ok: fn(&Said) -> bool| hooks.iter().filter(|h| ok(h)).map(|h| h.updated.clone()).rfind(|u| !u.is_null());
    let mut reason = denials;
    if let (false, "PostToolUse", Some(new)) = (denied, name, last(|_| true)) {
        (denied, reason) = (true, new.as_str().map_or_else(|| json!(new.to_string()), |text| json!(text)));
    }
    if reason.as_str().is_none_or(|text| text.trim().is_empty()) {
        reason = OURS.into();
    }
    let (mut top, mut inside) = (Map::new(), Map::new());
    let halt = hooks.iter().map(|h| h.halt_reason.clone()).find(|r| !r.is_null());
    top.insert("continue".into(), if hooks.iter().any(|h| h.halts) { json!(false) } else { Value::Null });
    let messages = hooks.iter().map(|h| h.message.clone()).chain(halt);
    top.insert("systemMessage".into(), if WATCHED.contains(&name) { Value::Null } else { joined(messages) });
    inside.insert("additionalContext".into(), joined(hooks.iter().map(|h| h.context.clone())));
    match (name, denied) {
        ("PreToolUse", true) => {
            inside.extend([("permissionDecision".into(), "deny".into()), ("permissionDecisionReason".into(), reason)]);
        }
        ("PreToolUse", false) => {
            if let Some(new) = last(|h| h.decision == "allow") {
                inside.extend([("permissionDecision".into(), "allow".into()), ("updatedInput".into(), new)]);
            }
        }
        ("PermissionRequest", true) => {
            inside.insert("decision".into(), json!({ "behavior": "deny", "message": reason }));
        }
        ("PermissionRequest", false) if hooks.iter().any(|h| h.decision == "allow") => {
            inside.insert("decision".into(), json!({ "behavior": "allow" }));
        }
        (_, true) => top.extend([("decision".into(), "block".into()), ("reason".into(), reason)]),
        _ => {}
    }
    output(name, top, inside)
}

fn sayable(name: &str, event: &Value, outcome: &Outcome) -> Said {
    let words: &[_] = match name {
        "PreToolUse" | "PermissionRequest" => &["allow", "deny"],
        _ if BLOCKS.contains(&name) => &["deny"],
        _ => &[],
    };
    // "Exit code 2 … blocks nothing" on these events.
    if let (true, Outcome::Blocked(_)) = (words.is_empty(), outcome) {
        return Said::default();
    }
    let blockable = !words.is_empty() || DENY_HALTS.contains(&name);
    let mut hook = read(outcome, blockable, |wire| said(name, event, wire));
    if DENY_HALTS.contains(&name) && ["deny", "ask"].contains(&hook.decision) {
        let reason = hook.reason.take();
        (hook.decision, hook.halt_reason) = ("", if hook.halts { hook.halt_reason } else { reason });
        hook.halts = true;
    }
    if HALT_DENIES.contains(&name) && hook.halts {
        (hook.decision, hook.halts) = ("deny", false);
        hook.reason = [hook.halt_reason.take(), hook.reason].into_iter().find(|r| !r.is_null()).unwrap_or_default();
    }
    let context = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStart"];
    fit(hook, words, context.contains(&name))
}

/// Returns `None` if Codex rejects or ignores the output.
fn said(name: &str, event: &Value, printed: &Value) -> Option<Said> {
    let inner = at(printed, "/hookSpecificOutput");
    let own: &[_] = match name {
        "PreToolUse" => &["permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"],
        "PermissionRequest" => &["decision"],
        "PostToolUse" => &["additionalContext", "updatedToolOutput", "updatedMCPToolOutput"],
        "UserPromptSubmit" | "SessionStart" | "SubagentStart" => &["additionalContext"],
        _ => &[],
    };
    let only =
        |of: &Value, keys: &[&[&str]]| of.as_object().is_none_or(|o| o.keys().all(|k| keys.concat().contains(&&**k)));
    let texts = |of: &Value, keys: &[&str]| keys.iter().all(|key| of[key].is_null() || of[key].is_string());
    let flags = |of: &Value, keys: &[&str]| keys.iter().all(|key| of.get(key).is_none_or(Value::is_boolean));
    let (dialog, blank) = (at(&inner, "/decision"), |text: &Value| text.as_str().is_none_or(|t| t.trim().is_empty()));
    let top: &[_] = if BLOCKS.contains(&name) { &["decision", "reason"] } else { &[] };
    let specific: &[_] = if own.is_empty() { &[] } else { &["hookSpecificOutput"] };
    let block = word(printed, "/decision", &["block"])?;
    let rule = word(&inner, "/permissionDecision", &["allow", "deny"])?;
    let behavior = word(&dialog, "/behavior", &["allow", "deny"])?;
    let (reason, why, new) = (&printed["reason"], &inner["permissionDecisionReason"], &inner["updatedInput"]);
    let (halts, output) = (printed["continue"] == false, [&inner["updatedToolOutput"], &inner["updatedMCPToolOutput"]]);
    let strict = ["PreToolUse", "PermissionRequest"].contains(&name);
    let well = only(printed, &[&COMMON, top, specific])
        && flags(printed, &["continue", "suppressOutput"])
        && texts(printed, &["stopReason", "systemMessage", "reason"])
        && (inner.is_null() || inner.is_object() && inner["hookEventName"].is_string())
        && only(&inner, &[&["hookEventName"], own])
        && texts(&inner, &["permissionDecisionReason", "additionalContext"])
        && !(strict && (halts || !printed["stopReason"].is_null() || printed["suppressOutput"] == true))
        && !(name == "PostToolUse" && printed["suppressOutput"] == true)
        && !(halts && !HALTS.contains(&name) && !HALT_DENIES.contains(&name))
        && !(block == "deny" && blank(reason))
        && !(block.is_empty() && !reason.is_null() && (name == "PreToolUse" || name == "PostToolUse" && !halts))
        && !(rule == "deny" && blank(why) || rule.is_empty() && !why.is_null() || (rule == "allow") == new.is_null())
        && (dialog.is_null() || dialog.is_object() && !behavior.is_empty() && texts(&dialog, &["message"]))
        && only(&dialog, &[&["behavior", "message", "interrupt", "updatedInput", "updatedPermissions"]])
        && dialog["updatedInput"].is_null()
        && dialog["updatedPermissions"].is_null()
        && [Value::Null, false.into()].contains(&dialog["interrupt"])
        && (output.iter().all(|o| o.is_null()) || event["tool_name"].as_str()?.starts_with("mcp__"));
    let order = ["deny", "allow"];
    let said = [(block, reason.clone()), (rule, why.clone()), (behavior, dialog["message"].clone())];
    let (rule, reason) = strictest(&order, &said);
    well.then(|| Said {
        decision: rule,
        reason,
        updated: [new, output[0], output[1]].into_iter().find(|u| !u.is_null()).cloned().unwrap_or_default(),
        context: inner["additionalContext"].clone(),
        message: printed["systemMessage"].clone(),
        halts,
        halt_reason: if halts { printed["stopReason"].clone() } else { Value::Null },
        ..Said::default()
    })
}
