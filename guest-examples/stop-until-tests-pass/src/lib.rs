//! Keeps the agent going until the tests have passed.
//!
//! The hook remembers a successful test command until a file changes.

use std::time::Duration;

use hookbox_guest::prelude::*;

/// Time for which a success is remembered, so that ended sessions do not fill the state.
const DAY: Duration = Duration::from_hours(24);

struct StopUntilTestsPass;

#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Texts that identify a command as a test run.
    commands: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self { commands: ["cargo test", "go test", "npm test", "pytest"].map(String::from).to_vec() }
    }
}

/// Tools that change files.
const WRITERS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

impl PostToolUse for StopUntilTestsPass {
    fn handle(
        context: &EventContext,
        call: &ToolCall,
        output: &post_tool_use::ToolOutput,
    ) -> Result<post_tool_use::Output> {
        if WRITERS.contains(&call.name.as_str()) {
            state::delete(&key(context))?;
        } else if let Some(command) = call.input.str("/command") {
            let Config { commands } = config::get()?;
            if commands.iter().any(|tests| command.contains(tests.as_str())) && succeeded(&output.value) {
                state::set_for(DAY, &key(context), command)?;
            }
        }
        Ok(pass())
    }
}

impl Stop for StopUntilTestsPass {
    fn handle(context: &EventContext, event: &stop::Event) -> Result<stop::Output> {
        // The hook has already blocked once. An agent that cannot make the tests pass may say so and stop.
        if event.stop_hook_active == Some(true) || state::get(&key(context))?.is_some() {
            return Ok(pass());
        }
        Ok(block("The tests have not passed since the last change: run them, and fix what fails."))
    }
}

hookbox_guest::export!(StopUntilTestsPass: PostToolUse, Stop);

fn key(context: &EventContext) -> String {
    format!("tests-passed/{}", context.session_id.as_deref().unwrap_or_default())
}

/// Returns true if the tool succeeded. Some clients send this event for failed commands too, and report the failure in
/// the output.
fn succeeded(output: &Json) -> bool {
    let failed = ["/is_error", "/isError", "/interrupted"].into_iter().any(|place| output.bool(place) == Some(true));
    let code = ["/exit_code", "/exitCode"].into_iter().find_map(|place| output.i64(place));
    !failed && code.unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use hookbox_guest::testing;

    use super::*;

    fn ran(tool: &str, input: Value, output: Value) -> Result<post_tool_use::Output> {
        <StopUntilTestsPass as PostToolUse>::handle(
            &EventContext::default(),
            &ToolCall::new(tool, input),
            &post_tool_use::ToolOutput::new(output),
        )
    }

    fn stop(active: bool) -> Result<stop::Output> {
        let event = stop::Event { stop_hook_active: Some(active), ..stop::Event::default() };
        <StopUntilTestsPass as Stop>::handle(&EventContext::default(), &event)
    }

    fn kept_going() -> stop::Output {
        block("The tests have not passed since the last change: run them, and fix what fails.")
    }

    #[test]
    fn the_agent_stops_when_the_tests_have_passed() {
        testing::host();
        assert_eq!(stop(false), Ok(kept_going()));
        assert_eq!(ran("Bash", json!({"command": "cd a && cargo test"}), json!({"stdout": "ok"})), Ok(pass()));
        assert_eq!(stop(false), Ok(pass()));
    }

    #[test]
    fn a_change_requires_the_tests_again() {
        testing::host();
        assert_eq!(ran("Bash", json!({"command": "cargo test"}), Value::Null), Ok(pass()));
        assert_eq!(ran("Edit", json!({"file_path": "a.rs"}), Value::Null), Ok(pass()));
        assert_eq!(stop(false), Ok(kept_going()));
    }

    #[test]
    fn failed_tests_and_other_commands_do_not_count() {
        testing::host();
        assert_eq!(ran("Bash", json!({"command": "cargo test"}), json!({"exit_code": 101})), Ok(pass()));
        assert_eq!(ran("exec", json!({"command": "cargo test"}), json!({"is_error": true})), Ok(pass()));
        assert_eq!(ran("Bash", json!({"command": "cargo build"}), Value::Null), Ok(pass()));
        assert_eq!(stop(false), Ok(kept_going()));
    }

    #[test]
    fn it_asks_once() {
        testing::host();
        assert_eq!(stop(true), Ok(pass()));
    }
}
