//! What a hook that speaks claude's JSON said.

use crate::{
    answer::{Answer, Note, Rule},
    dialect::common::{
        MARK, Taker, decide, keep_extra, mark_form, report_misplaced, shows_form, take_common, take_permission,
        take_specific,
    },
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
        report_misplaced(specific, KNOWN_KEYS, &mut notes)?;
    }
    report_misplaced(&mut top, KNOWN_KEYS, &mut notes)?;
    let marked = event.kind() == Kind::OtherEvent && shows_form(wire, MARK);
    keep_extra(&mut answer, top, specific);
    if marked {
        mark_form(&mut answer, MARK);
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
