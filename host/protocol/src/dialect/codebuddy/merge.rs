//! Many answers, one verdict: decisions.md, "Merging, per dialect", codebuddy.

use crate::{
    answer::{Answer, Note, Rule, join},
    dialect::{
        Merged,
        common::{ask_only_where_shown, merge_effects},
    },
    event::Event,
};

pub(super) fn merge(event: &Event, answers: &[Answer]) -> Merged {
    let mut merged = Merged { answer: merge_effects(answers), ..Merged::default() };
    let denies = || answers.iter().filter(|answer| answer.rule == Some(Rule::Deny));
    if denies().next().is_some() {
        // decisions.md: "`decision:"block"` from any hook blocks; reasons joined in order."
        merged.answer.rule = Some(Rule::Deny);
        merged.answer.reason = join(denies().map(|answer| &answer.reason));
        merged.answer.interrupt = denies().any(|answer| answer.interrupt);
    } else if let Some(last) = answers.iter().rev().find(|answer| answer.rule.is_some()) {
        // decisions.md: "the *last* hook in configuration order wins there … Behind one `hookbox run`, a block is a
        // block": so the last word counts only while nobody blocks.
        merged.answer.rule.clone_from(&last.rule);
        merged.answer.reason.clone_from(&last.reason);
        merged.answer.updated_permissions.clone_from(&last.updated_permissions);
    }
    ask_only_where_shown(event, &mut merged);
    for (index, answer) in answers.iter().enumerate() {
        let Some(updated) = &answer.updated else { continue };
        // decisions.md: "last `updatedInput` in order wins, dropped if anything blocks".
        if merged.answer.rule == Some(Rule::Deny) {
            merged.notes.push((Some(index), Note::dropped("updatedInput has no effect: a hook blocked")));
        } else {
            merged.answer.updated = Some(updated.clone());
        }
    }
    merged.clause = clause(&merged.answer);
    merged
}

fn clause(answer: &Answer) -> &'static str {
    match &answer.rule {
        Some(Rule::Deny) => "`decision:\"block\"` from any hook blocks; reasons joined in order.",
        Some(_) => "The *last* hook in configuration order wins there; behind one `hookbox run`, a block is a block.",
        None if answer.halt.is_some() => "`continue` defaults to true; a hook said false.",
        None if answer.updated.is_some() => "Last `updatedInput` in order wins, dropped if anything blocks.",
        None => "`continue` defaults to true; nobody blocked.",
    }
}
