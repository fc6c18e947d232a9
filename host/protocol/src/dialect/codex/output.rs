//! Decodes the output of a hook that speaks codex's JSON, as strictly as Codex does.
//!
//! codex.md#reading-an-answer: "A field that Codex does not know makes it reject the whole answer."

use serde_json::Value;

use crate::{
    dialect::common::{FieldReader, decide},
    event::{Event, EventKind},
    json::{DecodeError, Object, describe},
    output::{Decision, Halt, HookOutput, Note, Scope},
    protocol::EventSpec,
};

/// Returns true if the event's answers have `decision` and `reason` at the top, and the fields of their `hookSpecificOutput`.
const fn fields(kind: EventKind) -> (bool, Option<&'static [&'static str]>) {
    match kind {
        EventKind::PreToolUse => {
            (true, Some(&["permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"]))
        }
        EventKind::PermissionRequest => (false, Some(&["decision"])),
        EventKind::PostToolUse => (true, Some(&["additionalContext", "updatedToolOutput", "updatedMCPToolOutput"])),
        EventKind::UserPromptSubmit => (true, Some(&["additionalContext"])),
        EventKind::SessionStart | EventKind::SubagentStart => (false, Some(&["additionalContext"])),
        EventKind::Stop | EventKind::SubagentStop => (true, None),
        _ => (false, None),
    }
}

pub(super) fn decode(spec: &EventSpec, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
    let (mut output, mut notes) = (HookOutput::default(), Vec::new());
    let kind = event.kind();
    let (blocks, specific) = fields(kind);
    let mut top = FieldReader::new("", wire);
    take_universal(spec, wire, &mut top, &mut output)?;
    if blocks {
        take_block(kind, &mut top, &mut output)?;
    }
    if let (Some(known), Some(inner)) = (specific, take_specific(specific, &mut top)?) {
        let mut reader = FieldReader::new("/hookSpecificOutput", &inner);
        match reader.take::<String>("hookEventName")? {
            Some(name) if name == event.name => {}
            // decisions.md#codex: "A `hookEventName` of another event is accepted with a warning, as Codex accepts it."
            Some(_) => notes.push(Note::warning("hookEventName names another event")),
            None => {
                let why = "Codex rejects hookSpecificOutput without it".into();
                return Err(DecodeError::Missing { pointer: reader.pointer("hookEventName"), why });
            }
        }
        take_specific_fields(event, known, &mut reader, &mut output)?;
        refuse_unknown(&reader)?;
    }
    refuse_unknown(&top)?;
    Ok((output, notes))
}

fn take_specific(known: Option<&[&str]>, top: &mut FieldReader) -> Result<Option<Object>, DecodeError> {
    if known.is_some() { top.take_object("hookSpecificOutput") } else { Ok(None) }
}

/// Takes `continue`, `stopReason`, `suppressOutput` and `systemMessage`.
fn take_universal(
    spec: &EventSpec,
    wire: &Object,
    top: &mut FieldReader,
    output: &mut HookOutput,
) -> Result<(), DecodeError> {
    // codex.md#reading-an-answer: "So does a field of another type, a word that it does not know, and a `null` for
    // `continue` or `suppressOutput`."
    for key in ["continue", "suppressOutput"] {
        if wire.get(key).is_some_and(Value::is_null) {
            return Err(rejected(top, key, "true or false", &Value::Null));
        }
    }
    let halts = top.take::<bool>("continue")? == Some(false);
    let reason = top.take::<String>("stopReason")?;
    let suppresses = top.take::<bool>("suppressOutput")? == Some(true);
    output.system_message = top.take::<String>("systemMessage")?;
    let strict = matches!(spec.kind, EventKind::PreToolUse | EventKind::PermissionRequest);
    if suppresses && (strict || spec.kind == EventKind::PostToolUse) {
        return Err(rejected(top, "suppressOutput", "nothing", &Value::Bool(true)));
    }
    if let (true, Some(reason)) = (strict, &reason) {
        return Err(rejected(top, "stopReason", "nothing", &Value::String(reason.clone())));
    }
    // Codex obeys `continue: false` on events that have a halt or a denial.
    if halts && (strict || !spec.blockable) {
        return Err(rejected(top, "continue", "true", &Value::Bool(false)));
    }
    output.halt = halts.then_some(Halt { scope: Scope::Turn, reason });
    Ok(())
}

/// Takes `decision: "block"` with its reason.
fn take_block(kind: EventKind, top: &mut FieldReader, output: &mut HookOutput) -> Result<(), DecodeError> {
    let decision = top.take_word("decision", &[("block", Decision::Deny)])?;
    let reason = top.take::<String>("reason")?;
    // codex.md#reading-an-answer: "A block needs a reason that is not empty. On `PreToolUse` and `PostToolUse` a reason
    // without its decision is rejected."
    let tool = kind == EventKind::PreToolUse || kind == EventKind::PostToolUse && output.halt.is_none();
    match (&decision, &reason) {
        (Some(_), reason) => need_reason(top, "reason", reason.as_ref())?,
        (None, Some(reason)) if tool => {
            return Err(rejected(top, "reason", "nothing without a decision", &Value::String(reason.clone())));
        }
        _ => {}
    }
    decide(output, decision, reason);
    Ok(())
}

