//! The output fields that all dialects with JSON output have, and the parts of outputs that all dialects merge in the
//! same way.

use serde_json::{Value, json};

use super::reader::FieldReader;
use crate::{
    event::Event,
    json::{DecodeError, Object, token},
    output::{Decision, Halt, HookOutput, Note, Scope, join},
};

/// Takes the output fields that claude, codebuddy and blade share: `continue`, `stopReason`, `suppressOutput`,
/// `systemMessage`.
pub(crate) fn take_common(top: &mut FieldReader, output: &mut HookOutput) -> Result<(), DecodeError> {
    let keep_going = top.take::<bool>("continue")?;
    let reason = top.take::<String>("stopReason")?;
    if keep_going == Some(false) {
        output.halt = Some(Halt { scope: Scope::Turn, reason });
    }
    output.suppress_output = top.take::<bool>("suppressOutput")?.unwrap_or_default();
    output.system_message = top.take::<String>("systemMessage")?;
    Ok(())
}

/// Takes `hookSpecificOutput`.
///
/// decisions.md#outputs: "`hookSpecificOutput.hookEventName` that names another event makes the output invalid. When it
/// is missing, the output is accepted with a warning: dropping a deny would be worse."
pub(crate) fn take_specific(
    top: &mut FieldReader,
    event: &Event,
    notes: &mut Vec<Note>,
) -> Result<Option<FieldReader>, DecodeError> {
    let Some(specific) = top.take_object("hookSpecificOutput")? else { return Ok(None) };
    let mut specific = FieldReader::new("/hookSpecificOutput", &specific);
    match specific.take::<String>("hookEventName")? {
        Some(name) if name == event.name => {}
        Some(name) => {
            return Err(DecodeError::Type {
                pointer: "/hookSpecificOutput/hookEventName".into(),
                expected: format!("`{}`, the event at hand", event.name),
                found: format!("`{}`", crate::json::shorten(&name, 60)),
            });
        }
        None => notes.push(Note::warning("hookSpecificOutput has no hookEventName; a real client would reject it")),
    }
    Ok(Some(specific))
}

/// Writes the fields of [`take_common`]. Defaults are not written.
pub(crate) fn put_common(output: &HookOutput, wire: &mut Object) {
    if let Some(halt) = &output.halt {
        wire.insert("continue".into(), false.into());
        put_text(wire, "stopReason", halt.reason.as_ref());
    }
    if output.suppress_output {
        wire.insert("suppressOutput".into(), true.into());
    }
    put_text(wire, "systemMessage", output.system_message.as_ref());
}

/// Writes a text if there is one. A client may reject a whole output because of one null.
pub(crate) fn put_text(wire: &mut Object, key: &str, text: Option<&String>) {
    if let Some(text) = text {
        wire.insert(key.into(), text.clone().into());
    }
}

/// The new result of a tool as the text that replaces it. Strings are unchanged; other values are written as JSON.
pub(crate) fn new_result(result: &Value) -> String {
    result.as_str().map_or_else(|| result.to_string(), str::to_owned)
}

/// Adds a decision of an output that can decide in several fields.
///
/// decisions.md#outputs: "An output can contain several decisions: the strictest one counts, with the reason beside
/// it."
pub(crate) fn decide(output: &mut HookOutput, decision: Option<Decision>, reason: Option<String>) {
    let kind = decision.as_ref().map(Decision::kind);
    if kind > output.decision_kind() {
        (output.decision, output.reason) = (decision, reason);
    } else if kind.is_some() && kind == output.decision_kind() {
        output.reason = output.reason.take().or(reason);
    }
}

/// Removes known fields that have no effect here and reports them. decisions.md#outputs: "A field that the event does
/// not have, or not in this position, has no effect and is reported."
pub(crate) fn report_misplaced(fields: &mut FieldReader, known: &[&str], notes: &mut Vec<Note>) {
    let at = fields.at.clone();
    fields.drop_known(known, notes, |key| format!("{at}/{} has no effect on this event or in this place", token(key)));
}

/// Writes `hookSpecificOutput` with the event's name, if it has other fields.
pub(crate) fn put_specific(event: &Event, wire: &mut Object, fields: Object) {
    if !fields.is_empty() {
        let mut specific = Object::new();
        specific.insert("hookEventName".into(), event.name.clone().into());
        specific.extend(fields);
        wire.insert("hookSpecificOutput".into(), json!(specific));
    }
}

/// Merges the parts that all dialects merge in the same way: joined texts, halts (the widest scope and the first
/// reason), suppression, session environment and unknown fields.
pub(crate) fn merge_effects(outputs: &[HookOutput]) -> HookOutput {
    let mut outcome = HookOutput {
        context: join(outputs.iter().map(|a| &a.context)),
        system_message: join(outputs.iter().map(|a| &a.system_message)),
        feedback: join(outputs.iter().map(|a| &a.feedback)),
        suppress_output: outputs.iter().any(|a| a.suppress_output),
        ..HookOutput::default()
    };
    let furthest = outputs.iter().filter_map(|a| a.halt.as_ref()).map(|halt| halt.scope).max();
    if let Some(scope) = furthest {
        // decisions.md#claude: "`continue:false` from any hook gives `continue:false`, with the first `stopReason`."
        let reason = outputs.iter().filter_map(|a| a.halt.as_ref()).find_map(|halt| halt.reason.clone());
        outcome.halt = Some(Halt { scope, reason });
    }
    for output in outputs {
        // decisions.md#blade-config: "`env` maps are merged, and the last value of a key wins."
        outcome.env.extend(output.env.clone());
        merge_extra(&mut outcome.extra, &output.extra);
    }
    outcome
}

/// Merges unknown fields; later values win. `hookSpecificOutput` is merged field by field.
fn merge_extra(to: &mut Object, from: &Object) {
    for (key, value) in from {
        match (to.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) if key == "hookSpecificOutput" => old.extend(new.clone()),
            _ => {
                to.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Returns the JSON pointer of the first key that an object has and its rewrite lacks. A client that merges rewrites
/// into the original would keep that key.
pub(crate) fn taken_away(original: &Value, rewrite: &Value) -> Option<String> {
    let original = original.as_object()?;
    let Some(rewrite) = rewrite.as_object() else { return Some("everything".into()) };
    original.iter().find_map(|(key, old)| match rewrite.get(key) {
        None => Some(format!("/{}", token(key))),
        Some(new) if new.is_object() => taken_away(old, new).map(|below| format!("/{}{below}", token(key))),
        Some(_) => None,
    })
}

/// Keeps the unknown fields of a hook's output. `specific` has those of `hookSpecificOutput`.
pub(crate) fn keep_extra(output: &mut HookOutput, top: FieldReader, specific: Option<FieldReader>) {
    output.extra = top.rest();
    let specific = specific.map(FieldReader::rest).unwrap_or_default();
    if !specific.is_empty() {
        output.extra.insert("hookSpecificOutput".into(), Value::Object(specific));
    }
}

/// Returns the unknown fields of `hookSpecificOutput`.
pub(crate) fn specific_extra(output: &HookOutput) -> Object {
    output.extra.get("hookSpecificOutput").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Writes the unknown top-level fields.
pub(crate) fn put_extra(output: &HookOutput, wire: &mut Object) {
    for (key, value) in output.extra.iter().filter(|(key, _)| *key != "hookSpecificOutput") {
        wire.entry(key.clone()).or_insert_with(|| value.clone());
    }
}
