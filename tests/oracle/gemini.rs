//! A second implementation of gemini, from `gemini.md` and `decisions.md`. It works on JSON values and prefers
//! simplicity to speed.

use serde_json::{Map, Value, json};

use crate::outcomes::{OURS, Outcome, Said, all, at, effects, fit, joined, read, tidy, unknown, word};

#[rustfmt::skip]
pub const KNOWN: &[&str] = &["hookSpecificOutput", "continue", "stopReason", "suppressOutput", "systemMessage", "decision",
    "reason", "hookEventName", "additionalContext", "tool_input", "llm_request", "llm_response", "tool_output",
    "permissionDecision", "updatedInput"];
const ORDER: [&str; 3] = ["deny", "ask", "allow"];
const DENIES: [&str; 6] = ["AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeNap"];
const CONTEXT: [&str; 3] = ["AfterTool", "BeforeAgent", "SessionStart"];

pub fn verdict(wire: &Value, outcomes: &[Outcome]) -> Value {
    let event = wire["hook_event_name"].as_str().unwrap();
    let words: &[_] = if event == "BeforeTool" {
        &ORDER
    } else if DENIES.contains(&event) {
        &ORDER[..1]
    } else {
        &[]
    };
    let read =
        |outcome| fit(read(outcome, !words.is_empty(), |wire| said(event, wire)), words, CONTEXT.contains(&event));
    let hooks: Vec<Said> = outcomes.iter().map(read).collect();
    let (mut top, mut inside) = effects(&hooks);
    let mut rule = ORDER.into_iter().find(|rule| hooks.iter().any(|h| h.decision == *rule)).unwrap_or_default();
    let winners = hooks.iter().filter(|h| !rule.is_empty() && h.decision == rule);
    let mut reason = joined(winners.map(|h| h.reason.clone()));
    let mut rewrites = hooks.iter().map(|h| &h.updated).filter(|u| !u.is_null() && rule != "deny");
    let parts = |new: &Value| at(new, "/candidates/0/content/parts").as_array().is_some_and(|parts| !parts.is_empty());
    if event == "AfterModel" && rewrites.clone().any(|new| !parts(new)) {
        (rule, reason) = ("deny", OURS.into());
    } else if event == "BeforeModel" {
        // "Of several hooks' requests what each changed counts, and the later one wins."
        let changed = |(key, value): &(String, Value)| wire["llm_request"].get(key) != Some(value);
        let united: Map<_, _> = rewrites.flat_map(|new| new.as_object().unwrap().clone()).filter(changed).collect();
        inside.insert("llm_request".into(), if united.is_empty() { Value::Null } else { united.into() });
    } else if let Some(new) = rewrites.next_back() {
        inside.insert(field(event).into(), new.clone());
    }
    top.extend([("decision".into(), json!((!rule.is_empty()).then_some(rule))), ("reason".into(), reason)]);
    if event == "BeforeToolSelection" {
        top.remove("systemMessage");
        let configs: Vec<Value> = hooks.iter().filter_map(|h| h.inside.get("toolConfig").cloned()).collect();
        let Some(config) = united(&configs) else { return Value::Null };
        inside.insert("toolConfig".into(), config);
    }
    let inside = tidy(inside, &[]);
    if !inside.is_empty() {
        let named: Map<_, _> = [("hookEventName".into(), event.into())].into_iter().chain(inside).collect();
        top.insert("hookSpecificOutput".into(), named.into());
    }
    tidy(top, &[]).into()
}

/// "`NONE` wins, then `ANY`, else `AUTO`; the names are united."
fn united(configs: &[Value]) -> Option<Value> {
    let mode = ["NONE", "ANY"].into_iter().find(|mode| configs.iter().any(|c| c["mode"] == *mode)).unwrap_or("AUTO");
    let names = configs.iter().filter_map(|c| c["allowedFunctionNames"].as_array()).flatten();
    let mut names: Vec<&str> = names.filter_map(Value::as_str).filter(|_| mode != "NONE").collect();
    names.sort_unstable();
    names.dedup();
    (!configs.is_empty()).then(|| json!({ "mode": mode, "allowedFunctionNames": names }))
}

fn field(event: &str) -> &'static str {
    match event {
        "BeforeTool" => "tool_input",
        "BeforeModel" => "llm_request",
        "AfterModel" => "llm_response",
        _ => "",
    }
}

/// Returns `None` if Gemini CLI ignores the output.
fn said(event: &str, printed: &Value) -> Option<Said> {
    let inner = at(printed, "/hookSpecificOutput");
    let gate = event == "BeforeTool" || DENIES.contains(&event);
    let rule = word(printed, "/decision", &["deny", "block", "ask", "allow"])?;
    let (halts, response) = (at(printed, "/continue") == false, at(&inner, "/llm_response"));
    let well = all(printed, &["/continue", "/suppressOutput"], Value::is_boolean)
        && all(printed, &["/stopReason", "/systemMessage", "/reason"], Value::is_string)
        && all(&inner, &["/additionalContext", "/hookEventName"], Value::is_string)
        && all(printed, &["/hookSpecificOutput"], Value::is_object)
        && (field(event).is_empty() || all(&inner, &[&format!("/{}", field(event))], Value::is_object))
        && ["/permissionDecision", "/updatedInput", "/tool_output"].iter().all(|f| at(&inner, f).is_null())
        && !(event == "BeforeModel" && rule != "deny" && !response.is_null())
        && (gate || !halts && ["", "allow"].contains(&rule));
    let mut inside = unknown(&inner, KNOWN);
    if event == "BeforeModel" && !response.is_null() {
        inside.insert("llm_response".into(), response);
    }
    let context = if CONTEXT.contains(&event) { at(&inner, "/additionalContext") } else { Value::Null };
    well.then(|| Said {
        decision: rule,
        reason: if rule.is_empty() { Value::Null } else { at(printed, "/reason") },
        updated: inner.get(field(event)).cloned().unwrap_or_default(),
        context,
        message: at(printed, "/systemMessage"),
        halts,
        halt_reason: if halts { at(printed, "/stopReason") } else { Value::Null },
        suppresses: at(printed, "/suppressOutput") == true,
        beside: unknown(printed, KNOWN),
        inside,
        ..Said::default()
    })
}
