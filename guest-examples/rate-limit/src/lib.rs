//! Limits the number of calls of a tool in a session.

use std::{collections::BTreeMap, time::Duration};

use hookbox_guest::prelude::*;

struct RateLimit;

/// Time for which a count is kept, so that ended sessions do not fill the state.
const DAY: Duration = Duration::from_hours(24);

#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Maximum number of calls of one tool in one session.
    max: i64,
    /// Other limits for single tools.
    tools: BTreeMap<String, i64>,
}

impl Default for Config {
    fn default() -> Self {
        Self { max: 50, tools: BTreeMap::new() }
    }
}

impl PreToolUse for RateLimit {
    fn handle(context: &EventContext, call: &ToolCall) -> Result<Output> {
        let tool = &call.name;
        let Config { max, tools } = config::get()?;
        let max = tools.get(tool).copied().unwrap_or(max);
        let session = context.session_id.as_deref().unwrap_or_default();
        Ok(match state::increment_for(DAY, &format!("calls/{session}/{tool}"), 1) {
            Ok(calls) if calls > max => skip(format!("{tool} is limited to {max} calls per session and day")),
            Ok(_) => pass(),
            // Deny a call that cannot be counted.
            Err(state::Error::Quota(_)) => deny("there are too many counts to make another"),
            Err(error) => return Err(error.into()),
        })
    }
}

hookbox_guest::export!(RateLimit: PreToolUse);

#[cfg(test)]
mod tests {
    use hookbox_guest::testing;

    use super::*;

    fn decide(session: &str, tool: &str) -> Result<Output> {
        let context = EventContext { session_id: Some(session.to_owned()), ..EventContext::default() };
        RateLimit::handle(&context, &ToolCall::new(tool, json!({})))
    }

    #[test]
    fn calls_beyond_the_limit_are_skipped() {
        testing::host().config(json!({"max": 2}));
        assert_eq!(decide("s", "Bash"), Ok(pass()));
        assert_eq!(decide("s", "Bash"), Ok(pass()));
        assert_eq!(decide("s", "Bash"), Ok(skip("Bash is limited to 2 calls per session and day")));
    }

    #[test]
    fn tools_and_sessions_are_counted_separately() {
        let host = testing::host().config(json!({"max": 1, "tools": {"WebFetch": 0}}));
        assert_eq!(decide("a", "Bash"), Ok(pass()));
        assert_eq!(decide("a", "Read"), Ok(pass()));
        assert_eq!(decide("b", "Bash"), Ok(pass()));
        assert_eq!(decide("b", "WebFetch"), Ok(skip("WebFetch is limited to 0 calls per session and day")));
        assert_eq!(host.state("calls/a/Bash").as_deref(), Some("1"));
    }

    #[test]
    fn the_default_is_fifty() {
        testing::host().set_state("calls/s/Bash", "49");
        assert_eq!(decide("s", "Bash"), Ok(pass()));
        assert_eq!(decide("s", "Bash"), Ok(skip("Bash is limited to 50 calls per session and day")));
    }

    #[test]
    fn a_broken_count_is_a_fault_and_no_answer() {
        testing::host().set_state("calls/s/Bash", "many");
        assert!(decide("s", "Bash").is_err());
    }
}