fn take_specific_fields(
    event: &Event,
    known: &[&str],
    fields: &mut FieldReader,
    output: &mut HookOutput,
) -> Result<(), DecodeError> {
    if known.contains(&"additionalContext") {
        output.context = fields.take("additionalContext")?;
    }
    match event.kind() {
        EventKind::PreToolUse => take_permission_decision(fields, output),
        EventKind::PermissionRequest => take_dialog(fields, output),
        EventKind::PostToolUse => {
            let mcp = event.call.as_ref().is_some_and(|call| call.name.starts_with("mcp__"));
            for key in ["updatedToolOutput", "updatedMCPToolOutput"] {
                let Some(updated) = fields.take::<Value>(key)? else { continue };
                // decisions.md#codex: "On any other tool Codex ignores them, so the hook has failed."
                if !mcp {
                    return Err(rejected(fields, key, "nothing, because Codex ignores it on this tool", &updated));
                }
                output.updated.get_or_insert(updated);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn take_permission_decision(fields: &mut FieldReader, output: &mut HookOutput) -> Result<(), DecodeError> {
    let words = [("deny", Decision::Deny), ("allow", Decision::Allow)];
    let decision = fields.take_word("permissionDecision", &words)?;
    let reason = fields.take::<String>("permissionDecisionReason")?;
    output.updated = fields.take("updatedInput")?;
    match (&decision, &reason, &output.updated) {
        (Some(Decision::Deny), reason, None) => need_reason(fields, "permissionDecisionReason", reason.as_ref())?,
        // codex.md#pretooluse: "`permissionDecision: "allow"` is obeyed only together with `updatedInput`".
        (Some(Decision::Allow), _, None) => {
            let why = "Codex rejects allow without it".into();
            return Err(DecodeError::Missing { pointer: fields.pointer("updatedInput"), why });
        }
        (Some(Decision::Allow), ..) | (None, None, None) => {}
        (_, _, Some(updated)) => return Err(rejected(fields, "updatedInput", "nothing without an allow", updated)),
        (_, Some(reason), None) => {
            let found = Value::String(reason.clone());
            return Err(rejected(fields, "permissionDecisionReason", "nothing without a decision", &found));
        }
        _ => {}
    }
    decide(output, decision, reason);
    Ok(())
}

/// Takes the decision of a permission request. codex.md#permissionrequest: "`updatedInput`, `updatedPermissions` and
/// `interrupt: true` make Codex reject the whole answer: the user is asked."
fn take_dialog(fields: &mut FieldReader, output: &mut HookOutput) -> Result<(), DecodeError> {
    let Some(decision) = fields.take_object("decision")? else { return Ok(()) };
    let mut decision = FieldReader::new("/hookSpecificOutput/decision", &decision);
    for key in ["updatedInput", "updatedPermissions"] {
        if let Some(found) = decision.take::<Value>(key)? {
            return Err(rejected(&decision, key, "nothing", &found));
        }
    }
    if decision.take::<bool>("interrupt")? == Some(true) {
        return Err(rejected(&decision, "interrupt", "false", &Value::Bool(true)));
    }
    let words = [("allow", Decision::Allow), ("deny", Decision::Deny)];
    let Some(behavior) = decision.take_word("behavior", &words)? else {
        let why = "Codex rejects a decision without it".into();
        return Err(DecodeError::Missing { pointer: decision.pointer("behavior"), why });
    };
    let message = decision.take("message")?;
    decide(output, Some(behavior), message);
    refuse_unknown(&decision)
}

/// Requires a reason. codex.md#pretooluse: "Without a reason, or with an empty one, Codex rejects the answer."
fn need_reason(fields: &FieldReader, key: &str, reason: Option<&String>) -> Result<(), DecodeError> {
    match reason {
        Some(reason) if !reason.trim().is_empty() => Ok(()),
        Some(reason) => Err(rejected(fields, key, "a reason", &Value::String(reason.clone()))),
        None => {
            let why = "Codex rejects a denial without a reason".into();
            Err(DecodeError::Missing { pointer: fields.pointer(key), why })
        }
    }
}

fn refuse_unknown(fields: &FieldReader) -> Result<(), DecodeError> {
    let Some((key, value)) = fields.left().next() else { return Ok(()) };
    Err(rejected(fields, key, "no such field, because Codex rejects an answer that has it", value))
}

fn rejected(fields: &FieldReader, key: &str, expected: &str, found: &Value) -> DecodeError {
    DecodeError::Type { pointer: fields.pointer(key), expected: expected.to_owned(), found: describe(found) }
}
