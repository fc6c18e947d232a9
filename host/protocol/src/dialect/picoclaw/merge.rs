//! Many answers, one verdict: decisions.md, "Merging, per dialect", picoclaw.

use serde_json::{Value, json};

use super::{reply, rewrite};
use crate::{
    answer::{Answer, Note, Rule},
    dialect::{Merged, common::merge_effects},
    event::{Event, Input, Kind},
    json::shorten,
};

/// decisions.md: "first `deny_tool`, `respond`, `abort_turn`, `hard_abort`; first `approved:false`".
pub(super) fn stops(answer: &Answer) -> bool {
    answer.halt.is_some() || answer.rule.as_ref().is_some_and(|rule| *rule != Rule::Allow)
}

pub(super) fn merge(event: &Event, answers: &[Answer]) -> Merged {
    let mut merged = Merged::default();
    merged.answer.extra = merge_effects(answers).extra;
    let mut now = reply::without_raw(event);
    let mut last = None;
    for (index, answer) in answers.iter().enumerate() {
        if let Err(why) = rewrite::apply(&mut now, answer) {
            merged.notes.push((Some(index), Note::dropped(why)));
        }
        if stops(answer) {
            last = Some(answer);
            break;
        }
    }
    if let Some(last) = last {
        merged.answer.halt.clone_from(&last.halt);
        merged.answer.rule.clone_from(&last.rule);
        merged.answer.reason.clone_from(&last.reason);
    }
    match last {
        // picoclaw.md: "call | 修改后的调用信息(可选)": the call goes with a `respond` when somebody touched it.
        Some(Answer { rule: Some(Rule::Respond(_)), halt: None, updated, updated_tool, .. }) => {
            set_changes(event, &now, &mut merged.answer);
            merged.answer.updated = merged.answer.updated.take().or_else(|| updated.clone());
            merged.answer.updated_tool = merged.answer.updated_tool.take().or_else(|| updated_tool.clone());
        }
        // What is not going to happen need not be rewritten.
        Some(_) => {}
        None => set_changes(event, &now, &mut merged.answer),
    }
    merged.clause = clause(event, last, &merged.answer);
    fit(event, &mut merged);
    merged
}

/// decisions.md: "Never echo a large body back when `continue` says the same." A rewrite that changes nothing is none.
fn set_changes(event: &Event, now: &Event, answer: &mut Answer) {
    match (&event.input, &now.input) {
        (Input::PreToolUse(_), _) => {
            if let (Some(old), Some(new)) = (&event.call, &now.call) {
                answer.updated = (old.input != new.input).then(|| new.input.clone());
                answer.updated_tool = (old.name != new.name).then(|| new.name.clone());
            }
        }
        (Input::PostToolUse(old), Input::PostToolUse(new)) if old != new => answer.updated.clone_from(&new.output),
        (Input::AfterLlm(old), Input::AfterLlm(new)) if old != new => answer.updated.clone_from(&new.response),
        // decisions.md: "omitted `tool`, `model`, `options` become empty, so always emit the complete object."
        (Input::BeforeLlm(old), Input::BeforeLlm(new)) if old != new => {
            let members = [
                ("model", new.model.as_ref().map(|model| json!(model))),
                ("messages", new.messages.clone()),
                ("tools", new.tools.clone()),
                ("options", new.options.clone()),
            ];
            let request = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
            answer.updated = Some(Value::Object(request.collect()));
        }
        _ => {}
    }
}

/// decisions.md: "A reply line of 1 MiB or more kills the client's reader for good: larger replies must become
/// `continue` (or a JSON-RPC error for approve) with a diagnostic; a block is never lost for its size: its reason is
/// cut." An approval is small once its reason is cut, so the error is never needed.
fn fit(event: &Event, merged: &mut Merged) {
    if reply::fits(event, &merged.answer) {
        return;
    }
    let answer = &mut merged.answer;
    let mut note = |text: &str| merged.notes.push((None, Note::dropped(format!("the reply was too long: {text}"))));
    if !answer.extra.is_empty() {
        answer.extra.clear();
        note("fields the contract does not know are left out");
        if reply::fits(event, answer) {
            return;
        }
    }
    if let Some(Rule::Respond(result)) = &answer.rule {
        // The tool was not to run. That holds, also when what was to be said instead cannot be said whole.
        let text = result.get("for_llm").and_then(Value::as_str).unwrap_or("a hook answered in place of the tool");
        answer.reason = Some(text.to_owned());
        answer.rule = Some(Rule::Deny);
        note("`respond` became `deny_tool`");
    } else if answer.updated.take().is_some() {
        note("`modify` became `continue`");
    }
    (answer.updated, answer.updated_tool) = (None, None);
    let halt_reason = answer.halt.as_mut().and_then(|halt| halt.reason.as_mut());
    for reason in [answer.reason.as_mut(), halt_reason].into_iter().flatten() {
        *reason = shorten(reason, REASON_LIMIT);
    }
}

/// What is left of a reason that was too long, in characters.
pub(super) const REASON_LIMIT: usize = 4096;

fn clause(event: &Event, last: Option<&Answer>, answer: &Answer) -> &'static str {
    match (event.kind(), last) {
        (Kind::AgentEvent, _) => "`hook.event` is a notification: never answered.",
        (Kind::OtherEvent, _) if event.name == super::events::HELLO => "Answer `hook.hello` at once.",
        (Kind::PermissionRequest, Some(_)) => "The first `approved:false` wins and its reason is returned.",
        (Kind::PermissionRequest, None) => "All must approve: nobody refused.",
        (_, Some(_)) => "The first `deny_tool`, `respond`, `abort_turn`, `hard_abort` stops later hooks.",
        (_, None) if answer.updated.is_some() || answer.updated_tool.is_some() => {
            "`modify` replaces the whole request/call/response/result object and is the next hook's input."
        }
        (_, None) => "Nobody blocked or changed anything: `continue`.",
    }
}
