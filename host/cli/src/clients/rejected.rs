//! Settings that hookbox can edit, and that the client itself does not read: no hook of them runs.

use jsonc_parser::cst::CstRootNode;
use serde_json::Value;

use super::{Client, Form, settings};

impl Client {
    /// The reason why the client does not read a settings file at all, with its place. `None` if the client reads it.
    pub fn unread(&self, text: &str) -> Option<String> {
        if self.form == Form::Plugin {
            return None;
        }
        let (mark, text) = text.strip_prefix('\u{feff}').map_or((false, text), |rest| (true, rest));
        if mark && !self.syntax.byte_order_mark {
            return Some("it begins with a byte order mark".into());
        }
        if text.trim().is_empty() {
            return None;
        }
        if !self.syntax.comments {
            // The other parser reads comments whatever its options say.
            let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
            return Some(format!("it has a comment, or is invalid JSON for another reason: {error}"));
        }
        let mut options = settings::jsonc::options();
        options.allow_trailing_commas = self.syntax.trailing_commas;
        let error = CstRootNode::parse(text, &options).err()?.to_string();
        // The parser's messages start with an upper case letter.
        let mut letters = error.chars();
        letters.next().map(|first| first.to_lowercase().chain(letters).collect())
    }

    /// The consequence of a settings file that the client does not read.
    pub fn without_settings(&self) -> &'static str {
        match self.name {
            "gemini" => "it does not start",
            _ => "no hook of the file runs",
        }
    }

    /// The reason why one group of an event keeps the client from running the other hooks of the event.
    pub fn spoils(&self, group: &Value) -> Option<&'static str> {
        match self.name {
            "gemini" if group.get("matcher").is_some_and(|matcher| !matcher.is_string()) => {
                Some("its `matcher` is not a string")
            }
            "codebuddy" => match group.get("hooks").and_then(Value::as_array) {
                None => Some("it has no array `hooks`"),
                Some(hooks) => {
                    let lacks = |hook: &Value| {
                        hook.get("type") == Some(&Value::from("command"))
                            && !hook.get("command").is_some_and(Value::is_string)
                    };
                    hooks.iter().any(lacks).then_some("it has a command hook without a `command`")
                }
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_name;

    #[test]
    fn every_client_reports_invalid_json() {
        let reads = |client: &str, text: &str| by_name(client).and_then(|client| client.unread(text));
        for client in super::super::ALL {
            assert_eq!(client.unread("{ \"hooks\": {} }\n"), None, "{}", client.name);
            assert_eq!(client.unread(""), None, "{}: an empty file is replaced", client.name);
        }
        let found = reads("claude", "{\n  // mine\n}").unwrap_or_default();
        assert!(found.contains("line 2"), "{found}");
        assert!(reads("gemini", "{ /* mine */ }").is_none() && reads("gemini", "{ \"a\": 1, }").is_some());
        assert!(reads("claude", "\u{feff}{}").is_none() && reads("codex", "\u{feff}{}").is_some());
    }
}
