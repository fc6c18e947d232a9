//! Many answers, one verdict: decisions.md, "Merging, per dialect", blade-callback.

use crate::{
    answer::{Answer, Note, Rule, join},
    dialect::{Merged, common::merge_effects},
    event::{Event, Input, Kind},
};

/// Makes the event what the next hook sees. Whether it changed.
///
/// decisions.md: "chained: hook n+1 sees `modifiedInput` / `modifiedOutput` of hook n".
pub(super) fn apply(event: &mut Event, answer: &Answer) -> bool {
    let Some(updated) = &answer.updated else { return false };
    match (&mut event.input, &mut event.call) {
        (Input::PreToolUse(_), Some(call)) => call.input = updated.clone(),
        (Input::PostToolUse(result), _) => result.output = Some(updated.clone()),
        _ => return false,
    }
    true
}

pub(super) fn merge(event: &Event, answers: &[Answer]) -> Merged {
    if event.kind() == Kind::CanUseTool {
        return merge_permission(answers);
    }
    let mut merged = Merged { answer: merge_effects(answers), ..Merged::default() };
    // decisions.md: "`continue` < `skip` < `abort` are actions, not votes: the first `skip`/`abort` ends the chain and
    // is the result."
    if let Some(last) = answers.iter().find(|answer| answer.halt.is_some() || answer.rule.is_some()) {
        merged.answer.halt.clone_from(&last.halt);
        merged.answer.rule.clone_from(&last.rule);
        merged.answer.reason.clone_from(&last.reason);
        merged.clause = "The first `skip`/`abort` ends the chain and is the result.";
    } else {
        // Each hook saw what the one before it made of the event, so the last one's word is the whole of it.
        merged.answer.updated = answers.iter().rev().find_map(|answer| answer.updated.clone());
        merged.clause = match merged.answer.updated {
            Some(_) => "Chained: hook n+1 sees `modifiedInput` / `modifiedOutput` of hook n.",
            None => "Nobody said `skip` or `abort`: `continue`.",
        };
    }
    merged
}

/// The specification has one callback. Several are asked in order and the strictest is believed, as everywhere else.
fn merge_permission(answers: &[Answer]) -> Merged {
    let mut merged = Merged { answer: merge_effects(answers), ..Merged::default() };
    let rule =
        [Rule::Deny, Rule::Ask, Rule::Allow].into_iter().find(|r| answers.iter().any(|a| a.rule.as_ref() == Some(r)));
    let winners = || answers.iter().filter(|answer| answer.rule == rule && rule.is_some());
    merged.answer.reason = join(winners().map(|answer| &answer.reason));
    merged.answer.interrupt = winners().any(|answer| answer.interrupt);
    for (index, answer) in answers.iter().enumerate().filter(|(_, answer)| answer.updated.is_some()) {
        if rule == Some(Rule::Allow) {
            merged.answer.updated.clone_from(&answer.updated);
        } else {
            merged.notes.push((Some(index), Note::dropped("updatedInput has no effect: the result is not `allow`")));
        }
    }
    merged.clause = match rule {
        None => "Nobody said anything: `ask` leaves it to the built-in permissions.",
        Some(_) => "`canUseTool` is separate: `allow(updatedInput?)`, `deny(message, interrupt?)`, `ask`.",
    };
    merged.answer.rule = rule;
    merged
}
