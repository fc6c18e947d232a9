//! What a hook that speaks blade's JSON said.

use serde_json::Value;

use crate::{
    answer::{Answer, Note, Rule, join},
    dialect::common::{
        MARK, Taker, decide, keep_extra, mark_form, report_misplaced, shows_form, take_common, take_specific,
    },
    event::{Event, Kind, fields::FieldType},
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
    "updatedPrompt",
    "updatedOutput",
    "additionalContext",
    "contextInjection",
    "env",
    "continueReason",
    "blockCompletion",
    "blockCompaction",
    "blockReason",
    "behavior",
    "message",
    "interrupt",
];

pub(super) fn decode(event: &Event, wire: &Object) -> Result<(Answer, Vec<Note>), DecodeError> {
    let (mut answer, mut notes) = (Answer::default(), Vec::new());
    let mut top = Taker::new("", wire);
    // decisions.md: "The generic `continue:false` is the *top-level* one and stops everything".
    take_common(&mut top, &mut answer)?;
    let specific = take_specific(&mut top, event, &mut notes)?;
    let mut fields = Fields { specific, top };

    take_decisions(event.kind(), &mut fields, &mut answer)?;
    if event.kind() == Kind::CanUseTool {
        answer.interrupt = fields.take("interrupt")?.unwrap_or_default() && answer.rule == Some(Rule::Deny);
    }
    // decisions.md: "`contextInjection`/`additionalContext` are joined".
    answer.context = join(&[fields.take("contextInjection")?, fields.take("additionalContext")?]);
    match event.kind() {
        Kind::PreToolUse | Kind::CanUseTool => answer.updated = fields.take_object("updatedInput")?.map(Value::Object),
        Kind::UserPromptSubmit => answer.updated = fields.take::<String>("updatedPrompt")?.map(Value::String),
        Kind::PostToolUse => answer.updated = fields.take("updatedOutput")?,
        Kind::SessionStart => answer.env = take_env(&mut fields)?,
        _ => {}
    }
    let Fields { mut specific, mut top } = fields;
    let marked = event.kind() == Kind::OtherEvent && answer.rule.is_some();
    for place in specific.iter_mut().chain([&mut top]) {
        report_misplaced(place, KNOWN_KEYS, &mut notes)?;
    }
    keep_extra(&mut answer, top, specific);
    if marked && shows_form(wire, MARK) {
        mark_form(&mut answer, MARK);
    }
    Ok((answer, notes))
}

/// decisions.md: "Event fields live inside `hookSpecificOutput`; they are also accepted at the top level." What stands
/// inside goes first.
struct Fields {
    specific: Option<Taker>,
    top: Taker,
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
        mut take: impl FnMut(&mut Taker) -> Result<Option<T>, DecodeError>,
    ) -> Result<[Option<T>; 2], DecodeError> {
        let inside = self.specific.as_mut().map(&mut take).transpose()?.flatten();
        Ok([inside, take(&mut self.top)?])
    }
}

/// Takes the decisions of both places; the strictest is the hook's.
fn take_decisions(kind: Kind, fields: &mut Fields, answer: &mut Answer) -> Result<(), DecodeError> {
    let inside = fields.specific.as_mut().map(|specific| (specific, true));
    let mut unclaimed = None;
    for (place, inside) in inside.into_iter().chain([(&mut fields.top, false)]) {
        // decisions.md: "Top-level `decision:"block"` counts as deny where the event can be blocked." Where it cannot,
        // `degrade` keeps the reason only.
        let block = (place.take_word("decision", &[("block", Rule::Deny)])?, place.take("reason")?);
        for (rule, reason) in [take_own(kind, place, inside)?, block] {
            if rule.is_none() {
                unclaimed = unclaimed.or(reason.clone());
            }
            decide(answer, rule, reason);
        }
    }
    if answer.rule.is_some() {
        answer.reason = answer.reason.take().or(unclaimed);
    }
    Ok(())
}

