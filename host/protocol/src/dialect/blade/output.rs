//! Decodes the output of a hook that speaks blade's JSON.

use serde_json::Value;

use super::{DOCUMENTED, OBSERVED, observed::unwrap_result};
use crate::{
    Dialect,
    dialect::common::{
        FieldReader, MARK, decide, keep_extra, known_keys, mark_form, report_misplaced, shows_form, take_common,
        take_permission_denial, take_specific, take_top_denial,
    },
    event::{Event, EventKind, field_type::FieldType},
    json::{DecodeError, Object},
    output::{Decision, HookOutput, Note, join},
};

pub(super) fn decode(observed: bool, event: &Event, wire: &Object) -> Result<(HookOutput, Vec<Note>), DecodeError> {
    let (mut output, mut notes) = (HookOutput::default(), Vec::new());
    let mut top = FieldReader::new("", wire);
    // decisions.md#blade-config: "The generic `continue:false` is the *top-level* one and stops everything".
    take_common(&mut top, &mut output)?;
    let specific = take_specific(&mut top, event, &mut notes)?;
    let mut fields = Fields { specific, top };

    take_decisions(observed, event, &mut fields, &mut output)?;
    if event.kind() == EventKind::CanUseTool {
        output.interrupt = fields.take("interrupt")?.unwrap_or_default() && output.decision == Some(Decision::Deny);
    }
    // decisions.md#blade-config: "`contextInjection`/`additionalContext` are joined".
    output.context = join(&[fields.take("contextInjection")?, fields.take("additionalContext")?]);
    match event.kind() {
        EventKind::PreToolUse | EventKind::CanUseTool => {
            output.updated = fields.take_object("updatedInput")?.map(Value::Object);
        }
        EventKind::UserPromptSubmit => output.updated = fields.take::<String>("updatedPrompt")?.map(Value::String),
        EventKind::PostToolUse => {
            let updated = fields.take("updatedOutput")?;
            output.updated = updated.map(|value| if observed { unwrap_result(event, value) } else { value });
        }
        EventKind::SessionStart => output.env = take_env(&mut fields)?,
        _ => {}
    }
    if !observed {
        notes.extend(misplaced_continue(event.kind(), wire, &output));
    }
    let Fields { mut specific, mut top } = fields;
    let marked = event.kind() == EventKind::OtherEvent && output.decision.is_some();
    for place in specific.iter_mut().chain([&mut top]) {
        report_misplaced(place, known_keys::BLADE, &mut notes);
    }
    keep_extra(&mut output, top, specific);
    if marked && shows_form(wire, MARK) {
        mark_form(&mut output, MARK);
    }
    Ok((output, notes))
}

/// Returns a note on a `continue` at the top that was meant for the event. decisions.md#blade-config: "The generic
/// `continue:false` is the *top-level* one and stops everything; `hookSpecificOutput.continue` is specific to the
/// event".
fn misplaced_continue(kind: EventKind, wire: &Object, output: &HookOutput) -> Option<Note> {
    let inside = wire.get("hookSpecificOutput").and_then(|specific| specific.get("continue"));
    if inside.is_some() || !matches!(kind, EventKind::Stop | EventKind::SubagentStop) {
        return None;
    }
    let belongs = "to keep the agent going, `continue` and its reason stand in `hookSpecificOutput`";
    match (kind, wire.get("continue").and_then(Value::as_bool)) {
        (EventKind::SubagentStop, Some(false))
            if wire.contains_key("continueReason") || !wire.contains_key("stopReason") =>
        {
            Some(Note::warning(format!("/continue: `false` here stops everything; {belongs}")))
        }
        (EventKind::Stop, Some(true)) => {
            Some(Note::dropped(format!("/continue: `true` has no effect here; {belongs}")))
        }
        _ if wire.contains_key("continueReason") && output.decision.is_none() => {
            Some(Note::dropped(format!("/continueReason: it is the reason of nothing; {belongs}")))
        }
        _ => None,
    }
}

/// The two places of an event's fields. decisions.md#blade-config: "Event fields live inside `hookSpecificOutput`; they
/// are also accepted at the top level. If both have the same decision, the inner reason comes first."
struct Fields {
    specific: Option<FieldReader>,
    top: FieldReader,
}

impl Fields {
    fn take<T: FieldType>(&mut self, key: &str) -> Result<Option<T>, DecodeError> {
        self.both(|place| place.take(key)).map(|[inside, top]| inside.or(top))
    }

    fn take_object(&mut self, key: &str) -> Result<Option<Object>, DecodeError> {
        self.both(|place| place.take_object(key)).map(|[inside, top]| inside.or(top))
    }

