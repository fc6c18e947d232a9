//! The file of a tenant.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use hookbox::{Ceiling, capability::llm::LlmSettings};
use serde::{Deserialize, de};

use crate::{settings::values::seconds, token::Tokens};

/// The operator's settings for a tenant. Relative paths are relative to the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantFile {
    /// Hashes of its tokens. To replace a token, list both for a while.
    pub tokens: Tokens,
    /// The hooks file of each dialect.
    pub hooks: BTreeMap<String, PathBuf>,
    /// Types of handlers that it may use although they are not sandboxed: `command`, `agent`.
    #[serde(default)]
    pub allow: Vec<String>,
    /// The bounds of its hooks.
    #[serde(default)]
    pub ceiling: Ceiling,
    /// Its quotas.
    #[serde(default)]
    pub quotas: Quotas,
    /// The timeout of its requests, in seconds.
    #[serde(default, deserialize_with = "some_seconds")]
    pub timeout: Option<Duration>,
    /// True if failures block, like `failClosed` in the hooks files.
    #[serde(default)]
    pub fail_closed: bool,
    /// The language model of its hooks.
    #[serde(default)]
    pub llm: Option<LlmSettings>,
    /// Its credentials for registries: a file in the form of Docker's configuration.
    #[serde(default)]
    pub credentials: Option<PathBuf>,
}

/// The quotas of a tenant.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Quotas {
    /// Events per second. A burst may use the events of one second.
    #[serde(deserialize_with = "rate")]
    pub requests_per_second: Option<f64>,
    /// Fuel of its components per second.
    #[serde(deserialize_with = "rate")]
    pub fuel_per_second: Option<f64>,
    /// The maximum number of concurrent events.
    pub concurrency: usize,
    /// The maximum number of waiting events. Further ones are rejected.
    pub queue: usize,
    /// The memory for its request bodies, in MiB. A single body may exceed it.
    #[serde(rename = "bodyMemoryMiB")]
    pub body_memory_mib: u32,
    /// The maximum size of its hooks' state, in KiB.
    #[serde(rename = "stateKiB")]
    pub state_kib: u64,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            requests_per_second: None,
            fuel_per_second: None,
            concurrency: 16,
            queue: 256,
            body_memory_mib: 64,
            state_kib: 64 << 10,
        }
    }
}

impl Quotas {
    /// The memory for request bodies, in bytes.
    pub fn body_memory(&self) -> usize {
        (self.body_memory_mib as usize).saturating_mul(1 << 20)
    }
}

impl TenantFile {
    /// The ceiling, with the allowed types of handlers. `http` and `prompt` are always allowed, within the ceiling's
    /// permissions.
    pub fn ceiling(&self) -> Ceiling {
        let types = ["http", "prompt"].into_iter().chain(self.allow.iter().map(String::as_str));
        types.fold(self.ceiling.clone(), Ceiling::handler)
    }
}

fn rate<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let rate = f64::deserialize(deserializer)?;
    if rate.is_finite() && rate > 0.0 {
        return Ok(Some(rate));
    }
    Err(de::Error::custom(format!("invalid rate {rate}: expected more than 0 per second")))
}

fn some_seconds<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    seconds(deserializer).map(Some)
}
