//! Adds a command of the hook's own: the hook describes it to the model and answers in place of the client. Nothing is
//! installed or registered with the client.
//!
//! Newer versions of the client take no tool definitions from a hook. So the hook uses the tool that runs commands, and
//! describes its own command in the user's message.

mod chart;

use hookbox_guest::prelude::*;

/// The client's tool that runs commands.
const TOOL: &str = "exec";
const COMMAND: &str = "bar_chart";
const TOLD: &str = "(The command `bar_chart 3 1 2` draws a bar chart of its numbers.)";

struct PluginTool;

impl BeforeLlm for PluginTool {
    fn handle(_: &EventContext, request: &before_llm::Event) -> Result<before_llm::Output> {
        let mut messages = request.messages.value().as_array().cloned().unwrap_or_default();
        let is_prompt = |message: &&mut Value| message.get("role") == Some(&json!("user"));
        let Some(prompt) = messages.iter_mut().rev().find(is_prompt).and_then(|message| message.get_mut("content"))
        else {
            return Ok(pass());
        };
        match prompt.as_str() {
            Some(text) if !text.ends_with(TOLD) => *prompt = format!("{text}\n\n{TOLD}").into(),
            _ => return Ok(pass()),
        }
        Ok(pass().rewrite(json!({ "messages": messages })))
    }
}

impl PreToolUse for PluginTool {
    fn handle(_: &EventContext, call: &ToolCall) -> Result<Output> {
        let Some(arguments) = command(call) else { return Ok(pass()) };
        Ok(match numbers(arguments) {
            Ok(values) => {
                let chart = chart::text(&values);
                respond(pre_tool_use::Response::new(chart.clone()).for_user(chart))
            }
            // The error is the result, so that the model can correct its call.
            Err(why) => respond(pre_tool_use::Response::new(why).error()),
        })
    }
}

hookbox_guest::export!(PluginTool: BeforeLlm, PreToolUse);

/// Returns the arguments if the call runs this hook's command and nothing else.
fn command(call: &ToolCall) -> Option<&str> {
    let command = call.input.str("/command").filter(|_| call.name == TOOL)?;
    command.trim().strip_prefix(COMMAND).filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

fn numbers(arguments: &str) -> Result<Vec<f64>, String> {
    let number = |word: &str| word.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    let values: Option<Vec<f64>> = arguments.split_whitespace().map(number).collect();
    values
        .filter(|values| (1..=50).contains(&values.len()))
        .ok_or_else(|| format!("{COMMAND} takes 1 to 50 numbers, none below 0, and nothing else"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn asked(messages: Value) -> Result<before_llm::Output> {
        let request = before_llm::Event { messages: messages.into(), ..before_llm::Event::default() };
        <PluginTool as BeforeLlm>::handle(&EventContext::default(), &request)
    }

    fn called(tool: &str, command: &str) -> Result<Output> {
        <PluginTool as PreToolUse>::handle(
            &EventContext::default(),
            &ToolCall::new(tool, json!({ "command": command })),
        )
    }

    #[test]
    fn the_command_is_described_in_the_last_user_message() {
        let message = |role: &str, text: &str| json!({ "role": role, "content": text });
        let system = message("system", "s");
        let told = message("user", &format!("two\n\n{TOLD}"));
        let messages = json!([system, message("user", "one"), message("user", "two"), message("tool", "x")]);
        let both = json!([system, message("user", "one"), told, message("tool", "x")]);
        assert_eq!(asked(messages), Ok(pass().rewrite(json!({ "messages": both }))));
        assert_eq!(asked(json!([system, told])), Ok(pass()));
        assert_eq!(asked(json!([system])), Ok(pass()));
        assert_eq!(asked(Value::Null), Ok(pass()));
    }

    #[test]
    fn invalid_data_is_an_error_for_the_model() {
        let many = "bar_chart ".to_owned() + &"1 ".repeat(51);
        for command in ["bar_chart", "bar_chart x", "bar_chart -1", "bar_chart 1; ls", "bar_chart NaN", &many] {
            let wrong = "bar_chart takes 1 to 50 numbers, none below 0, and nothing else";
            assert_eq!(called(TOOL, command), Ok(respond(pre_tool_use::Response::new(wrong).error())), "{command}");
        }
    }

    #[test]
    fn other_commands_and_tools_are_left_to_the_client() {
        for (tool, command) in
            [(TOOL, "ls"), (TOOL, "bar_charts 1"), (TOOL, "echo bar_chart 1"), ("read", "bar_chart 1")]
        {
            assert_eq!(called(tool, command), Ok(pass()), "{tool} {command}");
        }
    }
}
