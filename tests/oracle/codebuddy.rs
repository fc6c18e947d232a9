//! A second implementation of codebuddy, from `codebuddy.md` and `decisions.md`.

use serde_json::{Value, json};

use crate::outcomes::{Outcome, Said, all, at, denied_elsewhere, effects, fit, joined, output, read, strictest, word};

#[rustfmt::skip]
pub const KNOWN: &[&str] = &["hookSpecificOutput", "continue", "continue_", "stopReason", "suppressOutput", "systemMessage",
    "decision", "reason", "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput",
    "additionalContext"];
const WORDS: [&str; 3] = ["deny", "ask", "allow"];

pub fn verdict(observed: bool, event: &str, outcomes: &[Outcome]) -> Value {
    // "`decision` | 'block'" is the seed's only word, and every event can be blocked.
    let words = if observed && event == "PreToolUse" { &WORDS[..] } else { &["deny"] };
    let context = ["PreToolUse", "PostToolUse", "UserPromptSubmit"].contains(&event);
    let read = |outcome| fit(read(outcome, true, |wire| said(event, wire)), words, context);
    let hooks: Vec<Said> = outcomes.iter().map(read).collect();
    let (mut top, mut inside) = effects(&hooks);
    // "`decision:"block"` from any hook blocks; reasons joined in order." Otherwise "the *last* hook in configuration
    // order wins there".
    let denials: Vec<Value> = hooks.iter().filter(|h| h.decision == "deny").map(|h| h.reason.clone()).collect();
    let blocked = !denials.is_empty();
    let last = hooks.iter().rfind(|h| !h.decision.is_empty());
    let (decision, reason) = match last {
        _ if blocked => ("deny", joined(denials)),
        Some(last) => (last.decision, last.reason.clone()),
        None => ("", Value::Null),
    };
    if blocked {
        top.extend([("decision".into(), "block".into()), ("reason".into(), reason.clone())]);
    }
    // "Its current output for a blocked tool is `hookSpecificOutput.permissionDecision`; emit both".
    if event == "PreToolUse" {
        inside.insert("permissionDecision".into(), json!((!decision.is_empty()).then_some(decision)));
        inside.insert("permissionDecisionReason".into(), if decision.is_empty() { Value::Null } else { reason });
        // "last `updatedInput` in order wins, dropped if anything blocks"
        let updated = hooks.iter().map(|h| h.updated.clone()).rfind(|u| !u.is_null() && !blocked);
        inside.insert("updatedInput".into(), updated.unwrap_or_default());
    }
    output(event, top, inside)
}

/// Returns `None` if the hook counts as failed.
fn said(event: &str, printed: &Value) -> Option<Said> {
    let (inner, mut said) = (at(printed, "/hookSpecificOutput"), Said::common(event, printed, KNOWN)?);
    let well = all(printed, &["/continue_"], Value::is_boolean)
        && all(&inner, &["/permissionDecisionReason"], Value::is_string)
        && (event != "PreToolUse" || all(&inner, &["/updatedInput"], Value::is_object));
    // "`continue_` is the Python spelling of the same field".
    if at(printed, "/continue_") == false {
        (said.halts, said.halt_reason) = (true, at(printed, "/stopReason"));
    }
    let words = [
        (word(printed, "/decision", &["block"])?, at(printed, "/reason")),
        (word(&inner, "/permissionDecision", &WORDS)?, at(&inner, "/permissionDecisionReason")),
        // The reason may be at another place than the decision.
        (word(&inner, "/permissionDecision", &WORDS)?, at(printed, "/reason")),
        denied_elsewhere(&inner)?,
    ];
    (said.decision, said.reason) = strictest(&WORDS, &words);
    said.updated = if event == "PreToolUse" { at(&inner, "/updatedInput") } else { Value::Null };
    well.then_some(said)
}
