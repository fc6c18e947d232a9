//! Grants: the resources that a component may use outside its own call.

use std::{collections::BTreeMap, fmt, path::PathBuf};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Capabilities of a hook. None by default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Permissions {
    /// Keys and values that outlive a call.
    pub state: Option<StateGrant>,
    /// Hosts it may exchange HTTP with.
    pub http: Vec<HttpGrant>,
    /// The host's language model.
    pub llm: Option<LlmGrant>,
    /// Directories it may read, guest path → host path (relative to the configuration file).
    pub read: BTreeMap<String, String>,
    /// Directories it may read and write, guest path → host path.
    pub write: BTreeMap<String, String>,
    /// Environment variables it may see.
    pub env: Vec<String>,
    /// Directories of a ceiling, where there is one: none is opened outside of them, whatever links lead there.
    #[serde(skip)]
    pub bounds: Option<DirectoryBounds>,
}

/// Host directories that bound those of [`Permissions`]: each must be equal to or below one of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DirectoryBounds {
    /// Bounds of the directories that are read.
    pub read: Vec<PathBuf>,
    /// Bounds of the directories that are also written.
    pub write: Vec<PathBuf>,
}

/// `true`, or with a scope and quotas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum StateGrant {
    /// With the defaults.
    Enabled(bool),
    /// In detail.
    Detailed(StateDetails),
}

impl StateGrant {
    /// Returns the effective grant; `None` for `false`.
    pub fn details(&self) -> Option<StateDetails> {
        match self {
            Self::Enabled(enabled) => enabled.then(StateDetails::default),
            Self::Detailed(details) => Some(details.clone()),
        }
    }
}

/// A state grant in detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct StateDetails {
    /// Separate keys for each session.
    pub per_session: bool,
    /// A name under which several hooks share keys; the hook's own otherwise.
    pub namespace: Option<String>,
    /// Keys at most.
    pub max_keys: u32,
    /// Bytes of one value at most, in KiB.
    #[serde(rename = "maxValueKiB")]
    pub max_value_kib: u32,
}

impl Default for StateDetails {
    fn default() -> Self {
        Self { per_session: false, namespace: None, max_keys: 10_000, max_value_kib: 64 }
    }
}

/// An origin (`https://api.example.com`), or one in detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum HttpGrant {
    /// Scheme, host and, unless it is the scheme's own, port. `GET` and `POST`.
    Origin(String),
    /// In detail.
    Detailed(HttpDetails),
}

impl HttpGrant {
    /// Returns the effective grant.
    pub fn details(&self) -> HttpDetails {
        match self {
            Self::Origin(origin) => HttpDetails {
                origin: origin.clone(),
                methods: HttpDetails::methods(),
                private: false,
                max_body_kib: HttpDetails::body(),
            },
            Self::Detailed(details) => details.clone(),
        }
    }
}

/// An http grant in detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpDetails {
    /// Scheme, host and, unless it is the scheme's own, port.
    pub origin: String,
    /// Methods. Default: `GET` and `POST`.
    #[serde(default = "HttpDetails::methods")]
    pub methods: Vec<String>,
    /// True if the name may resolve to a loopback, private or link-local address.
    #[serde(default)]
    pub private: bool,
    /// Bytes of a request or response body at most, in KiB.
    #[serde(rename = "maxBodyKiB", default = "HttpDetails::body")]
    pub max_body_kib: u32,
}

impl HttpDetails {
    /// Returns the default methods of an origin.
    fn methods() -> Vec<String> {
        vec!["GET".into(), "POST".into()]
    }

    /// Returns the default body limit of an origin, in KiB.
    const fn body() -> u32 {
        1024
    }
}

/// `true`, or with a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum LlmGrant {
    /// With the defaults.
    Enabled(bool),
    /// In detail.
    Detailed(LlmDetails),
}

impl LlmGrant {
    /// Returns the effective grant; `None` for `false`.
    pub fn details(&self) -> Option<LlmDetails> {
        match self {
            Self::Enabled(enabled) => enabled.then(LlmDetails::default),
            Self::Detailed(details) => Some(details.clone()),
        }
    }
}

/// An llm grant in detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct LlmDetails {
    /// Questions in one call of the hook at most.
    pub max_calls: u32,
    /// Tokens of all answers in one call of the hook at most.
    pub max_tokens: u32,
}

impl Default for LlmDetails {
    fn default() -> Self {
        Self { max_calls: 1, max_tokens: 1024 }
    }
}

/// A capability of `hookbox:hooks` that must be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// `hookbox:hooks/state`
    State,
    /// `hookbox:hooks/http`
    Http,
    /// `hookbox:hooks/llm`
    Llm,
}

impl Grant {
    pub(crate) fn of(interface: &str) -> Option<Self> {
        [Self::State, Self::Http, Self::Llm].into_iter().find(|grant| grant.word() == interface)
    }

    /// Returns the name used in configurations and in the WIT.
    pub const fn word(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Http => "http",
            Self::Llm => "llm",
        }
    }

    pub(crate) fn is_given(self, permissions: &Permissions) -> bool {
        match self {
            Self::State => !matches!(permissions.state, None | Some(StateGrant::Enabled(false))),
            Self::Http => !permissions.http.is_empty(),
            Self::Llm => !matches!(permissions.llm, None | Some(LlmGrant::Enabled(false))),
        }
    }

    /// Formats a list such as `state and http`.
    pub(crate) fn list(grants: &[Self]) -> String {
        let words: Vec<_> = grants.iter().map(|grant| grant.word()).collect();
        match words.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
