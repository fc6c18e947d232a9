//! Records tool calls in the hook's state, and decides nothing.
//!
//! Entries have the key `entry/SESSION/NUMBER`, numbered from 1. Each is a JSON object. An entry has a time only if the
//! client sends one.

use std::time::Duration;

use hookbox_guest::prelude::*;

struct AuditLog;

/// Time for which an entry is kept, so that the state does not fill up: 30 days.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// Maximum number of characters kept of a tool's input. The contents of written files would fill the state.
const INPUT: usize = 1024;

impl PreToolUse for AuditLog {
    fn handle(context: &EventContext, call: &ToolCall) -> Result<Output> {
        let input: String = call.input.to_string().chars().take(INPUT).collect();
        append(context, json!({"event": "PreToolUse", "tool": call.name, "use_id": call.use_id, "input": input}))?;
        Ok(pass())
    }
}

impl SessionEnd for AuditLog {
    fn handle(context: &EventContext, event: &session_end::Event) -> Result<session_end::Output> {
        append(context, json!({"event": "SessionEnd", "reason": event.reason}))?;
        Ok(pass())
    }
}

hookbox_guest::export!(AuditLog: PreToolUse, SessionEnd);

/// Appends an entry. Hooks may run concurrently, so the number is counted atomically and no entry overwrites another.
fn append(context: &EventContext, entry: Value) -> Result<()> {
    let session = context.session_id.as_deref().unwrap_or_default();
    let number = state::increment_for(KEPT, &format!("count/{session}"), 1)?;
    let entry = Json::from(entry).with("/timestamp", context.timestamp.clone())?;
    state::set_for(KEPT, &format!("entry/{session}/{number:06}"), entry.to_string())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use hookbox_guest::testing;

    use super::*;

    fn context() -> EventContext {
        EventContext {
            session_id: Some("s".to_owned()),
            timestamp: Some("2026-01-01T00:00:00Z".to_owned()),
            ..EventContext::default()
        }
    }

    fn call(call: &ToolCall) -> Result<Output> {
        <AuditLog as PreToolUse>::handle(&context(), call)
    }

    #[test]
    fn calls_are_recorded_in_order_without_a_decision() {
        let host = testing::host();
        assert_eq!(call(&ToolCall::new("Bash", json!({"command": "ls"}))), Ok(pass()));
        assert_eq!(call(&ToolCall::new("Read", json!({}))), Ok(pass()));
        assert_eq!(host.keys(), ["count/s", "entry/s/000001", "entry/s/000002"]);
        assert_eq!(
            host.state("entry/s/000001").as_deref(),
            Some(
                r#"{"event":"PreToolUse","tool":"Bash","use_id":null,"input":"{\"command\":\"ls\"}","timestamp":"2026-01-01T00:00:00Z"}"#
            )
        );
    }

    #[test]
    fn the_end_of_the_session_is_recorded() {
        let host = testing::host();
        let event = session_end::Event { reason: Some("logout".to_owned()), ..session_end::Event::default() };
        assert_eq!(<AuditLog as SessionEnd>::handle(&context(), &event), Ok(pass()));
        assert!(host.state("entry/s/000001").is_some_and(|entry| entry.contains("logout")));
    }

    #[test]
    fn long_inputs_are_cut() {
        let host = testing::host();
        assert_eq!(call(&ToolCall::new("Write", json!({"content": "x".repeat(100_000)}))), Ok(pass()));
        assert!(host.state("entry/s/000001").is_some_and(|entry| entry.len() < 2 * INPUT));
    }
}
