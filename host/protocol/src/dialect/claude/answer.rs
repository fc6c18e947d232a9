//! What a hook that speaks claude's JSON said.

use serde_json::json;

use super::encode::MARK;
use crate::{
    answer::{Answer, Note, Rule},
    dialect::common::{Taker, keep_extra, take_common, take_specific},
    event::{Event, Kind},
    json::{DecodeError, Object},
};

/// Output fields this module reads; no hook's `extra` may carry them.
pub(super) const KNOWN_KEYS: &[&str] = &[
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookEventName",
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "additionalContext",
    "updatedToolOutput",
];

pub(super) fn decode(observed: bool, event: &Event, wire: &Object) -> Result<(Answer, Vec<Note>), DecodeError> {
    let (mut answer, mut notes) = (Answer::default(), Vec::new());
    let mut top = Taker::new("", wire);
    take_common(&mut top, &mut answer)?;
    let mut specific = take_specific(&mut top, event, &mut notes)?;

    // decisions.md: "For Stop/SubagentStop/UserPromptSubmit/PostToolUse, `decision:"block"` + `reason` (the real
    // client's form) is understood from hooks and emitted." Understood on every event: dropping a block would be worse.
    let words: &[(&str, Rule)] = match (observed, event.kind()) {
        (true, Kind::PreToolUse) => &[("block", Rule::Deny), ("approve", Rule::Allow)],
        _ => &[("block", Rule::Deny)],
    };
    answer.rule = top.take_word("decision", words)?;
    answer.reason = top.take::<String>("reason")?;
    if let Some(specific) = &mut specific {
        take_specific_fields(observed, event.kind(), specific, &mut answer)?;
    }
    let marked =
        event.kind() == Kind::OtherEvent && wire.get("hookSpecificOutput").is_some_and(|s| s.get(MARK).is_some());
    keep_extra(&mut answer, top, specific);
    if let (true, Some(rule)) = (marked, &answer.rule) {
        let specific = answer.extra.entry("hookSpecificOutput").or_insert_with(|| json!({}));
        specific[MARK] = rule.kind().word().into();
    }
    Ok((answer, notes))
}

fn take_specific_fields(
    observed: bool,
    kind: Kind,
    specific: &mut Taker,
    answer: &mut Answer,
) -> Result<(), DecodeError> {
    answer.context = specific.take("additionalContext")?;
    match kind {
        Kind::PostToolUse => answer.updated = specific.take("updatedToolOutput")?,
        Kind::PermissionRequest if specific.contains("decision") => return take_permission(specific, answer),
        Kind::PreToolUse | Kind::PermissionRequest | Kind::OtherEvent => {}
        _ => return Ok(()),
    }
    let mut words = vec![("allow", Rule::Allow), ("ask", Rule::Ask), ("deny", Rule::Deny)];
    if observed {
        words.push(("defer", Rule::Defer));
    }
    let decision = specific.take_word("permissionDecision", &words)?;
    let reason = specific.take("permissionDecisionReason")?;
    // claude.md: "如果任何钩子返回 deny,操作将被阻止" (any deny blocks): also this hook's own top-level block.
    if decision.is_some() && answer.rule != Some(Rule::Deny) {
        answer.rule = decision;
        answer.reason = reason;
    } else {
        answer.reason = answer.reason.take().or(reason);
    }
    if kind != Kind::PostToolUse {
        answer.updated = specific.take_object("updatedInput")?.map(Into::into);
    }
    Ok(())
}

/// decisions.md: "`PermissionRequest` has its own output: `hookSpecificOutput.decision` = `{behavior:"allow",
/// updatedInput?, updatedPermissions?}` or `{behavior:"deny", message, interrupt?}`".
fn take_permission(specific: &mut Taker, answer: &mut Answer) -> Result<(), DecodeError> {
    let decision = specific.take_object("decision")?.unwrap_or_default();
    let mut decision = Taker::new("/hookSpecificOutput/decision", &decision);
    answer.rule = decision.take_word("behavior", &[("allow", Rule::Allow), ("deny", Rule::Deny)])?;
    answer.reason = decision.take("message")?;
    answer.interrupt = decision.take("interrupt")?.unwrap_or_default();
    answer.updated = decision.take_object("updatedInput")?.map(Into::into);
    answer.updated_permissions = decision.take("updatedPermissions")?;
    Ok(())
}
