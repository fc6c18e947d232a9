//! The authority of a handler.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;

use super::PowerWord;

/// A preset, or in detail.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub(in crate::config) enum AuthorityEntry {
    /// A preset.
    Preset(Preset),
    /// In detail.
    Detailed(AuthorityDetails),
}

/// A preset of authority.
#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(in crate::config) enum Preset {
    /// Deny, ask, and add context.
    Gate,
    /// As `gate`, and rewrite everything.
    Rewriter,
    /// Everything.
    Trusted,
}

/// Authority in detail. Only what is named is granted.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::config) struct AuthorityDetails {
    /// The decisions it may make.
    #[serde(default)]
    pub(in crate::config) decide: Vec<PowerWord>,
    /// The values that it may rewrite.
    #[serde(default)]
    pub(in crate::config) rewrite: RewriteEntry,
    /// True if it may add to the model's context.
    #[serde(default)]
    pub(in crate::config) context: bool,
    /// True if it may show the user a message, and hide what hooks print.
    #[serde(default)]
    pub(in crate::config) system_message: bool,
    /// Names of environment variables it may set for the session. There are no patterns.
    #[serde(default)]
    pub(in crate::config) env: Vec<String>,
}

/// `"all"`, or JSON pointers.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub(in crate::config) enum RewriteEntry {
    /// Everything.
    All(AllWord),
    /// The values at these JSON pointers, and everything below them.
    Pointers(Vec<String>),
}

impl Default for RewriteEntry {
    fn default() -> Self {
        Self::Pointers(Vec::new())
    }
}

/// `"all"`.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(in crate::config) enum AllWord {
    /// Everything.
    All,
}
