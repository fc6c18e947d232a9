//! `HookOutput` and `PermissionResult`: decodes outputs, and encodes the verdict in the same form.

use serde_json::{Value, json};

use crate::{
    dialect::common::{FieldReader, known_keys, put_extra, put_text},
    event::{Event, EventKind},
    json::{DecodeError, Object},
    output::{Decision, Halt, HookOutput, Note, Scope},
};

/// Returns the field that rewrites an event, if it has one. The specification has no rewrite of a prompt or of a
/// failure; `degrade` turns such a rewrite into a block.
fn rewrite_key(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::PreToolUse | EventKind::UserPromptSubmit => Some("modifiedInput"),
        EventKind::PostToolUse | EventKind::PostToolUseFailure => Some("modifiedOutput"),
        _ => None,
    }
}

pub(super) fn decode(event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
    let mut notes = Vec::new();
    let mut top = FieldReader::new("", wire);
    let mut output = match event.kind() {
        EventKind::CanUseTool => decode_permission(&mut top, &mut notes)?,
        kind => decode_output(kind, &mut top, &mut notes)?,
    };
    // blade-callback.md#canusetool: "Hooks and `canUseTool` are two separate systems". The fields of one have no effect
    // in the other, and are removed and reported.
    let name = &event.name;
    top.drop_known(known_keys::BLADE_CALLBACK, &mut notes, |key| format!("`{key}` has no effect on {name}"));
    output.extra = top.rest();
    Ok((output, notes))
}

/// Reads a rewritten prompt. blade-observed.md#what-blade-callbackobserved-says: "`modifiedInput` on `UserPromptSubmit`
/// is `{"userPrompt": …}`; from hooks it may be the text alone."
fn prompt(value: &Value) -> Result<Value, DecodeError> {
    let text =
        [Some(value), value.get("userPrompt"), value.get("message")].into_iter().flatten().find(|v| v.is_string());
    text.cloned().ok_or_else(|| {
        DecodeError::wrong_type("/modifiedInput", "the prompt, or an object with it under `userPrompt`", value)
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Action {
    Continue,
    Skip,
    Abort,
}

const ACTIONS: &[(&str, Action)] = &[("continue", Action::Continue), ("skip", Action::Skip), ("abort", Action::Abort)];

fn decode_output(kind: EventKind, top: &mut FieldReader, notes: &mut Vec<Note>) -> Result<HookOutput, DecodeError> {
    let action = top.take_word("action", ACTIONS)?;
    if action.is_none() {
        // decisions.md#outputs: "blade-callback and picoclaw print their word for it, `continue`".
        notes.push(if top.left().any(|(_, value)| !value.is_null()) {
            Note::warning("the output has no action; it counts as `continue`").of_misfit()
        } else {
            Note::misfit("the output has no action")
        });
    }
    let action = action.unwrap_or(Action::Continue);
    let reason = top.take::<String>("reason")?;
    let mut output = HookOutput::default();
    for key in ["modifiedInput", "modifiedOutput"] {
        let Some(value) = top.take::<Value>(key)? else { continue };
        // decisions.md#blade-callback: "`modifiedInput` counts only on `PreToolUse`, `modifiedOutput` only on
        // `PostToolUse`. Both count beside `continue` only".
        if rewrite_key(kind) == Some(key) && action == Action::Continue {
            output.updated = Some(if kind == EventKind::UserPromptSubmit { prompt(&value)? } else { value });
        } else {
            notes.push(Note::dropped(format!("{key} has no effect here")));
        }
    }
    match action {
        Action::Continue if reason.is_some() => notes.push(Note::dropped("a reason beside `continue` has no effect")),
        Action::Continue => {}
        // blade-callback.md#output: "`skip` | leave out the current tool call".
        Action::Skip => (output.decision, output.reason) = (Some(Decision::Skip), reason),
        // blade-callback.md#output: "`abort` | end the whole session".
        Action::Abort => output.halt = Some(Halt { scope: Scope::Session, reason }),
    }
    Ok(output)
}

/// decisions.md#blade-callback: "`canUseTool` is separate: `allow(updatedInput?)`, `deny(message, interrupt?)`, `ask`."
fn decode_permission(top: &mut FieldReader, notes: &mut Vec<Note>) -> Result<HookOutput, DecodeError> {
    let decision =
        top.take_word("behavior", &[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)])?;
    let updated = top.take_object("updatedInput")?.map(Value::Object);
    let message = top.take::<String>("message")?;
    let interrupt = top.take::<bool>("interrupt")?.unwrap_or_default();
    let mut output = HookOutput { decision, ..HookOutput::default() };
    let (allows, denies) = (output.decision == Some(Decision::Allow), output.decision == Some(Decision::Deny));
    if output.decision.is_none() && (updated.is_some() || message.is_some() || interrupt) {
        notes.push(Note::warning("the result has no behavior; it counts as `ask`").of_misfit());
    }
    if updated.is_some() && !allows {
        notes.push(Note::dropped("updatedInput has no effect without `allow`"));
    }
    if (message.is_some() || interrupt) && !denies {
        notes.push(Note::dropped("message and interrupt have no effect without `deny`"));
    }
    output.updated = updated.filter(|_| allows);
    output.reason = message.filter(|_| denies);
    output.interrupt = interrupt && denies;
    Ok(output)
}

/// Encodes the verdict. It has no nulls, and no defaults except `action` and `behavior`, which every output has.
pub(super) fn encode(event: &Event, output: &HookOutput) -> Value {
    let mut wire = Object::new();
    match event.kind() {
        EventKind::CanUseTool => encode_permission(output, &mut wire),
        kind => encode_output(kind, output, &mut wire),
    }
    put_extra(output, &mut wire);
    Value::Object(wire)
}

fn encode_output(kind: EventKind, output: &HookOutput, wire: &mut Object) {
    if let Some(halt) = &output.halt {
        wire.insert("action".into(), "abort".into());
        put_text(wire, "reason", halt.reason.as_ref());
    } else if output.decision.is_some() {
        // `skip` is the only decision that a hook's output can express.
        wire.insert("action".into(), "skip".into());
        put_text(wire, "reason", output.reason.as_ref());
    } else {
        // blade-callback.md#output: "`continue` | go on as usual". It is also the answer without any outputs.
        wire.insert("action".into(), "continue".into());
        if let (Some(key), Some(updated)) = (rewrite_key(kind), &output.updated) {
            let prompt = kind == EventKind::UserPromptSubmit;
            wire.insert(key.into(), if prompt { json!({ "userPrompt": updated }) } else { updated.clone() });
        }
    }
}

fn encode_permission(output: &HookOutput, wire: &mut Object) {
    let (policy, rest) = match output.decision {
        // "{ behavior: 'allow', updatedInput? }"
        Some(Decision::Allow) => ("allow", output.updated.as_ref().map(|updated| ("updatedInput", updated.clone()))),
        // "{ behavior: 'deny', message: string, interrupt? }": the message is required.
        Some(Decision::Deny) => {
            let message = output.reason.as_deref().unwrap_or("denied by a hook");
            ("deny", Some(("message", json!(message))))
        }
        // blade-callback.md#canusetool: "`ask` | none | leave it to the built-in permission system". It is also the
        // answer without any outputs.
        _ => ("ask", None),
    };
    wire.insert("behavior".into(), policy.into());
    wire.extend(rest.map(|(key, value)| (key.to_owned(), value)));
    if output.decision == Some(Decision::Deny) && output.interrupt {
        wire.insert("interrupt".into(), true.into());
    }
}
