//! Takes secrets out of tool outputs and prompts before the model reads them.
//!
//! [`redact`] is all of it; the rest of this file is the hook.
#![deny(missing_docs)]

mod argument;
mod assigned;
mod class;
pub mod config;
mod named;
mod redact;
mod shape;
mod token;

use hookbox_guest::prelude::{
    BeforeLlm, EventContext, PostToolUse, Result, ToolCall, UserPromptSubmit, Value, before_llm, block, json, pass,
    post_tool_use, user_prompt_submit,
};

pub use config::{Config, Found};
pub use redact::{Redacted, redact};

struct SecretRedactor;

impl PostToolUse for SecretRedactor {
    fn handle(_: &EventContext, _: &ToolCall, output: &post_tool_use::ToolOutput) -> Result<post_tool_use::Output> {
        let config = config()?;
        let mut value = output.value.value().clone();
        let names = in_value(&mut value, None, &config);
        if names.is_empty() {
            return Ok(pass());
        }
        Ok(match config.outputs {
            Found::Mask => {
                let note = format!("Secrets in this output were replaced: {}.", listed(&names));
                pass().rewrite(value).context(note)
            }
            Found::Withhold => block(format!("the output is withheld, because it has secrets: {}", listed(&names))),
            Found::Pass => pass(),
        })
    }
}

/// A client that cannot replace a prompt blocks it: hookbox sees to that.
impl UserPromptSubmit for SecretRedactor {
    fn handle(_: &EventContext, event: &user_prompt_submit::Event) -> Result<user_prompt_submit::Output> {
        let config = config()?;
        let redacted = redact(&event.prompt, &config);
        if redacted.names.is_empty() {
            return Ok(pass());
        }
        Ok(match config.prompts {
            Found::Mask => pass().rewrite(redacted.text),
            Found::Withhold => block(format!("the prompt has secrets: {}", listed(&redacted.names))),
            Found::Pass => pass(),
        })
    }
}

/// Messages of tools and people. System messages are the client's own, and stay.
impl BeforeLlm for SecretRedactor {
    fn handle(_: &EventContext, event: &before_llm::Event) -> Result<before_llm::Output> {
        let config = config()?;
        let mut messages = event.messages.value().clone();
        let mut found = false;
        for message in messages.as_array_mut().into_iter().flatten() {
            if message.get("role").and_then(Value::as_str) != Some("system") {
                found |= !in_value(message, None, &config).is_empty();
            }
        }
        let wanted = found && config.prompts != Found::Pass;
        Ok(if wanted { pass().rewrite(json!({ "messages": messages })) } else { pass() })
    }
}

hookbox_guest::export!(SecretRedactor: PostToolUse, UserPromptSubmit, BeforeLlm);

fn config() -> Result<Config> {
    hookbox_guest::config::get()
}

/// Replaces the secrets in every string of a value, and names their kinds. `name`: of the member that has it.
fn in_value(value: &mut Value, name: Option<&str>, config: &Config) -> Vec<&'static str> {
    match value {
        Value::String(text) => {
            let redacted = redact::member(name, text, config);
            if !redacted.names.is_empty() {
                *text = redacted.text;
            }
            redacted.names
        }
        Value::Array(items) => items.iter_mut().flat_map(|item| in_value(item, name, config)).collect(),
        Value::Object(members) => {
            members.iter_mut().flat_map(|(name, value)| in_value(value, Some(name), config)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// `2 × github-token, private-key`
fn listed(names: &[&'static str]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(other, _)| other == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let one =
        |(name, count): &(&str, usize)| if *count == 1 { (*name).to_owned() } else { format!("{count} × {name}") };
    counts.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AKIAIOSFODNN7EXAMPLE";

    fn decide(output: Value, config: Value) -> Result<post_tool_use::Output> {
        hookbox_guest::testing::host().config(config);
        let call = ToolCall::new("Bash", json!({"command": "env"}));
        <SecretRedactor as PostToolUse>::handle(
            &EventContext::default(),
            &call,
            &post_tool_use::ToolOutput::new(output),
        )
    }

    #[test]
    fn secrets_are_replaced_everywhere() {
        let output =
            json!({"stdout": format!("id {KEY}\nHOME=/root"), "lines": [{"password": "hunter2hunter2"}], "code": 0});
        let clean = json!({"stdout": "id [redacted:aws-access-key-id]\nHOME=/root", "lines": [{"password": "[redacted:password]"}], "code": 0});
        let note = "Secrets in this output were replaced: aws-access-key-id, password.";
        assert_eq!(decide(output, json!({})), Ok(pass().rewrite(clean).context(note)));
        assert_eq!(decide(json!("nothing to see"), json!({})), Ok(pass()));
    }

    #[test]
    fn an_output_can_be_withheld() {
        let why = "the output is withheld, because it has secrets: 2 × aws-access-key-id";
        assert_eq!(decide(json!(format!("{KEY} {KEY}")), json!({"outputs": "withhold"})), Ok(block(why)));
        assert_eq!(decide(json!(KEY), json!({"outputs": "pass"})), Ok(pass()));
        assert!(decide(json!(KEY), json!({"output": "pass"})).is_err());
    }

    #[test]
    fn prompts_and_messages_are_redacted() {
        hookbox_guest::testing::host();
        let event = user_prompt_submit::Event::new(format!("use {KEY}"));
        let said = <SecretRedactor as UserPromptSubmit>::handle(&EventContext::default(), &event);
        assert_eq!(said, Ok(pass().rewrite("use [redacted:aws-access-key-id]".to_owned())));
        let messages = json!([{"role": "system", "content": KEY}, {"role": "tool", "content": KEY}]);
        let event = before_llm::Event { messages: messages.into(), ..before_llm::Event::default() };
        let said = <SecretRedactor as BeforeLlm>::handle(&EventContext::default(), &event);
        let clean =
            json!([{"role": "system", "content": KEY}, {"role": "tool", "content": "[redacted:aws-access-key-id]"}]);
        assert_eq!(said, Ok(pass().rewrite(json!({ "messages": clean }))));
    }
}
