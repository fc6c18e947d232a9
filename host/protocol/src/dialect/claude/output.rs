//! Decodes the output of a hook that speaks claude's JSON.

use crate::{
    dialect::common::{
        FieldReader, MARK, decide, keep_extra, known_keys, mark_form, report_misplaced, shows_form, take_common,
        take_permission, take_permission_denial, take_specific, take_top_denial,
    },
    event::{Event, EventKind},
    json::{DecodeError, Object},
    output::{Decision, HookOutput, Note},
};

pub(super) fn decode(observed: bool, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
    let (mut output, mut notes) = (HookOutput::default(), Vec::new());
    let mut top = FieldReader::new("", wire);
    take_common(&mut top, &mut output)?;
    let mut specific = take_specific(&mut top, event, &mut notes)?;

    // decisions.md#claude: "Every form of a block or a permission decision is understood on every event, and printed in
    // the event's own form: dropping a deny would be worse."
    let words: &[(&str, Decision)] = match (observed, event.kind()) {
        (true, EventKind::PreToolUse) => &[("block", Decision::Deny), ("approve", Decision::Allow)],
        _ => &[("block", Decision::Deny)],
    };
    let (decision, reason) = (top.take_word("decision", words)?, top.take("reason")?);
    decide(&mut output, decision, reason);
    take_top_denial(&mut top, &mut output)?;
    if let Some(specific) = &mut specific {
        take_specific_fields(observed, event.kind(), specific, &mut output, &mut notes)?;
        take_permission_denial(specific, &mut output)?;
        report_misplaced(specific, known_keys::CLAUDE, &mut notes);
    }
    report_misplaced(&mut top, known_keys::CLAUDE, &mut notes);
    let marked = event.kind() == EventKind::OtherEvent && shows_form(wire, MARK);
    keep_extra(&mut output, top, specific);
    if marked {
        mark_form(&mut output, MARK);
    }
    Ok((output, notes))
}

fn take_specific_fields(
    observed: bool,
    kind: EventKind,
    specific: &mut FieldReader,
    output: &mut HookOutput,
    notes: &mut Vec<Note>,
) -> Result<(), DecodeError> {
    output.context = specific.take("additionalContext")?;
    // This form is accepted on every event, in the same way as the block at the top: a hook for several events may know
    // only one form.
    let mut words = vec![("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)];
    if observed {
        words.push(("defer", Decision::Defer));
    }
    let decision = specific.take_word(MARK, &words)?;
    decide(output, decision, specific.take("permissionDecisionReason")?);
    match kind {
        EventKind::PreToolUse => output.updated = specific.take_object("updatedInput")?.map(Into::into),
        EventKind::PermissionRequest => {
            output.updated = specific.take_object("updatedInput")?.map(Into::into);
            take_permission(specific, output, notes)?;
        }
        EventKind::PostToolUse => {
            // The older name of this field, for the tools of MCP servers.
            let of_mcp_tool = specific.take("updatedMCPToolOutput")?;
            output.updated = specific.take("updatedToolOutput")?.or(of_mcp_tool);
        }
        _ => {}
    }
    Ok(())
}
