//! A second implementation of `blade@observed`, from `blade-observed.md` and `decisions.md`.

use serde_json::{Map, Value, json};

use crate::outcomes::{OURS, Outcome, Said, all, at, effects, fit, joined, output, read, strictest, word};

#[rustfmt::skip]
pub const KNOWN: &[&str] = &["hookSpecificOutput", "continue", "stopReason", "suppressOutput", "systemMessage", "decision",
    "reason", "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "updatedPrompt",
    "updatedOutput", "additionalContext", "contextInjection", "env", "continueReason", "blockCompletion",
    "blockCompaction", "blockReason"];
const ORDER: [&str; 3] = ["deny", "ask", "allow"];
const GATES: [&str; 2] = ["PreToolUse", "PermissionRequest"];
/// An event, its field for a block, the value that blocks, and the field for the reason.
#[rustfmt::skip]
const FLAGS: [(&str, &str, bool, &str); 4] = [("Stop", "continue", false, "continueReason"),
    ("SubagentStop", "continue", false, "continueReason"), ("TaskCompleted", "blockCompletion", true, "blockReason"),
    ("Compaction", "blockCompaction", true, "blockReason")];
/// "A blocked `UserPromptSubmit` or `SessionStart` is `{"decision": {"behavior": "block"}, "systemMessage": …}`."
const BLOCKS: [&str; 2] = ["UserPromptSubmit", "SessionStart"];
const REWRITES: [(&str, &str); 3] =
    [("PreToolUse", "updatedInput"), ("UserPromptSubmit", "updatedPrompt"), ("PostToolUse", "updatedOutput")];
const CONTEXT: [&str; 4] = ["UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStart"];

/// Returns null for an empty stdout, and a string for plain text.
pub fn verdict(wire: &Value, outcomes: &[Outcome]) -> Value {
    let event = wire["hook_event_name"].as_str().unwrap();
    let flag = FLAGS.iter().find(|flag| flag.0 == event);
    let words = match flag.is_some() || BLOCKS.contains(&event) {
        _ if GATES.contains(&event) => &ORDER[..],
        blocks => &ORDER[..usize::from(blocks)],
    };
    let hook = |outcome| {
        let said =
            fit(read(outcome, !words.is_empty(), |printed| said(event, printed)), words, CONTEXT.contains(&event));
        sayable(wire, halted(event, words, said))
    };
    let hooks: Vec<Said> = outcomes.iter().map(hook).collect();
    let decision = *ORDER.iter().find(|word| hooks.iter().any(|h| h.decision == **word)).unwrap_or(&"");
    let reason =
        joined(hooks.iter().filter(|h| !decision.is_empty() && h.decision == decision).map(|h| h.reason.clone()));
    let updated =
        hooks.iter().map(|h| h.updated.clone()).rfind(|u| !u.is_null() && decision != "deny").unwrap_or_default();
    let merged = sayable(wire, Said { decision, reason, updated, ..Said::default() });
    let (mut top, mut inside) = effects(&hooks);
    let halted = top.remove("continue").is_some();
    top.remove("stopReason");
    let context = inside.remove("additionalContext").unwrap_or_default();
    let denied = merged.decision == "deny";
    match event {
        // "All of stdout becomes part of the prompt"; "plain stdout is appended to the error".
        "PostToolUseFailure" => return plain(&context),
        "UserPromptSubmit" if denied => return blocked(Map::new(), &merged.reason),
        "UserPromptSubmit" if merged.updated.is_null() => return plain(&context),
        "UserPromptSubmit" => {
            let fields = [("updatedPrompt".into(), merged.updated), ("contextInjection".into(), context)];
            return output(event, Map::new(), Map::from_iter(fields));
        }
        "SessionStart" if denied => {
            let message = joined([merged.reason.clone(), top.remove("systemMessage").unwrap_or_default()]);
            top = blocked(top, &message).as_object().cloned().unwrap();
        }
        "PostToolUse" => inside.extend(result(wire, &merged.updated, &context)),
        "SubagentStart" => inside.extend([("additionalContext".into(), context)]),
        _ if GATES.contains(&event) => {
            let beside = inside.iter().any(|(_, value)| !value.is_null()) || !merged.updated.is_null();
            let word = match merged.decision {
                "" if beside && event == "PreToolUse" => "allow".into(),
                "" => Value::Null,
                "allow" if event == "PermissionRequest" => "approve".into(),
                rule => rule.into(),
            };
            let reason = if merged.decision.is_empty() { Value::Null } else { merged.reason.clone() };
            inside.extend([("permissionDecision".into(), word), ("permissionDecisionReason".into(), reason)]);
            inside.insert("updatedInput".into(), merged.updated);
        }
        _ => {}
    }
    // "A halt on `Stop` or `SubagentStop` lets the agent stop regardless of other hooks".
    if let Some((_, field, value, why)) = flag.filter(|_| denied && !halted) {
        inside.extend([((*field).into(), json!(value)), ((*why).into(), merged.reason)]);
    }
    match output(event, top, inside) {
        Value::Object(nothing) if nothing.is_empty() => Value::Null,
        something => something,
    }
}

/// "No event can halt: `continue: false` is a block, with its `stopReason` as the reason."
fn halted(event: &str, words: &[&str], mut said: Said) -> Said {
    if said.halts && !event.ends_with("Stop") {
        said.halts = false;
        if words.contains(&"deny") {
            said.reason = if said.halt_reason.is_null() { said.reason } else { said.halt_reason.take() };
            said.decision = "deny";
        }
        said.halt_reason = Value::Null;
    }
    said
}

