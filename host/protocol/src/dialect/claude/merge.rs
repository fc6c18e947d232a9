//! Merges the outputs into one outcome: decisions.md#claude.

use serde_json::Value;

use crate::{
    dialect::common::{ask_only_where_shown, merge_effects},
    event::{Event, EventKind},
    output::{Decision, DecisionKind, HookOutput, Note, join},
    protocol::Outcome,
};

pub(super) fn merge(observed: bool, event: &Event, outputs: &[HookOutput]) -> Outcome {
    let mut outcome = Outcome { output: merge_effects(outputs), ..Outcome::default() };
    // decisions.md#claude: "Precedence `deny` > `ask` > `allow` > no decision"; "`claude@observed` knows `defer` (leave
    // it to the client, later), between `deny` and `ask`".
    outcome.output.decision = outputs.iter().filter_map(|o| o.decision.clone()).max_by_key(Decision::kind);
    outcome.clause = clause(&outcome.output);

    // decisions.md#claude: "Reasons of the hooks that gave the winning decision are joined with a newline in array
    // order."
    let winners = || outputs.iter().filter(|a| a.decision.is_some() && a.decision == outcome.output.decision);
    outcome.output.reason = join(winners().map(|a| &a.reason));
    outcome.output.interrupt = winners().any(|a| a.interrupt);
    let permissions: Vec<Value> =
        winners().filter_map(|a| a.updated_permissions.as_ref()?.as_array().cloned()).flatten().collect();
    outcome.output.updated_permissions = (!permissions.is_empty()).then_some(Value::Array(permissions));

    ask_only_where_shown(event, &mut outcome);

    let applies = match (event.kind(), observed) {
        // A hook replaces a result without permission, so this needs no decision.
        (EventKind::PostToolUse, _) => |_: Option<DecisionKind>, _: Option<DecisionKind>| true,
        // decisions.md#claude: "`claude@observed` takes `updatedInput` without `allow`: it replaces the whole input,
        // and the last in array order wins unless the call is denied."
        (EventKind::PreToolUse, true) => |_, outcome| outcome != Some(DecisionKind::Deny),
        // decisions.md#order-and-rewrites: "last `updatedInput` in array order whose own decision is `allow` wins, and
        // the merged decision must be `allow` for it to apply".
        _ => |own: Option<DecisionKind>, outcome| {
            own == Some(DecisionKind::Allow) && outcome == Some(DecisionKind::Allow)
        },
    };
    let decided = outcome.output.decision_kind();
    for (index, output) in outputs.iter().enumerate() {
        let Some(updated) = &output.updated else { continue };
        if applies(output.decision_kind(), decided) {
            outcome.output.updated = Some(updated.clone());
        } else {
            // decisions.md#claude: "`updatedInput` without `permissionDecision:"allow"` has no effect and is reported
            // in diagnostics."
            let why = match output.decision_kind() {
                Some(DecisionKind::Allow) => "the merged decision is not allow",
                _ => "it came without an allow of its own",
            };
            outcome.notes.push((Some(index), Note::dropped(format!("updatedInput has no effect: {why}"))));
        }
    }
    outcome
}

fn clause(output: &HookOutput) -> &'static str {
    match &output.decision {
        Some(Decision::Deny) => "decisions.md#claude: One `deny` blocks regardless of the other hooks.",
        Some(Decision::Defer) => {
            "decisions.md#claude: `claude@observed` knows `defer` (leave it to the client, later), between `deny` and `ask`"
        }
        Some(_) => "decisions.md#claude: Precedence `deny` > `ask` > `allow` > no decision",
        None if output.halt.is_some() => {
            "decisions.md#claude: `continue:false` from any hook gives `continue:false`, with the first `stopReason`."
        }
        None if output.is_silent() => "decisions.md#outputs: A run without any hook output prints `{}`",
        None => "decisions.md#claude: no decision leaves the client's own default, ask",
    }
}
