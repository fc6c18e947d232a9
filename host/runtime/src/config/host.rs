//! The `host` settings in the file: they apply to the process, not to a hook.

use hookbox_sandbox::CompileLimits;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::llm::LlmSettings;

/// Settings of the host, not of one hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct HostSettings {
    /// Keeps the state of tenants apart. Default: `default`.
    pub tenant: Option<String>,
    /// The state store's file. Default: in the user's state folder.
    pub state_file: Option<String>,
    /// The language model of `prompt` and `agent` handlers and of the llm capability.
    pub llm: Option<LlmSettings>,
    /// Seconds the client waits for its hooks, where its settings say something else than it starts from.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 604_800)))]
    pub deadline: Option<f64>,
    /// Components that may run concurrently; further calls wait, and fail as `busy` after their timeout.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub max_instances: Option<u32>,
    /// Limits of compiling one component.
    pub compile: CompileLimits,
}