/// Replaces an output that the dialect cannot express with a denial.
fn sayable(wire: &Value, mut said: Said) -> Said {
    let (event, input) = (wire["hook_event_name"].as_str().unwrap(), &wire["tool_input"]);
    let gone = match (input.as_object(), said.updated.as_object()) {
        (Some(input), Some(updated)) => input.keys().any(|key| !updated.contains_key(key)),
        _ => false,
    };
    let cannot = match said.decision {
        // "`ask` where `permission_mode` is `yolo` would be an `allow`: it is a denial."
        "ask" if wire["permission_mode"] == "yolo" => GATES.contains(&event),
        // "`ask` beside a rewrite cannot be said: it is a denial."
        "ask" => event == "PreToolUse" && !said.updated.is_null(),
        // "A rewrite that takes keys away cannot be said: it is a denial."
        "" | "allow" => event == "PreToolUse" && gone,
        _ => false,
    };
    if !cannot {
        return said;
    }
    // "A deny in place of an `ask` keeps its reason. Without one, and for a rewrite, the reason names the output that
    // could not be expressed."
    if said.decision != "ask" || said.reason.is_null() {
        said.reason = OURS.into();
    }
    Said { decision: "deny", updated: Value::Null, ..said }
}

fn blocked(mut top: Map<String, Value>, reason: &Value) -> Value {
    top.insert("decision".into(), json!({ "behavior": "block" }));
    top.insert("systemMessage".into(), reason.clone());
    output("", top, Map::new())
}

/// "a text that begins like an object gets a line before it".
fn plain(context: &Value) -> Value {
    match context.as_str() {
        Some(text) if text.trim().is_empty() => Value::Null,
        None => Value::Null,
        Some(text) if text.trim().starts_with('{') => format!("Hook context:\n{text}").into(),
        Some(text) => text.into(),
    }
}

/// "`additionalContext` always stands beside `updatedOutput`, and is empty there: the context goes into the value."
fn result(wire: &Value, updated: &Value, context: &Value) -> Vec<(String, Value)> {
    let original = wire["tool_response"].get("llmContent");
    let none = context.as_str().unwrap_or_default().is_empty();
    // "Context beside a result that is an object comes with that result as a text".
    let emptied = original.filter(|original| original.is_object() && !none);
    let value = if updated.is_null() { emptied.cloned().unwrap_or_default() } else { updated.clone() };
    if value.is_null() {
        return vec![("additionalContext".into(), context.clone())];
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let with = || format!("{}\n\n---\n**Hook Context:**\n{}", text(&value), text(context)).into();
    let value: Value = if none { value.clone() } else { with() };
    let value = if original.is_some() { json!({ "llmContent": value }) } else { value };
    vec![("additionalContext".into(), "".into()), ("updatedOutput".into(), value)]
}

/// Returns `None` if the hook counts as failed.
fn said(event: &str, printed: &Value) -> Option<Said> {
    let (inner, mut said) = (at(printed, "/hookSpecificOutput"), Said::common(event, printed, KNOWN)?);
    let both = |key: &str| [at(&inner, &format!("/{key}")), at(printed, &format!("/{key}"))];
    let one = |key: &str| both(key).into_iter().find(|value| !value.is_null()).unwrap_or_default();
    let well = |key: &str, is: fn(&Value) -> bool| both(key).iter().all(|value| value.is_null() || is(value));
    let words = ["deny", "ask", if event == "PermissionRequest" { "approve" } else { "allow" }];
    let mut decisions = vec![];
    for (place, top) in [(&inner, false), (printed, true)] {
        if GATES.contains(&event) {
            decisions.push((word(place, "/permissionDecision", &words)?, at(place, "/permissionDecisionReason")));
        }
        if let Some((_, field, value, why)) = FLAGS.iter().find(|flag| flag.0 == event) {
            let blocks = place[*field] == *value && !(top && *field == "continue");
            decisions.push((if blocks { "deny" } else { "" }, at(place, &format!("/{why}"))));
        }
        // "A deny or ask in the form or position of another event is understood … on every event that can be blocked under
        // `blade`: `permissionDecision` at the top (`deny` or `ask`)".
        let can_block = BLOCKS.contains(&event) || FLAGS.iter().any(|flag| flag.0 == event);
        if can_block && ["deny", "ask"].iter().any(|word| place["permissionDecision"] == *word) {
            let why = at(place, "/permissionDecisionReason");
            if !(why.is_null() || why.is_string()) {
                return None;
            }
            decisions.push((word(place, "/permissionDecision", &["deny", "ask"])?, why));
        }
        // "From hooks both forms of a block are understood"; "`behavior: "deny"` and its `message` are understood there too".
        if at(place, "/decision").is_object() {
            let behavior = word(place, "/decision/behavior", &["block", "deny"])?;
            let message = at(place, "/decision/message");
            let mut reason = if message.is_null() { at(place, "/reason") } else { message };
            if reason.is_null() && !behavior.is_empty() {
                reason = said.message.take();
            }
            decisions.push((behavior, reason));
        } else {
            decisions.push((word(place, "/decision", &["block"])?, at(place, "/reason")));
        }
    }
    (said.decision, said.reason) = strictest(&ORDER, &decisions);
    if said.reason.is_null() && !said.decision.is_empty() {
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
