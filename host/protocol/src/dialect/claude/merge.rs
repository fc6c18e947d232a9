//! Many answers, one verdict: decisions.md, "Merging, per dialect", claude.

use serde_json::Value;

use crate::{
    answer::{Answer, Note, Rule, RuleKind, join},
    dialect::{
        Merged,
        common::{ask_only_where_shown, merge_effects},
    },
    event::{Event, Kind},
};

/// decisions.md: "Precedence `deny` > `ask` > `allow` > no decision"; observed: "deny > defer > ask > allow".
const PRECEDENCE: [Rule; 4] = [Rule::Deny, Rule::Defer, Rule::Ask, Rule::Allow];

pub(super) fn merge(observed: bool, event: &Event, answers: &[Answer]) -> Merged {
    let mut merged = Merged { answer: merge_effects(answers), ..Merged::default() };
    merged.answer.rule = PRECEDENCE.into_iter().find(|rule| answers.iter().any(|a| a.rule.as_ref() == Some(rule)));
    merged.clause = clause(&merged.answer);

    // decisions.md: "Reasons of the hooks that gave the winning decision are joined with a newline in array order."
    let winners = || answers.iter().filter(|a| a.rule.is_some() && a.rule == merged.answer.rule);
    merged.answer.reason = join(winners().map(|a| &a.reason));
    merged.answer.interrupt = winners().any(|a| a.interrupt);
    let permissions: Vec<Value> =
        winners().filter_map(|a| a.updated_permissions.as_ref()?.as_array().cloned()).flatten().collect();
    merged.answer.updated_permissions = (!permissions.is_empty()).then_some(Value::Array(permissions));

    ask_only_where_shown(event, &mut merged);

    let applies = match (event.kind(), observed) {
        // A result is replaced, not permitted: no decision is needed.
        (Kind::PostToolUse, _) => |_: Option<RuleKind>, _: Option<RuleKind>| true,
        // decisions.md, observed: "`updatedInput` works without `allow`, replaces the whole input, and the last to
        // *finish* wins. `claude@observed` follows this with array order in place of finishing order."
        (Kind::PreToolUse, true) => |_, merged| merged != Some(RuleKind::Deny),
        // decisions.md: "last `updatedInput` in array order whose own decision is `allow` wins, and the merged decision
        // must be `allow` for it to apply".
        _ => |own: Option<RuleKind>, merged| own == Some(RuleKind::Allow) && merged == Some(RuleKind::Allow),
    };
    let decided = merged.answer.rule_kind();
    for (index, answer) in answers.iter().enumerate() {
        let Some(updated) = &answer.updated else { continue };
        if applies(answer.rule_kind(), decided) {
            merged.answer.updated = Some(updated.clone());
        } else {
            // decisions.md: "`updatedInput` without `permissionDecision:"allow"` has no effect and is reported in
            // diagnostics."
            let why = match answer.rule_kind() {
                Some(RuleKind::Allow) => "the merged decision is not allow",
                _ => "it came without an allow of its own",
            };
            merged.notes.push((Some(index), Note::dropped(format!("updatedInput has no effect: {why}"))));
        }
    }
    merged
}

fn clause(answer: &Answer) -> &'static str {
    match &answer.rule {
        Some(Rule::Deny) => "One `deny` blocks whatever the others say.",
        Some(Rule::Defer) => "Precedence there is deny > defer > ask > allow.",
        Some(Rule::Ask) => "Precedence `deny` > `ask` > `allow` > no decision: an `ask` overrides every `allow`.",
        Some(_) => "Precedence `deny` > `ask` > `allow` > no decision: nobody denied or asked.",
        None if answer.halt.is_some() => {
            "`continue:false` from any hook gives `continue:false`, with the first `stopReason`."
        }
        None if answer.is_silent() => "A run in which no hook says anything prints `{}`.",
        None => "No decision leaves the client's own default, ask.",
    }
}
