//! The matcher of a handler.

use std::fmt;

use hookbox_protocol::matcher::CallPatterns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pattern, or Blade's own form.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in super::super) enum MatcherEntry {
    /// Matched against the tool's name (or the source, the reason, …).
    Pattern(String),
    /// Conditions on the call; every given part must match.
    Call(CallEntry),
}

/// Blade's own form of a matcher.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(in super::super) struct CallEntry {
    /// Tools: a name, names joined by `|`, a regular expression, or a name with a glob on the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<OneOrMany>,
    /// Files the call touches, by globs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paths: Option<OneOrMany>,
    /// Commands, whole, or regular expressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commands: Option<OneOrMany>,
}

/// One pattern or several.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum OneOrMany {
    /// One.
    One(String),
    /// One of these.
    Many(Vec<String>),
}

impl From<&CallEntry> for CallPatterns {
    fn from(entry: &CallEntry) -> Self {
        let list = |part: &Option<OneOrMany>| match part {
            None => Vec::new(),
            Some(OneOrMany::One(pattern)) => vec![pattern.clone()],
            Some(OneOrMany::Many(patterns)) => patterns.clone(),
        };
        Self { tools: list(&entry.tools), paths: list(&entry.paths), commands: list(&entry.commands) }
    }
}

/// Formats the matcher as written.
impl fmt::Display for MatcherEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(pattern) => f.write_str(pattern),
            Self::Call(entry) => f.write_str(&serde_json::to_string(entry).map_err(|_| fmt::Error)?),
        }
    }
}
