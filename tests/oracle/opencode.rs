//! A second implementation of opencode, from `opencode.md` and `decisions.md`. It works on JSON values and prefers
//! simplicity to speed.

use serde_json::{Value, json};

use crate::outcomes::{Outcome, Said, all, at, effects, joined, output, read, word};

#[rustfmt::skip]
pub const KNOWN: &[&str] = &["hookSpecificOutput", "continue", "stopReason", "suppressOutput", "systemMessage", "decision",
    "reason", "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext",
    "updatedToolOutput", "updatedPrompt"];

/// Returns the field of an event's rewrite. If it is empty, the event cannot be blocked either.
fn rewrite(event: &str) -> &'static str {
    match event {
        "PreToolUse" => "updatedInput",
        "PostToolUse" => "updatedToolOutput",
        "UserPromptSubmit" => "updatedPrompt",
        _ => "",
    }
}

pub fn verdict(event: &str, outcomes: &[Outcome]) -> Value {
    let (key, gate) = (rewrite(event), !rewrite(event).is_empty());
    let takes_context = gate || event == "SessionStart";
    let mut hooks: Vec<Said> = outcomes.iter().map(|o| read(o, gate, |wire| said(event, wire))).collect();
    for hook in &mut hooks {
        // The reason of an `allow` is not a reason to deny.
        if hook.decision == "allow" {
            hook.reason = Value::Null;
        }
        // "`allow` has no effect"; "`ask` is a denial"; "`continue: false` is a denial where the event can be blocked."
        if hook.halts && gate {
            hook.reason = if hook.halt_reason.is_null() { hook.reason.take() } else { hook.halt_reason.take() };
        }
        let denies = ["deny", "ask"].contains(&hook.decision);
        if denies && !gate {
            hook.context = joined([hook.context.take(), hook.reason.take()]);
        }
        hook.decision = if gate && (denies || hook.halts) { "deny" } else { "" };
        (hook.halts, hook.suppresses, hook.message) = (false, false, Value::Null);
        if !takes_context {
            hook.context = Value::Null;
        }
    }
    let (mut top, mut inside) = effects(&hooks);
    let deniers = || hooks.iter().filter(|hook| hook.decision == "deny");
    if deniers().next().is_some() {
        let reason = joined(deniers().map(|hook| hook.reason.clone()));
        let (to, names) = match event {
            "PreToolUse" => (&mut inside, ["permissionDecision", "permissionDecisionReason"]),
            _ => (&mut top, ["decision", "reason"]),
        };
        to.insert(names[0].into(), if event == "PreToolUse" { "deny" } else { "block" }.into());
        to.insert(names[1].into(), reason);
    } else if let Some(last) = hooks.iter().map(|hook| &hook.updated).rfind(|updated| !updated.is_null()) {
        inside.insert(key.into(), last.clone());
    }
    output(event, top, inside)
}

fn said(event: &str, wire: &Value) -> Option<Said> {
    let mut said = Said::common(event, wire, KNOWN)?;
    let inner = at(wire, "/hookSpecificOutput");
    let top = word(wire, "/decision", &["block"])?;
    let own = word(&inner, "/permissionDecision", &["deny", "ask", "allow"])?;
    let reasons = [(top, at(wire, "/reason")), (own, at(&inner, "/permissionDecisionReason"))];
    (said.decision, said.reason) = crate::outcomes::strictest(&["deny", "ask", "allow"], &reasons);
    let well = all(&inner, &["/permissionDecisionReason"], Value::is_string)
        && (event != "PreToolUse" || all(&inner, &["/updatedInput"], Value::is_object))
        && (event != "UserPromptSubmit" || all(&inner, &["/updatedPrompt"], Value::is_string));
    said.updated = if rewrite(event).is_empty() { json!(null) } else { at(&inner, &format!("/{}", rewrite(event))) };
    well.then_some(said)
}
