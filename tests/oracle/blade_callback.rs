//! A second implementation of blade-callback, from `blade-callback.md`, `blade-observed.md` and `decisions.md`: a chain
//! that ends at the first `skip` or `abort`, and a permission callback.

use serde_json::{Value, json};

use crate::outcomes::{FAILED, OURS, Outcome, all, at};

const BLOCKABLE: [&str; 3] = ["UserPromptSubmit", "PreToolUse", "PermissionRequest"];

pub fn verdict(observed: bool, wire: &Value, outcomes: &[Outcome]) -> Value {
    let event = wire["event"].as_str().unwrap();
    if event == "canUseTool" {
        return can_use_tool(observed, outcomes.first());
    }
    // "`modifiedInput` counts only on PreToolUse, `modifiedOutput` only on PostToolUse", and on a prompt and a failure
    // they "are rewrites that the document cannot say, so they block".
    let key = match event {
        "PreToolUse" | "UserPromptSubmit" => Some("modifiedInput"),
        "PostToolUse" | "PostToolUseFailure" => Some("modifiedOutput"),
        _ => None,
    };
    let lost = !observed && ["UserPromptSubmit", "PostToolUseFailure"].contains(&event);
    // "A block is `skip` on `PreToolUse` and `PermissionRequest`, and `abort` on every other event."
    let block = if observed && !["PreToolUse", "PermissionRequest"].contains(&event) { "abort" } else { "skip" };
    let mut verdict = json!({ "action": "continue" });
    for outcome in outcomes {
        let printed = match outcome {
            // A command that blocks prevents the call, like `skip`.
            Outcome::Blocked(reason) => json!({ "action": block, "reason": reason }),
            // "A hook that throws, traps or times out is logged and treated as `continue` with no change."
            // "`deny` blocks where the event can be blocked and is otherwise recorded only."
            Outcome::Failed(policy) if *policy == "ignore" || !(observed || BLOCKABLE.contains(&event)) => continue,
            Outcome::Failed(_) => json!({ "action": block, "reason": FAILED }),
            Outcome::Printed(printed) => printed.clone(),
        };
        let words = [Value::Null, "continue".into(), "skip".into(), "abort".into()];
        if !words.contains(&at(&printed, "/action")) || !all(&printed, &["/reason"], Value::is_string) {
            continue;
        }
        // "the first `skip`/`abort` ends the chain and is the result"
        if words[2..].contains(&printed["action"]) {
            let action = if printed["action"] == "skip" { block.into() } else { printed["action"].clone() };
            let mut result = json!({ "action": action });
            if let Some(reason) = printed.get("reason").filter(|reason| !reason.is_null()) {
                result["reason"] = reason.clone();
            }
            return result;
        }
        if let Some(changed) = key.and_then(|key| printed.get(key)).filter(|changed| !changed.is_null()) {
            let mut changed = changed.clone();
            if event == "UserPromptSubmit" {
                // "`modifiedInput` on `UserPromptSubmit` is `{"userPrompt": …}`; from hooks it may be the text alone."
                let prompt = if changed.is_string() { changed } else { changed["userPrompt"].take() };
                if !prompt.is_string() {
                    continue;
                }
                changed = json!({ "userPrompt": prompt });
            }
            if lost {
                return json!({ "action": "skip", "reason": OURS });
            }
            verdict[key.unwrap()] = changed;
        }
    }
    // "A rewrite that takes keys away cannot be said: it is a refusal."
    let (input, changed) = (wire["toolInput"].as_object(), verdict.get("modifiedInput"));
    if let (true, "PreToolUse", Some(input), Some(changed)) = (observed, event, input, changed)
        && input.keys().any(|key| changed.get(key).is_none())
    {
        return json!({ "action": "skip", "reason": OURS });
    }
    verdict
}

/// "`allow(updatedInput?)`, `deny(message, interrupt?)`, `ask`."
fn can_use_tool(observed: bool, outcome: Option<&Outcome>) -> Value {
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
            // "`allow` with `updatedInput` would run the original call: it is a denial."
            _ if observed => {
                json!({ "behavior": "deny", "message": OURS })
            }
            updated => json!({ "behavior": "allow", "updatedInput": updated }),
        },
        Some("deny") if well => {
            let message = at(&printed, "/message");
            let message = if message.is_null() { OURS.into() } else { message };
            let mut verdict = json!({ "behavior": "deny", "message": message });
            if printed["interrupt"] == true {
                verdict["interrupt"] = true.into();
            }
            verdict
        }
        _ => ask,
    }
}