/// Takes the decision in the event's own form, and its reason.
fn take_own(kind: Kind, place: &mut Taker, inside: bool) -> Result<(Option<Rule>, Option<String>), DecodeError> {
    Ok(match kind {
        // blade-config.md: "`permissionDecision` | 'allow' | 'deny' | 'ask'".
        Kind::PreToolUse => (place.take_word(MARK, &[ASK, DENY, ALLOW])?, place.take("permissionDecisionReason")?),
        // blade-config.md: "`permissionDecision` | 'approve' | 'deny' | 'ask'".
        Kind::PermissionRequest => {
            (place.take_word(MARK, &[ASK, DENY, APPROVE])?, place.take("permissionDecisionReason")?)
        }
        Kind::OtherEvent => {
            (place.take_word(MARK, &[ASK, DENY, ALLOW, APPROVE])?, place.take("permissionDecisionReason")?)
        }
        // blade-config.md: "`behavior` | 'allow' | 'deny' | 'ask'", "`message` | 拒绝时显示的消息" (shown on a refusal).
        Kind::CanUseTool => (place.take_word("behavior", &[ASK, DENY, ALLOW])?, place.take("message")?),
        // decisions.md: "`hookSpecificOutput.continue` belongs to the event: `Stop` blocks the stop on `true`,
        // `SubagentStop` blocks the stop on `false`. Both are exactly as written; do not "fix" the asymmetry."
        Kind::Stop if inside => (take_flag(place, "continue", true)?, place.take("continueReason")?),
        Kind::SubagentStop if inside => (take_flag(place, "continue", false)?, place.take("continueReason")?),
        Kind::Stop | Kind::SubagentStop => (None, place.take("continueReason")?),
        // blade-config.md: "`blockCompletion` | boolean | 阻止任务完成" (keeps the task open).
        Kind::TaskCompleted => (take_flag(place, "blockCompletion", true)?, place.take("blockReason")?),
        // blade-config.md: "`blockCompaction` | boolean | 阻止压缩" (keeps the context as it is).
        Kind::PreCompact => (take_flag(place, "blockCompaction", true)?, place.take("blockReason")?),
        _ => (None, None),
    })
}

const ALLOW: (&str, Rule) = ("allow", Rule::Allow);
const APPROVE: (&str, Rule) = ("approve", Rule::Allow);
const ASK: (&str, Rule) = ("ask", Rule::Ask);
const DENY: (&str, Rule) = ("deny", Rule::Deny);

/// A flag that blocks when it is `blocking`.
fn take_flag(place: &mut Taker, key: &str, blocking: bool) -> Result<Option<Rule>, DecodeError> {
    Ok((place.take::<bool>(key)? == Some(blocking)).then_some(Rule::Deny))
}

/// blade-config.md: "`env` | Record<string, string>".
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
    use crate::dialect::{Dialect, blade::DIALECT};

    fn answer(event: &str, output: Value) -> Result<Answer, DecodeError> {
        let event = json!({ "hook_event_name": event, "tool_name": "Bash", "tool_input": {}, "user_prompt": "p" });
        let event = DIALECT.decode_event(event.to_string().as_bytes(), None).unwrap();
        let Value::Object(output) = output else { panic!("an object") };
        decode(&event, &output).map(|(answer, _)| answer)
    }

    #[test]
    fn the_asymmetry_of_continue_is_kept() {
        for (event, says, blocks) in
            [("Stop", true, true), ("Stop", false, false), ("SubagentStop", true, false), ("SubagentStop", false, true)]
        {
            let output = json!({ "hookSpecificOutput": { "hookEventName": event, "continue": says } });
            let rule = answer(event, output).unwrap().rule;
            assert_eq!(rule, blocks.then_some(Rule::Deny), "{event} {says}");
            let top = answer(event, json!({ "continue": says })).unwrap();
            assert_eq!((top.rule, top.halt.is_some()), (None, !says), "{event} {says} at the top");
        }
    }

    #[test]
    fn event_fields_count_at_the_top_and_the_stricter_decision_holds() {
        let top = answer("PreToolUse", json!({ "permissionDecision": "deny", "permissionDecisionReason": "no" }));
        assert_eq!(top.unwrap(), Answer::rule(Rule::Deny, "no"));
        let inside = json!({ "hookEventName": "PreToolUse", "permissionDecision": "allow" });
        let both = answer("PreToolUse", json!({ "permissionDecision": "deny", "hookSpecificOutput": inside }));
        assert_eq!(both.unwrap().rule, Some(Rule::Deny));
    }

    #[test]
    fn each_event_has_its_own_words() {
        assert!(answer("PreToolUse", json!({ "permissionDecision": "approve" })).is_err());
        assert!(answer("PermissionRequest", json!({ "permissionDecision": "allow" })).is_err());
        assert!(answer("UserPromptSubmit", json!({ "decision": "deny" })).is_err());
        assert!(answer("canUseTool", json!({ "behavior": "block" })).is_err());
    }

    #[test]
    fn another_events_fields_have_no_effect() {
        let output = json!({ "permissionDecision": "deny", "hookSpecificOutput": { "blockCompletion": true } });
        assert!(answer("Notification", output).unwrap().is_silent());
    }

    #[test]
    fn environment_variables_are_texts() {
        let number = json!({ "hookSpecificOutput": { "env": { "N": 1 } } });
        assert_eq!(
            answer("SessionStart", number).unwrap_err().to_string(),
            "/hookSpecificOutput/env/N: expected a string, found the number 1"
        );
    }
}
