//! A second implementation of picoclaw, from `picoclaw.md` and `decisions.md`: messages, with one chain per request.

use serde_json::{Value, json};

use crate::outcomes::{FAILED, Outcome, at};

/// Returns the reply to a request after these hooks, in order.
pub fn verdict(request: &Value, outcomes: &[Outcome]) -> Value {
    let method = request["method"].as_str().unwrap();
    let result = if method == "hook.approve_tool" { approve(outcomes) } else { intercept(method, request, outcomes) };
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })
}

/// "the first `approved:false` wins and its reason is returned; all must approve … an approver that errors, times out or
/// crashes has denied (fail-closed)."
fn approve(outcomes: &[Outcome]) -> Value {
    for outcome in outcomes {
        let reason = match outcome {
            Outcome::Blocked(reason) => json!(reason),
            Outcome::Failed(_) => FAILED.into(),
            Outcome::Printed(printed) if printed["approved"] == true => continue,
            Outcome::Printed(printed) if at(printed, "/approved").is_string() => FAILED.into(),
            // "`approve_tool` answered with `{}` or an action means *denied*."
            Outcome::Printed(printed) => at(printed, "/reason"),
        };
        let mut denied = json!({ "approved": false });
        if reason.is_string() {
            denied["reason"] = reason;
        }
        return denied;
    }
    json!({ "approved": true })
}

fn intercept(method: &str, request: &Value, outcomes: &[Outcome]) -> Value {
    // The object that `modify` replaces, and its fields in the request.
    let (key, fields): (&str, &[&str]) = match method {
        "hook.before_llm" => ("request", &["model", "messages", "tools", "options"]),
        "hook.after_llm" => ("response", &["model", "response"]),
        "hook.before_tool" => ("call", &["tool", "arguments"]),
        _ => ("result", &["result"]),
    };
    let original: Value = fields.iter().map(|f| ((*f).to_owned(), request["params"][*f].clone())).collect();
    let mut seen = original.clone();
    for outcome in outcomes {
        let printed = match outcome {
            Outcome::Blocked(reason) if method == "hook.before_tool" => {
                json!({ "action": "deny_tool", "reason": reason })
            }
            Outcome::Failed("deny" | "ask") if method == "hook.before_tool" => {
                json!({ "action": "deny_tool", "reason": FAILED })
            }
            // A method without a denial ends the turn.
            Outcome::Blocked(reason) => json!({ "action": "abort_turn", "reason": reason }),
            Outcome::Failed("deny" | "ask") => json!({ "action": "abort_turn", "reason": FAILED }),
            // "An interceptor that errors or times out is skipped (fail-open)".
            Outcome::Failed(_) => continue,
            Outcome::Printed(printed) => printed.clone(),
        };
        let action = printed["action"].as_str().unwrap_or("continue");
        match action {
            "deny_tool" | "respond" if method != "hook.before_tool" => {}
            "deny_tool" | "abort_turn" | "hard_abort" => {
                let mut verdict = json!({ "action": action });
                if printed["reason"].is_string() {
                    verdict["reason"] = printed["reason"].clone();
                }
                return verdict;
            }
            // "always emit the complete object": fields that a hook leaves out keep their value. A `respond` without a
            // result is a failed hook.
            "respond" if !printed["result"].is_object() => {}
            "modify" | "respond" => {
                let changes = printed[key].as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
                let gives_call = changes.clone().next().is_some();
                changes.for_each(|(field, value)| seen[field.as_str()] = value.clone());
                if action == "respond" {
                    // decisions.md#outputs: "`null` counts as absent, and is never printed."
                    let mut result = printed["result"].clone();
                    result.as_object_mut().unwrap().retain(|_, value| !value.is_null());
                    let mut verdict = json!({ "action": "respond", "result": result });
                    // decisions.md#picoclaw: "A `respond` contains the call as rewritten by the hooks before it."
                    if gives_call || seen != original {
                        verdict["call"] = seen;
                    }
                    return verdict;
                }
            }
            _ => {}
        }
    }
    // "Never echo a large body back when `continue` says the same."
    if seen == original { json!({ "action": "continue" }) } else { json!({ "action": "modify", key: seen }) }
}
