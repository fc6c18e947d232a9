//! A second implementation of claude, from `claude.md` and `decisions.md`. It works on JSON values and prefers
//! simplicity to speed.

use serde_json::{Value, json};

use crate::outcomes::{Outcome, Said, all, at, denied_elsewhere, effects, fit, joined, output, read, strictest, word};

#[rustfmt::skip]
pub const KNOWN: &[&str] = &["hookSpecificOutput", "continue", "stopReason", "suppressOutput", "systemMessage", "decision",
    "reason", "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext",
    "updatedToolOutput", "updatedMCPToolOutput"];
const ORDER: [&str; 4] = ["deny", "defer", "ask", "allow"];
const GATES: [&str; 3] = ["PreToolUse", "PermissionRequest", "PreModelSwitch"];
const BLOCKS: [&str; 5] = ["PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact"];

pub fn verdict(observed: bool, event: &str, outcomes: &[Outcome]) -> Value {
    let words = match event {
        "PreToolUse" => &ORDER[..],
        _ if GATES.contains(&event) => &["deny", "ask", "allow"],
        _ if BLOCKS.contains(&event) => &["deny"],
        _ => &[],
    };
    let context = !["PreCompact", "PermissionRequest", "SessionEnd"].contains(&event);
    let read = |outcome| fit(read(outcome, !words.is_empty(), |wire| said(observed, event, wire)), words, context);
    let hooks: Vec<Said> = outcomes.iter().map(read).collect();
    let (mut top, mut inside) = effects(&hooks);
    let decision = ORDER.into_iter().find(|decision| hooks.iter().any(|h| h.decision == *decision)).unwrap_or_default();
    let winners = || hooks.iter().filter(|h| !decision.is_empty() && h.decision == decision);
    let reason = joined(winners().map(|h| h.reason.clone()));
    let applying = hooks.iter().filter(|h| match event {
        "PostToolUse" => true,
        "PreToolUse" if observed => decision != "deny",
        _ => h.decision == "allow" && decision == "allow",
    });
    let updated = applying.map(|h| h.updated.clone()).rfind(|u| !u.is_null()).unwrap_or_default();
    let interrupt = winners().any(|h| h.interrupts).then_some(true);
    let permissions: Vec<_> = winners().filter_map(|h| h.permissions.as_array()).flatten().collect();
    let permissions = (!permissions.is_empty()).then_some(permissions);
    let answered = match decision {
        "allow" => json!({ "behavior": "allow", "updatedInput": updated, "updatedPermissions": permissions }),
        "deny" => json!({ "behavior": "deny", "message": reason, "interrupt": interrupt }),
        _ => Value::Null,
    };
    if event == "PermissionRequest" {
        inside.insert("decision".into(), answered);
    } else if event == "PreToolUse" || hooks.iter().any(|h| h.in_form && event == "PreModelSwitch") {
        inside.insert("permissionDecision".into(), json!((!decision.is_empty()).then_some(decision)));
        inside.extend([("permissionDecisionReason".into(), reason), ("updatedInput".into(), updated)]);
    } else {
        top.insert("decision".into(), json!((!decision.is_empty()).then_some("block")));
        top.insert("reason".into(), reason);
        inside.insert("updatedToolOutput".into(), updated);
    }
    output(event, top, inside)
}

/// Returns `None` if the hook counts as failed.
fn said(observed: bool, event: &str, printed: &Value) -> Option<Said> {
    let (inner, mut said) = (at(printed, "/hookSpecificOutput"), Said::common(event, printed, KNOWN)?);
    let dialog = event == "PermissionRequest";
    let own = if dialog { at(&inner, "/decision") } else { Value::Null };
    let rewrites = if dialog || event == "PreToolUse" { at(&inner, "/updatedInput") } else { Value::Null };
    let well = all(&inner, &["/permissionDecisionReason"], Value::is_string)
        && all(&json!([rewrites, own, at(&own, "/updatedInput")]), &["/0", "/1", "/2"], Value::is_object);
    let old = if observed && event == "PreToolUse" { &["block", "approve"][..] } else { &["block"] };
    let new = if observed { &ORDER[..] } else { &["deny", "ask", "allow"] };
    let words = [
        (word(printed, "/decision", old)?, at(printed, "/reason")),
        (word(&inner, "/permissionDecision", new)?, at(&inner, "/permissionDecisionReason")),
        (word(&own, "/behavior", &["deny", "allow"])?, at(&own, "/message")),
        if dialog { ("", Value::Null) } else { denied_elsewhere(&inner)? },
    ];
    (said.decision, said.reason) = strictest(&ORDER, &words);
    said.in_form = !words[1].0.is_empty();
    said.interrupts = at(&own, "/interrupt") == true;
    said.permissions = at(&own, "/updatedPermissions");
    let places = match event {
        "PostToolUse" => vec![at(&inner, "/updatedToolOutput"), at(&inner, "/updatedMCPToolOutput")],
        _ => vec![at(&own, "/updatedInput"), rewrites],
    };
    said.updated = places.into_iter().find(|u| !u.is_null()).unwrap_or_default();
    well.then_some(said)
}