    fn both<T>(
        &mut self,
        mut take: impl FnMut(&mut FieldReader) -> Result<Option<T>, DecodeError>,
    ) -> Result<[Option<T>; 2], DecodeError> {
        let inside = self.specific.as_mut().map(&mut take).transpose()?.flatten();
        Ok([inside, take(&mut self.top)?])
    }
}

/// Takes the decisions of both places. The strictest one is the hook's.
fn take_decisions(
    observed: bool,
    event: &Event,
    fields: &mut Fields,
    output: &mut HookOutput,
) -> Result<(), DecodeError> {
    let kind = event.kind();
    let profile = if observed { &OBSERVED } else { &DOCUMENTED };
    let blockable = profile.spec_of(event).blockable;
    let inside = fields.specific.as_mut().map(|specific| (specific, true));
    let mut unclaimed = None;
    for (place, inside) in inside.into_iter().chain([(&mut fields.top, false)]) {
        let (decision, reason) = take_own(observed, kind, place, inside)?;
        if decision.is_none() {
            unclaimed = unclaimed.or(reason.clone());
        }
        decide(output, decision, reason);
        // decisions.md#outputs: "A deny or ask in the form or position of another event is understood on every event
        // under `claude`, `codebuddy`, `opencode`, and on every event that can be blocked under `blade`".
        if blockable {
            take_top_denial(place, output)?;
            if !observed {
                take_permission_denial(place, output)?;
            }
        }
        // decisions.md#blade-config: "Top-level `decision:"block"` counts as deny where the event can be blocked, and
        // so does one inside `hookSpecificOutput`." On other events, `degrade` keeps only the reason.
        let (decision, reason) = if observed && place.is_object("decision") {
            take_behavior(place, output)?
        } else {
            (place.take_word("decision", BLOCK)?, place.take("reason")?)
        };
        if decision.is_none() {
            unclaimed = unclaimed.or(reason.clone());
        }
        decide(output, decision, reason);
    }
    if output.decision.is_some() {
        output.reason = output.reason.take().or(unclaimed);
    }
    Ok(())
}

/// Takes the decision in the event's own form, with its reason.
fn take_own(
    observed: bool,
    kind: EventKind,
    place: &mut FieldReader,
    inside: bool,
) -> Result<(Option<Decision>, Option<String>), DecodeError> {
    Ok(match kind {
        // blade.md#pretooluse: "`permissionDecision` | `allow`, `deny` or `ask` | the decision".
        EventKind::PreToolUse => (place.take_word(MARK, &[ASK, DENY, ALLOW])?, place.take("permissionDecisionReason")?),
        // blade.md#permissionrequest: "`permissionDecision` | `approve`, `deny` or `ask` | the decision".
        EventKind::PermissionRequest => {
            (place.take_word(MARK, &[ASK, DENY, APPROVE])?, place.take("permissionDecisionReason")?)
        }
        EventKind::OtherEvent => {
            (place.take_word(MARK, &[ASK, DENY, ALLOW, APPROVE])?, place.take("permissionDecisionReason")?)
        }
        // blade.md#canusetool: "`behavior` | `allow`, `deny` or `ask` | the decision"; "`message` | string, optional |
        // shown when it is denied".
        EventKind::CanUseTool => (place.take_word("behavior", &[ASK, DENY, ALLOW])?, place.take("message")?),
        // decisions.md#blade-config: "`hookSpecificOutput.continue` is specific to the event: `Stop` blocks the stop on
        // `true`, `SubagentStop` blocks the stop on `false`. Both are exactly as written; do not "fix" the asymmetry."
        // blade-observed.md#what-bladeobserved-says: "A blocked `Stop` or `SubagentStop` is `continue: false`".
        EventKind::Stop if inside => (take_flag(place, "continue", !observed)?, place.take("continueReason")?),
        EventKind::SubagentStop if inside => (take_flag(place, "continue", false)?, place.take("continueReason")?),
        EventKind::Stop | EventKind::SubagentStop => (None, place.take("continueReason")?),
        // blade.md#taskcompleted: "`blockCompletion` | boolean | blocks the completion".
        EventKind::TaskCompleted => (take_flag(place, "blockCompletion", true)?, place.take("blockReason")?),
        // blade.md#compaction: "`blockCompaction` | boolean | blocks the compaction".
        EventKind::PreCompact => (take_flag(place, "blockCompaction", true)?, place.take("blockReason")?),
        _ => (None, None),
    })
}

