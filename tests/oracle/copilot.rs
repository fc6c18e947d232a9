//! A second implementation of copilot, from `copilot.md` and `decisions.md`. It works on JSON values and prefers
//! simplicity to speed. The dialect chains, and every event has its own top-level fields.

use serde_json::{Map, Value, json};

use crate::outcomes::{FAILED, Outcome, Said, all, at, joined, strictest, unknown, word};

/// The fields that have an effect on some event, and the other fields that the client knows.
#[rustfmt::skip]
const SAYS: &[&str] = &["hookSpecificOutput", "decision", "permissionDecision", "modifiedArgs", "additionalContext", "behavior",
    "modifiedResult", "modifiedPrompt", "modifiedTransformedPrompt", "modifiedResponse", "updatedInput"];
#[rustfmt::skip]
const MERE: &[&str] = &["continue", "stopReason", "reason", "permissionDecisionReason", "message", "interrupt", "hookEventName"];

/// The fields of an event for its decision, reason, rewrite and context, and its words for decisions.
#[rustfmt::skip]
fn fields(event: &str) -> ([&'static str; 4], &'static [&'static str]) {
    let context = "additionalContext";
    match event {
        "preToolUse" | "PreToolUse" =>
            (["permissionDecision", "permissionDecisionReason", "modifiedArgs", context], &["allow", "deny", "ask"]),
        "permissionRequest" => (["behavior", "message", "", ""], &["allow", "deny"]),
        "postToolUse" | "PostToolUse" => (["decision", "reason", "modifiedResult", context], &["block"]),
        "userPromptSubmitted" => (["decision", "reason", "modifiedPrompt", context], &["block"]),
        "userPromptTransformed" => (["", "", "modifiedTransformedPrompt", ""], &[]),
        "agentStop" | "Stop" => (["decision", "reason", "", ""], &["block", "allow"]),
        "subagentStop" => (["decision", "reason", "modifiedResponse", ""], &["block", "allow"]),
        "BrandNewEvent" => (["decision", "reason", "", context], &["block"]),
        "sessionStart" | "subagentStart" | "notification" | "postToolUseFailure" => (["", "", "", context], &[]),
        _ => ([""; 4], &[]),
    }
}

pub fn verdict(event: &str, outcomes: &[Outcome]) -> Value {
    let ([word_key, reason_key, rewrite_key, context_key], words) = fields(event);
    let (tool, gate) = (word_key == "permissionDecision", ["permissionDecision", "behavior"].contains(&word_key));
    let (mut top, mut hooks, mut updated): (Map<_, _>, Vec<Said>, _) = (Map::new(), Vec::new(), Value::Null);
    for outcome in outcomes {
        let hook = match outcome {
            Outcome::Printed(wire) => said(event, wire),
            // "Before a tool runs every exit code but 0 denies", "exit code 2 gives stderr to the model".
            Outcome::Blocked(why) if gate => Some(Said { decision: "deny", reason: (*why).into(), ..Said::default() }),
            Outcome::Blocked(why) if event == "postToolUseFailure" => {
                Some(Said { context: (*why).into(), ..Said::default() })
            }
            Outcome::Blocked(_) => None,
            Outcome::Failed("ask") if gate => Some(Said { decision: "ask", reason: FAILED.into(), ..Said::default() }),
            Outcome::Failed(policy) => (gate || *policy != "default").then(|| Said {
                decision: "deny",
                reason: FAILED.into(),
                ..Said::default()
            }),
        };
        let Some(hook) = hook.filter(|hook| hook.decision.is_empty() || !words.is_empty()) else { continue };
        if !hook.updated.is_null() {
            // "a later rewrite without an `allow` of its own takes it away"
            updated = hook.updated.clone();
            hooks
                .iter_mut()
                .filter(|earlier| tool && earlier.decision == "allow")
                .for_each(|earlier| earlier.decision = "");
        }
        top.extend(hook.beside.clone());
        let last = tool && ["deny", "ask"].contains(&hook.decision);
        hooks.push(hook);
        if last {
            break;
        }
    }
    let rule = ["deny", "ask", "allow"].into_iter().find(|rule| hooks.iter().any(|hook| hook.decision == *rule));
    let winners = || hooks.iter().filter(|hook| Some(hook.decision) == rule);
    if let Some(rule) = rule.filter(|rule| tool || *rule != "ask") {
        top.insert(word_key.into(), if gate { rule } else { "block" }.into());
        let told = tool || rule == "deny";
        top.insert(reason_key.into(), if told { joined(winners().map(|h| h.reason.clone())) } else { Value::Null });
        top.insert("interrupt".into(), json!(winners().any(|hook| hook.interrupts).then_some(true)));
    }
    if rule != Some("deny") {
        top.insert(rewrite_key.into(), updated);
    }
    top.insert(
        "additionalContext".into(),
        joined(hooks.iter().map(|h| at(&json!([h.context]), "/0")).filter(|_| !context_key.is_empty())),
    );
    top.retain(|_, value| !value.is_null());
    top.into()
}

/// Returns the output of a hook. `None`: the hook counts as failed, which is the same as an empty answer.
fn said(event: &str, wire: &Value) -> Option<Said> {
    let (keys @ [word_key, _, rewrite_key, _], words) = fields(event);
    let nested = if event == "PreToolUse" { at(wire, "/hookSpecificOutput") } else { Value::Null };
    let get = |of: &Value, key: &str| if key.is_empty() { Value::Null } else { at(of, &format!("/{key}")) };
    let [_, reason, updated, context] = keys.map(|key| get(wire, key));
    let inner = ["permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"];
    let [inner_word, inner_reason, inner_updated, inner_context] = inner.map(|key| get(&nested, key));
    let named = (nested.is_null() || nested.is_object())
        && [Value::Null, event.into()].contains(&get(&nested, "hookEventName"));
    let is = |value: &Value, right: fn(&Value) -> bool| value.is_null() || right(value);
    let texts = [&reason, &context, &inner_reason, &inner_context].into_iter().all(|text| is(text, Value::is_string));
    let right = match rewrite_key {
        "modifiedArgs" => is(&updated, Value::is_object) && is(&inner_updated, Value::is_object),
        "modifiedResult" => true,
        _ => is(&updated, Value::is_string),
    };
    let own = if word_key.is_empty() { "" } else { word(wire, &format!("/{word_key}"), words)? };
    let said = [(own, reason), (word(&nested, "/permissionDecision", words)?, inner_reason)];
    let (mut rule, reason) = strictest(&["deny", "ask", "allow"], &said);
    let first = |one: Value, other| if one.is_null() { other } else { one };
    let (updated, context) = (first(updated, inner_updated), first(context, inner_context));
    let read = !own.is_empty() || !inner_word.is_null() || !updated.is_null() || !context.is_null();
    let unread =
        SAYS.iter().any(|key| !get(wire, key).is_null() && (event != "PreToolUse" || *key != "hookSpecificOutput"));
    let well = named && texts && right && (word_key != "behavior" || all(wire, &["/interrupt"], Value::is_boolean));
    if !well || !read && (unread || at(wire, "/continue") == false) {
        return None;
    }
    let interrupts = word_key == "behavior" && rule == "deny" && at(wire, "/interrupt") == true;
    if word_key == "decision" && rule == "allow" {
        rule = "";
    }
    let beside = unknown(wire, &[SAYS, MERE].concat());
    Some(Said { decision: rule, reason, updated, context, interrupts, beside, ..Said::default() })
}
