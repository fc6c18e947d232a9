//! Resolves a web hook.

use super::Resolver;
use crate::config::{Handler, diagnostic::Finding, file::HttpEntry};

impl Resolver {
    /// Resolves a web hook.
    pub(super) fn http(&mut self, entry: HttpEntry, pointer: &str) -> Handler {
        let HttpEntry { url, headers, allowed_env_vars, .. } = entry;
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let message = format!("`{url}` is not an http address");
            self.found.push(Finding::error(format!("{pointer}/url"), message).help("it starts with `https://`"));
        }
        let headers = headers
            .into_iter()
            .map(|(name, value)| {
                let value = self.expand(&value, &allowed_env_vars, &format!("{pointer}/headers/{name}"));
                (name, value)
            })
            .collect();
        Handler::Http { url, headers, variables: allowed_env_vars }
    }

    /// Replaces `$NAME` and `${NAME}` by the allowed variables. Others become empty, as in the client.
    fn expand(&mut self, text: &str, allowed: &[String], pointer: &str) -> String {
        let mut result = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            result.push_str(before);
            let (name, tail) = variable(after);
            rest = tail;
            if name.is_empty() {
                result.push('$');
            } else if !allowed.iter().any(|other| other == name) {
                self.found.push(
                    Finding::warning(pointer, format!("`{name}` may not be read, so it is empty here"))
                        .help(format!("to allow it, add   \"allowedEnvVars\": [\"{name}\"]")),
                );
            } else if let Ok(value) = std::env::var(name) {
                result.push_str(&value);
            } else {
                self.found
                    .push(Finding::warning(pointer, format!("the environment has no `{name}`, so it is empty here")));
            }
        }
        result + rest
    }
}

/// The variable name after a `$`, with or without braces, and the rest of the text.
fn variable(text: &str) -> (&str, &str) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if let Some((name, tail)) = text.strip_prefix('{').and_then(|braced| braced.split_once('}'))
        && !name.is_empty()
        && name.chars().all(word)
    {
        return (name, tail);
    }
    text.split_at(text.find(|c| !word(c)).unwrap_or(text.len()))
}
