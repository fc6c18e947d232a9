//! Merges the outputs into one outcome: decisions.md#picoclaw.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{
    protected,
    reply::{self, REASON_LIMIT},
    rewrite,
};
use crate::{
    dialect::common::merge_effects,
    event::{Event, EventKind, Input},
    json::shorten,
    output::{Decision, Halt, HookOutput, Note, Scope},
    protocol::Outcome,
};

/// decisions.md#order-and-rewrites: "first `deny_tool`, `respond`, `abort_turn`, `hard_abort`; first `approved:false`".
pub(super) fn stops(output: &HookOutput) -> bool {
    output.halt.is_some() || output.decision.as_ref().is_some_and(|decision| *decision != Decision::Allow)
}

pub(super) fn merge(event: &Event, outputs: &[HookOutput]) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.output.extra = merge_effects(outputs).extra;
    let mut now = Cow::Borrowed(event);
    let mut last = None;
    for (index, output) in outputs.iter().enumerate() {
        let rewrites = output.updated.is_some() || output.updated_tool.is_some();
        if rewrites && let Err(why) = rewrite::apply(now.to_mut(), output) {
            outcome.notes.push((Some(index), Note::dropped(why)));
        }
        if stops(output) {
            last = Some(output);
            break;
        }
    }
    if let Some(last) = last {
        outcome.output.halt.clone_from(&last.halt);
        outcome.output.decision.clone_from(&last.decision);
        outcome.output.reason.clone_from(&last.reason);
    }
    match last {
        // decisions.md#picoclaw: "A `respond` contains the call as rewritten by the hooks before it."
        Some(HookOutput { decision: Some(Decision::Respond(_)), halt: None, updated, updated_tool, .. }) => {
            set_changes(event, &now, &mut outcome.output);
            outcome.output.updated = outcome.output.updated.take().or_else(|| updated.clone());
            outcome.output.updated_tool = outcome.output.updated_tool.take().or_else(|| updated_tool.clone());
        }
        // A blocked call needs no rewrite.
        Some(_) => {}
        None => set_changes(event, &now, &mut outcome.output),
    }
    outcome.clause = clause(event, last, &outcome.output);
    if let Input::BeforeLlm(sent) = &event.input {
        protected::settle(event, sent, &mut outcome);
    }
    fit(event, &mut outcome);
    outcome
}

/// Sets the rewrites of an outcome, if the event changed. decisions.md#the-real-picoclaw: "Never echo a large body back
/// when `continue` says the same."
fn set_changes(event: &Event, now: &Event, output: &mut HookOutput) {
    match (&event.input, &now.input) {
        (Input::PreToolUse(_), _) => {
            if let (Some(old), Some(new)) = (&event.call, &now.call) {
                output.updated = (old.input != new.input).then(|| new.input.clone().into());
                output.updated_tool = (old.name != new.name).then(|| new.name.clone());
            }
        }
        (Input::PostToolUse(old), Input::PostToolUse(new)) if old != new => {
            output.updated = new.output.clone().map(Value::from);
        }
        (Input::AfterLlm(old), Input::AfterLlm(new)) if old != new => {
            output.updated = new.response.clone().map(Value::from);
        }
        // decisions.md#the-real-picoclaw: "omitted `tool`, `model`, `options` become empty, so always emit the complete
        // object."
        (Input::BeforeLlm(old), Input::BeforeLlm(new)) if old != new => {
            let members = [
                ("model", new.model.as_ref().map(|model| json!(model))),
                ("messages", new.messages.clone().map(Value::from)),
                ("tools", new.tools.clone().map(Value::from)),
                ("options", new.options.clone().map(Value::from)),
            ];
            let request = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
            output.updated = Some(Value::Object(request.collect()));
        }
        _ => {}
    }
}

/// Shortens a reply that is too long. decisions.md#the-real-picoclaw: "A reply line of 1 MiB or more kills the client's
/// reader for good: a longer reply must become a short one, with a diagnostic; a block is never lost for its size: its
/// reason is cut."
fn fit(event: &Event, outcome: &mut Outcome) {
    if reply::fits(event, &outcome.output) {
        return;
    }
    let output = &mut outcome.output;
    let too_long = |text: &str| format!("the reply was too long: {text}");
    if !output.extra.is_empty() {
        output.extra.clear();
        outcome.notes.push((None, Note::dropped(too_long("fields the contract does not know are left out"))));
        if reply::fits(event, output) {
            return;
        }
    }
    if let Some(Decision::Respond(result)) = &output.decision {
        // The tool must not run, even if the result that replaces it is too long.
        let text = result.get("for_llm").and_then(Value::as_str).unwrap_or("a hook answered in place of the tool");
        output.reason = Some(text.to_owned());
        output.decision = Some(Decision::Deny);
        outcome.notes.push((None, Note::degraded(too_long("`respond` became `deny_tool`"))));
        (output.updated, output.updated_tool) = (None, None);
    } else if output.updated.take().is_some() || output.updated_tool.take().is_some() {
        output.updated_tool = None;
        outcome.notes.push((None, Note::degraded(too_long(withhold(event.kind(), output)))));
    }
    let halt_reason = output.halt.as_mut().and_then(|halt| halt.reason.as_mut());
    for reason in [output.reason.as_mut(), halt_reason].into_iter().flatten() {
        *reason = shorten(reason, REASON_LIMIT);
    }
}

/// Replaces a rewrite that is too long. decisions.md#picoclaw: "A rewrite that is too long for the client's reader is
/// never dropped silently: a call is denied, a result is withheld, and a request or a response of the model ends the
/// turn."
fn withhold(kind: EventKind, output: &mut HookOutput) -> &'static str {
    const WHY: &str = "a hook replaced this with more than the client can read";
    match kind {
        EventKind::PostToolUse => {
            output.updated = Some(json!({ "for_llm": WHY, "for_user": WHY, "silent": false, "is_error": true }));
            "the result is withheld"
        }
        EventKind::PreToolUse => {
            (output.decision, output.reason) = (Some(Decision::Deny), Some(WHY.to_owned()));
            "`modify` became `deny_tool`"
        }
        _ => {
            output.halt = Some(Halt { scope: Scope::Turn, reason: Some(WHY.to_owned()) });
            "`modify` became `abort_turn`"
        }
    }
}

fn clause(event: &Event, last: Option<&HookOutput>, output: &HookOutput) -> &'static str {
    match (event.kind(), last) {
        (EventKind::AgentEvent, _) => "decisions.md#picoclaw: `hook.event` is a notification, which has no reply.",
        (EventKind::OtherEvent, _) if event.name == super::events::HELLO => {
            "decisions.md#picoclaw: hookbox itself answers `hook.hello`: hooks never see it."
        }
        (EventKind::PermissionRequest, Some(_)) => {
            "decisions.md#picoclaw: the first `approved:false` wins and its reason is returned"
        }
        (EventKind::PermissionRequest, None) => "decisions.md#picoclaw: all must approve.",
        (_, Some(_)) => "decisions.md#order-and-rewrites: first `deny_tool`, `respond`, `abort_turn`, `hard_abort`",
        (_, None) if output.updated.is_some() || output.updated_tool.is_some() => {
            "decisions.md#order-and-rewrites: `modify` replaces the whole request/call/response/result object and is the next hook's input"
        }
        (_, None) => "picoclaw.md#actions: `continue` | all interceptors | let it pass unchanged",
    }
}
