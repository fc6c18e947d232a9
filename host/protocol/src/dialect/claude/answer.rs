//! What a hook that speaks claude's JSON said.

use serde_json::{Value, json};

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
    "updatedMCPToolOutput",
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
    let (rule, reason) = (top.take_word("decision", words)?, top.take("reason")?);
    decide(&mut answer, rule, reason);
    if let Some(specific) = &mut specific {
        take_specific_fields(observed, event.kind(), specific, &mut answer)?;
        report_misplaced(specific, &mut notes)?;
    }
    report_misplaced(&mut top, &mut notes)?;
    let marked =
        event.kind() == Kind::OtherEvent && wire.get("hookSpecificOutput").is_some_and(|s| s.get(MARK).is_some());
    keep_extra(&mut answer, top, specific);
    if let (true, Some(rule)) = (marked, &answer.rule) {
        let specific = answer.extra.entry("hookSpecificOutput").or_insert_with(|| json!({}));
        specific[MARK] = rule.kind().word().into();
    }
    Ok((answer, notes))
}

/// One output can decide in several places; the strictest decision is the hook's.
///
/// claude.md: "如果任何钩子返回 deny,操作将被阻止" (any deny blocks).
fn decide(answer: &mut Answer, rule: Option<Rule>, reason: Option<String>) {
    let kind = rule.as_ref().map(Rule::kind);
    if kind > answer.rule_kind() {
        (answer.rule, answer.reason) = (rule, reason);
    } else if kind.is_some() && kind == answer.rule_kind() {
        answer.reason = answer.reason.take().or(reason);
    }
}

/// claude.md: "确保 updatedInput 在 hookSpecificOutput 内部,而不是在顶层" (inside `hookSpecificOutput`, not at the top
/// level): a known field where it has no effect is taken out and told of, so that the output does not look as if it had.
fn report_misplaced(fields: &mut Taker, notes: &mut Vec<Note>) -> Result<(), DecodeError> {
    for key in KNOWN_KEYS {
        if fields.take::<Value>(key)?.is_some() {
            notes.push(Note::dropped(format!("{} has no effect on this event or in this place", fields.pointer(key))));
        }
    }
    Ok(())
}

fn take_specific_fields(
    observed: bool,
    kind: Kind,
    specific: &mut Taker,
    answer: &mut Answer,
) -> Result<(), DecodeError> {
    answer.context = specific.take("additionalContext")?;
    // Understood on every event, as the top-level block is: a hook written for several events may know one form only.
    let mut words = vec![("allow", Rule::Allow), ("ask", Rule::Ask), ("deny", Rule::Deny)];
    if observed {
        words.push(("defer", Rule::Defer));
    }
    let rule = specific.take_word(MARK, &words)?;
    decide(answer, rule, specific.take("permissionDecisionReason")?);
    match kind {
        Kind::PreToolUse => answer.updated = specific.take_object("updatedInput")?.map(Into::into),
        Kind::PermissionRequest => {
            answer.updated = specific.take_object("updatedInput")?.map(Into::into);
            take_permission(specific, answer)?;
        }
        Kind::PostToolUse => {
            // The client's older name, for tools of MCP servers.
            let of_mcp_tool = specific.take("updatedMCPToolOutput")?;
            answer.updated = specific.take("updatedToolOutput")?.or(of_mcp_tool);
        }
        _ => {}
    }
    Ok(())
}

/// decisions.md: "`PermissionRequest` has its own output: `hookSpecificOutput.decision` = `{behavior:"allow",
/// updatedInput?, updatedPermissions?}` or `{behavior:"deny", message, interrupt?}`".
fn take_permission(specific: &mut Taker, answer: &mut Answer) -> Result<(), DecodeError> {
    let Some(decision) = specific.take_object("decision")? else { return Ok(()) };
    let mut decision = Taker::new("/hookSpecificOutput/decision", &decision);
    let rule = decision.take_word("behavior", &[("allow", Rule::Allow), ("deny", Rule::Deny)])?;
    decide(answer, rule, decision.take("message")?);
    answer.interrupt = decision.take("interrupt")?.unwrap_or_default();
    answer.updated = decision.take_object("updatedInput")?.map(Into::into).or(answer.updated.take());
    answer.updated_permissions = decision.take::<Vec<Value>>("updatedPermissions")?.map(Into::into);
    Ok(())
}
