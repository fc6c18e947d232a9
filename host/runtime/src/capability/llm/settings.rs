//! The settings of a language model.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LlmSettings {
    /// The wire it speaks.
    pub provider: LlmProvider,
    /// The URL. Default: the provider's own.
    pub base_url: Option<String>,
    /// The model when a handler names none.
    pub model: Option<String>,
    /// The environment variable that holds the key. Default: the provider's customary one.
    pub api_key_env: Option<String>,
}

/// The wire a language model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LlmProvider {
    /// The Messages API.
    Anthropic,
    /// Chat completions, as `OpenAI` and many others speak it.
    OpenaiCompatible,
}
