//! Decodes a hook's output, which has Claude's form.

use serde_json::Value;

use crate::{
    dialect::common::{
        FieldReader, MARK, decide, keep_extra, known_keys, report_misplaced, take_common, take_permission_denial,
        take_specific, take_top_denial,
    },
    event::{Event, EventKind},
    json::{DecodeError, Object},
    output::{Decision, HookOutput, Note},
};

/// The field that rewrites an event, if it has one.
pub(super) fn rewrite_key(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::PreToolUse => Some("updatedInput"),
        EventKind::PostToolUse => Some("updatedToolOutput"),
        EventKind::UserPromptSubmit => Some("updatedPrompt"),
        _ => None,
    }
}

pub(super) fn decode(event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
    let (mut output, mut notes) = (HookOutput::default(), Vec::new());
    let mut top = FieldReader::new("", wire);
    take_common(&mut top, &mut output)?;
    let decision = top.take_word("decision", &[("block", Decision::Deny)])?;
    decide(&mut output, decision, top.take("reason")?);
    let mut specific = take_specific(&mut top, event, &mut notes)?;
    take_top_denial(&mut top, &mut output)?;
    if let Some(specific) = &mut specific {
        let words = [("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)];
        let decision = specific.take_word(MARK, &words)?;
        decide(&mut output, decision, specific.take("permissionDecisionReason")?);
        output.context = specific.take("additionalContext")?;
        output.updated = match rewrite_key(event.kind()) {
            Some(key @ "updatedInput") => specific.take_object(key)?.map(Value::Object),
            Some(key @ "updatedPrompt") => specific.take::<String>(key)?.map(Value::String),
            Some(key) => specific.take(key)?,
            None => None,
        };
        take_permission_denial(specific, &mut output)?;
        report_misplaced(specific, known_keys::OPENCODE, &mut notes);
    }
    report_misplaced(&mut top, known_keys::OPENCODE, &mut notes);
    keep_extra(&mut output, top, specific);
    Ok((output, notes))
}
