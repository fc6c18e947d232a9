//! Merges the outputs into one outcome: decisions.md#gemini.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{encode::TOOL_CONFIG, events::SELECTION, model};
use crate::{
    dialect::common::{merge_effects, new_result, specific_extra},
    event::{Event, EventKind},
    json::Object,
    output::{Decision, HookOutput, Note, join},
    protocol::Outcome,
};

pub(super) fn merge(event: &Event, outputs: &[HookOutput]) -> Outcome {
    let mut outcome = Outcome { output: merge_effects(outputs), ..Outcome::default() };
    // decisions.md#gemini: "Precedence `deny` > `ask` > `allow` > nothing, on the model's events too".
    outcome.output.decision = outputs.iter().filter_map(|output| output.decision.clone()).max_by_key(Decision::kind);
    let winners = outputs.iter().filter(|o| o.decision.is_some() && o.decision == outcome.output.decision);
    outcome.output.reason = join(winners.map(|output| &output.reason));
    for (index, output) in outputs.iter().enumerate() {
        let Some(updated) = output.updated.as_ref().filter(|updated| !updated.is_null()) else { continue };
        let note = rewrite(event, updated, outputs, &mut outcome.output);
        outcome.notes.extend(note.map(|note| (Some(index), note)));
    }
    if event.name == SELECTION {
        let configs: Vec<Value> = outputs.iter().filter_map(|o| specific_extra(o).shift_remove(TOOL_CONFIG)).collect();
        let specific = outcome.output.extra.get_mut("hookSpecificOutput").and_then(Value::as_object_mut);
        if let (false, Some(specific)) = (configs.is_empty(), specific) {
            specific.insert(TOOL_CONFIG.into(), united(&configs));
        }
    }
    if outcome.output.decision == Some(Decision::Ask) {
        // gemini.md#beforetool: "With nobody there (`-p`) the run waits for ever."
        outcome.notes.push((None, Note::warning("asks: without a user, Gemini CLI waits for ever")));
    }
    outcome.clause = clause(&outcome.output);
    outcome
}

/// Adds one hook's rewrite to the verdict, in the form that the event has for it.
fn rewrite(event: &Event, updated: &Value, outputs: &[HookOutput], outcome: &mut HookOutput) -> Option<Note> {
    if outputs.iter().any(|output| output.decision == Some(Decision::Deny)) {
        return Some(Note::dropped("the rewrite has no effect: it is denied"));
    }
    let why = match (event.kind(), updated) {
        // decisions.md#gemini: "The result of a tool is replaced by a deny whose reason is the new result".
        (EventKind::PostToolUse, new) => {
            let text = new.get("llmContent").filter(|content| content.is_string()).unwrap_or(new);
            let text = Some(new_result(text)).filter(|text| !text.is_empty());
            outcome.decision = Some(Decision::Deny);
            outcome.reason = text.or_else(|| Some("a hook took the result out".to_owned()));
            return None;
        }
        // The rewrite of another hook already became a denial.
        _ if outcome.decision == Some(Decision::Deny) => return None,
        (EventKind::PreToolUse, Value::Object(_)) => {
            outcome.updated = Some(updated.clone());
            return None;
        }
        (EventKind::BeforeLlm, Value::Object(request)) => {
            let changes = model::changes(event, request);
            match outcome.updated.as_mut().and_then(Value::as_object_mut) {
                Some(before) => before.extend(changes),
                None if changes.is_empty() => {}
                None => outcome.updated = Some(Value::Object(changes)),
            }
            return None;
        }
        (EventKind::AfterLlm, response) if has_parts(response) => {
            outcome.updated = Some(response.clone());
            return None;
        }
        (EventKind::AfterLlm, _) => "a hook emptied the response",
        _ => "a hook's rewrite is not an object",
    };
    // decisions.md#gemini: "A rewritten response whose first candidate has no parts would be ignored, so it is a deny."
    (outcome.decision, outcome.reason, outcome.updated) = (Some(Decision::Deny), Some(why.to_owned()), None);
    Some(Note::degraded(format!("{} cannot say this rewrite; it denies", event.name)))
}

fn has_parts(response: &Value) -> bool {
    let parts = response.pointer("/candidates/0/content/parts").and_then(Value::as_array);
    parts.is_some_and(|parts| !parts.is_empty())
}

/// Merges tool selections. gemini.md#beforetoolselection: "`NONE` wins, then `ANY`, else `AUTO`; the names are united."
fn united(configs: &[Value]) -> Value {
    let says = |mode: &&str| configs.iter().any(|config| config.get("mode").and_then(Value::as_str) == Some(*mode));
    let mode = ["NONE", "ANY"].into_iter().find(says).unwrap_or("AUTO");
    let names = configs.iter().filter_map(|config| config.get("allowedFunctionNames")?.as_array()).flatten();
    let names: BTreeSet<&str> = names.filter_map(Value::as_str).filter(|_| mode != "NONE").collect();
    json!({ "mode": mode, "allowedFunctionNames": names })
}

/// Applies a rewrite to the event for the next hook. Returns true if the event changed.
pub(super) fn apply(event: &mut Event, output: &HookOutput) -> bool {
    let Some(Value::Object(updated)) = &output.updated else { return false };
    match (event.kind(), &mut event.call) {
        (EventKind::PreToolUse, Some(call)) => return call.rewrite(Value::Object(updated.clone())),
        (EventKind::BeforeLlm, _) => {
            let changes: Object = model::changes(event, updated);
            model::apply(event, &changes);
        }
        _ => return false,
    }
    true
}

fn clause(output: &HookOutput) -> &'static str {
    match &output.decision {
        Some(_) => "decisions.md#gemini: Precedence `deny` > `ask` > `allow` > nothing, on the model's events too",
        None if output.halt.is_some() => {
            "decisions.md#gemini: `continue: false` from any hook gives `continue: false`, with the first `stopReason`."
        }
        None if output.updated.is_some() => {
            "decisions.md#order-and-rewrites: last in configuration order wins, needs no `allow`; dropped if anything denies"
        }
        None => "decisions.md#outputs: A run without any hook output prints `{}`",
    }
}
