//! Removes secrets from tool outputs before the model reads them: AWS and GitHub keys, private keys, `SECRET_KEY=…`.

mod secret;

use hookbox_guest::prelude::*;

struct SecretRedactor;

impl PostToolUse for SecretRedactor {
    fn handle(_: &EventContext, _: &ToolCall, output: &post_tool_use::ToolOutput) -> Result<post_tool_use::Output> {
        let mut output = output.value.value().clone();
        match redact(&mut output) {
            0 => Ok(pass()),
            found => {
                Ok(pass().rewrite(output).context(format!("Secrets in the output that were replaced by ***: {found}")))
            }
        }
    }
}

hookbox_guest::export!(SecretRedactor: PostToolUse);

/// Masks the secrets in every string of a value, and returns their number.
fn redact(value: &mut Value) -> usize {
    match value {
        Value::String(text) => {
            let (clean, found) = secret::redact(text);
            if found > 0 {
                *text = clean;
            }
            found
        }
        Value::Array(items) => items.iter_mut().map(redact).sum(),
        Value::Object(members) => members.values_mut().map(redact).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(output: Value) -> Result<post_tool_use::Output> {
        let call = ToolCall::new("Bash", json!({"command": "env"}));
        SecretRedactor::handle(&EventContext::default(), &call, &post_tool_use::ToolOutput::new(output))
    }

    #[test]
    fn secrets_are_replaced_everywhere() {
        let output =
            json!({"stdout": "SECRET_KEY=abc\nHOME=/root", "lines": [{"text": "id AKIAIOSFODNN7EXAMPLE"}], "code": 0});
        let clean = json!({"stdout": "SECRET_KEY=***\nHOME=/root", "lines": [{"text": "id ***"}], "code": 0});
        let expected = pass().rewrite(clean).context("Secrets in the output that were replaced by ***: 2");
        assert_eq!(decide(output), Ok(expected));
    }

    #[test]
    fn a_plain_text_output_works_as_well() {
        let expected = pass().rewrite("SECRET_KEY=***").context("Secrets in the output that were replaced by ***: 1");
        assert_eq!(decide(json!("SECRET_KEY=abc")), Ok(expected));
    }

    #[test]
    fn an_output_without_secrets_is_left_alone() {
        assert_eq!(decide(json!({"stdout": "nothing to see", "interrupted": false})), Ok(pass()));
        assert_eq!(decide(Value::Null), Ok(pass()));
    }
}