const ALLOW: (&str, Decision) = ("allow", Decision::Allow);
const APPROVE: (&str, Decision) = ("approve", Decision::Allow);
const ASK: (&str, Decision) = ("ask", Decision::Ask);
const DENY: (&str, Decision) = ("deny", Decision::Deny);

const BLOCK: &[(&str, Decision)] = &[("block", Decision::Deny)];

/// blade-observed.md#what-the-programs-make-of-a-commands-output: "`{"decision": {"behavior": "block"},
/// "systemMessage": R}` blocks". decisions.md#blade-observed: "`behavior: "deny"` and its `message` are understood there
/// too."
fn take_behavior(
    place: &mut FieldReader,
    output: &mut HookOutput,
) -> Result<(Option<Decision>, Option<String>), DecodeError> {
    let fields = place.take_object("decision")?.unwrap_or_default();
    let mut fields = FieldReader::new(place.pointer("decision"), &fields);
    let decision = fields.take_word("behavior", &[("block", Decision::Deny), DENY])?;
    let reason = match fields.take("message")?.or(place.take("reason")?) {
        None if decision.is_some() => output.system_message.take(),
        reason => reason,
    };
    Ok((decision, reason))
}

/// Takes a flag that blocks if its value is `blocking`.
fn take_flag(place: &mut FieldReader, key: &str, blocking: bool) -> Result<Option<Decision>, DecodeError> {
    Ok((place.take::<bool>(key)? == Some(blocking)).then_some(Decision::Deny))
}

/// blade.md#sessionstart: "`env` | object of strings | environment variables for the whole session".
fn take_env(fields: &mut Fields) -> Result<Object, DecodeError> {
    let env = fields.take_object("env")?.unwrap_or_default();
    for (name, value) in &env {
        if !value.is_string() {
            let pointer = format!("/hookSpecificOutput/env/{}", crate::json::token(name));
            return Err(DecodeError::wrong_type(pointer, "a string", value));
        }
    }
    Ok(env)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::blade::DOCUMENTED;
    use crate::protocol::Dialect;

    fn read(event: &str, output: Value) -> Result<HookOutput, DecodeError> {
        let event = json!({ "hook_event_name": event, "tool_name": "Bash", "tool_input": {}, "user_prompt": "p" });
        let event = DOCUMENTED.decode_event(event.to_string().as_bytes(), None).unwrap();
        let Value::Object(output) = output else { panic!("an object") };
        decode(false, &event, &output).map(|(output, _)| output)
    }

    #[test]
    fn continue_is_asymmetric_as_specified() {
        for (event, expressible, blocks) in
            [("Stop", true, true), ("Stop", false, false), ("SubagentStop", true, false), ("SubagentStop", false, true)]
        {
            let output = json!({ "hookSpecificOutput": { "hookEventName": event, "continue": expressible } });
            let decision = read(event, output).unwrap().decision;
            assert_eq!(decision, blocks.then_some(Decision::Deny), "{event} {expressible}");
            let top = read(event, json!({ "continue": expressible })).unwrap();
            assert_eq!((top.decision, top.halt.is_some()), (None, !expressible), "{event} {expressible} at the top");
        }
    }

    #[test]
    fn event_fields_count_at_the_top_and_the_stricter_decision_holds() {
        let top = read("PreToolUse", json!({ "permissionDecision": "deny", "permissionDecisionReason": "no" }));
        assert_eq!(top.unwrap(), HookOutput::decided(Decision::Deny, "no"));
        let inside = json!({ "hookEventName": "PreToolUse", "permissionDecision": "allow" });
        let both = read("PreToolUse", json!({ "permissionDecision": "deny", "hookSpecificOutput": inside }));
        assert_eq!(both.unwrap().decision, Some(Decision::Deny));
    }

    #[test]
    fn each_event_has_its_own_decision_words() {
        assert!(read("PreToolUse", json!({ "permissionDecision": "approve" })).is_err());
        assert!(read("PermissionRequest", json!({ "permissionDecision": "allow" })).is_err());
        assert!(read("UserPromptSubmit", json!({ "decision": "deny" })).is_err());
        assert!(read("canUseTool", json!({ "behavior": "block" })).is_err());
    }

    #[test]
    fn another_events_fields_have_no_effect() {
        let output = json!({ "permissionDecision": "deny", "hookSpecificOutput": { "blockCompletion": true } });
        assert!(read("Notification", output).unwrap().is_silent());
    }

    #[test]
    fn environment_variables_are_texts() {
        let number = json!({ "hookSpecificOutput": { "env": { "N": 1 } } });
        assert_eq!(
            read("SessionStart", number).unwrap_err().to_string(),
            "/hookSpecificOutput/env/N: expected a string, found the number 1"
        );
    }
}
