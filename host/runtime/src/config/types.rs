//! What a configuration file may say, type by type. The JSON Schema is generated from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest timeout, in seconds: longer ones are mistaken units.
pub(super) const WEEK: u32 = 7 * 24 * 60 * 60;

/// Limits of one hook. Each is a fault of its own when it is met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Limits {
    /// Instructions, roughly; deterministic.
    #[schemars(range(min = 1))]
    pub fuel: u64,
    /// Linear memory of one call, in MiB.
    #[serde(rename = "memoryMiB")]
    #[schemars(range(min = 1, max = 4096))]
    pub memory_mib: u32,
    /// Elements of all tables of one call together. The largest interpreters have some 15,000 functions in theirs.
    #[schemars(range(max = 10_000_000))]
    pub table_elements: u32,
    /// Seconds (fractions allowed) a hook may take that says nothing of its own.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK))]
    pub timeout: f64,
    /// All JSON and text a hook returns, in KiB.
    #[serde(rename = "outputKiB")]
    pub output_kib: u32,
    /// What a hook may write to the log in one call, in KiB.
    #[serde(rename = "logKiB")]
    pub log_kib: u32,
    /// How often a hook may call the host in one call.
    pub host_calls: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: 50_000_000,
            memory_mib: 64,
            table_elements: 100_000,
            timeout: 60.0,
            output_kib: 1024,
            log_kib: 64,
            host_calls: 10_000,
        }
    }
}

/// What a hook may call. Nothing by default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
}

/// `true`, or with a scope and quotas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StateGrant {
    /// With the defaults.
    Enabled(bool),
    /// In detail.
    Detailed(StateDetails),
}

/// A state grant in detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct StateDetails {
    /// Whether each session has keys of its own.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HttpGrant {
    /// Scheme, host and, unless it is the scheme's own, port. `GET` and `POST`.
    Origin(String),
    /// In detail.
    Detailed(HttpDetails),
}

/// An http grant in detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpDetails {
    /// Scheme, host and, unless it is the scheme's own, port.
    pub origin: String,
    /// Methods; `GET` and `POST` unless given.
    #[serde(default = "HttpDetails::methods")]
    pub methods: Vec<String>,
    /// Whether the name may resolve to a loopback, private or link-local address.
    #[serde(default)]
    pub private: bool,
    /// Bytes of a request or response body at most, in KiB.
    #[serde(rename = "maxBodyKiB", default = "HttpDetails::body")]
    pub max_body_kib: u32,
}

impl HttpDetails {
    /// The methods of a plain origin.
    pub fn methods() -> Vec<String> {
        vec!["GET".into(), "POST".into()]
    }

    /// The body cap of a plain origin, in KiB.
    pub const fn body() -> u32 {
        1024
    }
}

/// `true`, or with a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LlmGrant {
    /// With the defaults.
    Enabled(bool),
    /// In detail.
    Detailed(LlmDetails),
}

/// An llm grant in detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// Settings of the host, not of one hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct HostSettings {
    /// Keeps the state of tenants apart; `default` unless given.
    pub tenant: Option<String>,
    /// The state store's file; in the user's state folder unless given.
    pub state_file: Option<String>,
    /// The language model of `prompt` and `agent` handlers and of the llm capability.
    pub llm: Option<LlmSettings>,
    /// Components that may run at once; more wait, and fail as `busy` after their timeout.
    #[schemars(range(min = 1))]
    pub max_instances: Option<u32>,
    /// What compiling one component may take.
    pub compile: CompileLimits,
}

/// What compiling one component may take, where it is compiled in a process of its own. The defaults are some five times
/// what the largest interpreters (`CPython`, `StarlingMonkey`) take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct CompileLimits {
    /// Seconds of processor time, all cores together.
    #[schemars(range(min = 1))]
    pub seconds: u32,
    /// Memory, in MiB.
    #[serde(rename = "memoryMiB")]
    #[schemars(range(min = 64))]
    pub memory_mib: u32,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self { seconds: 90, memory_mib: 2048 }
    }
}

/// Where the language model is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LlmSettings {
    /// The wire it speaks.
    pub provider: LlmProvider,
    /// The provider's own unless given.
    pub base_url: Option<String>,
    /// The model when a handler names none.
    pub model: Option<String>,
    /// The environment variable that holds the key; the provider's customary one unless given.
    pub api_key_env: Option<String>,
}

/// The wire a language model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LlmProvider {
    /// The Messages API.
    Anthropic,
    /// Chat completions, as `OpenAI` and many others speak it.
    OpenaiCompatible,
}
