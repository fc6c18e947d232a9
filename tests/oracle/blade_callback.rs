//! blade-callback, read off `blade-callback.md` and `decisions.md` once more: a chain that ends at the first
//! `skip` or `abort`, and a permission callback beside it.

use serde_json::{Value, json};

use crate::outcomes::{FAILED, Outcome, all, at};

const BLOCKABLE: [&str; 3] = ["UserPromptSubmit", "PreToolUse", "PermissionRequest"];

pub fn verdict(event: &str, outcomes: &[Outcome]) -> Value {
    if event == "canUseTool" {
        return can_use_tool(outcomes.first());
    }
    // "`modifiedInput` counts only on PreToolUse, `modifiedOutput` only on PostToolUse."
    let key = match event {
        "PreToolUse" => Some("modifiedInput"),
        "PostToolUse" => Some("modifiedOutput"),
        _ => None,
    };
    let mut verdict = json!({ "action": "continue" });
    for outcome in outcomes {
        let printed = match outcome {
            // A command that blocks keeps the call from happening, as `skip` does.
            Outcome::Blocked(reason) => json!({ "action": "skip", "reason": reason }),
            // "A hook that throws, traps or times out is logged and treated as `continue` with no change."
            // "`deny` blocks where the event can be blocked and is otherwise recorded only."
            Outcome::Failed(policy) if *policy == "ignore" || !BLOCKABLE.contains(&event) => continue,
            Outcome::Failed(_) => json!({ "action": "skip", "reason": FAILED }),
            Outcome::Printed(printed) => printed.clone(),
        };
        let words = [Value::Null, "continue".into(), "skip".into(), "abort".into()];
        if !words.contains(&at(&printed, "/action")) || !all(&printed, &["/reason"], Value::is_string) {
            continue;
        }
        // "the first `skip`/`abort` ends the chain and is the result"
        if words[2..].contains(&printed["action"]) {
            let mut result = json!({ "action": printed["action"] });
            if let Some(reason) = printed.get("reason").filter(|reason| !reason.is_null()) {
                result["reason"] = reason.clone();
            }
            return result;
        }
        if let Some(changed) = key.and_then(|key| printed.get(key)).filter(|changed| !changed.is_null()) {
            verdict[key.unwrap()] = changed.clone();
        }
    }
    verdict
}

/// "`allow(updatedInput?)`, `deny(message, interrupt?)`, `ask`."
fn can_use_tool(outcome: Option<&Outcome>) -> Value {
    let ask = json!({ "behavior": "ask" });
    let printed = match outcome {
        Some(Outcome::Blocked(reason)) => json!({ "behavior": "deny", "message": reason }),
        Some(Outcome::Failed("deny")) => json!({ "behavior": "deny", "message": FAILED }),
        None | Some(Outcome::Failed(_)) => return ask,
        Some(Outcome::Printed(printed)) => printed.clone(),
    };
    let well = all(&printed, &["/message"], Value::is_string)
        && all(&printed, &["/interrupt"], Value::is_boolean)
        && all(&printed, &["/updatedInput"], Value::is_object);
    match printed["behavior"].as_str() {
        Some("allow") if well => match at(&printed, "/updatedInput") {
            Value::Null => json!({ "behavior": "allow" }),
            updated => json!({ "behavior": "allow", "updatedInput": updated }),
        },
        Some("deny") if well => {
            let message = at(&printed, "/message");
            let message = if message.is_null() { "denied by a hook".into() } else { message };
            let mut verdict = json!({ "behavior": "deny", "message": message });
            if printed["interrupt"] == true {
                verdict["interrupt"] = true.into();
            }
            verdict
        }
        _ => ask,
    }
}
