//! A tenant's file.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use hookbox::{Ceiling, capability::llm::LlmSettings};
use serde::{Deserialize, de};

use crate::settings::{Tokens, seconds};

/// What the operator says about a tenant. Relative paths are relative to the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantFile {
    /// Hashes of the tokens that open it; two of them while one replaces the other.
    pub tokens: Tokens,
    /// The hooks file of each dialect.
    pub hooks: BTreeMap<String, PathBuf>,
    /// Types of handlers it may have that are not sandboxed: `command`, `agent`.
    #[serde(default)]
    pub allow: Vec<String>,
    /// What none of its hooks may exceed.
    #[serde(default)]
    pub ceiling: Ceiling,
    /// What it may use.
    #[serde(default)]
    pub quotas: Quotas,
    /// Seconds within which its requests are answered.
    #[serde(default, deserialize_with = "some_seconds")]
    pub timeout: Option<Duration>,
    /// True if failures block what can be blocked, as the hooks files' own `failClosed` does.
    #[serde(default)]
    pub fail_closed: bool,
    /// The language model of its hooks.
    #[serde(default)]
    pub llm: Option<LlmSettings>,
}

/// What a tenant may use.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Quotas {
    /// Events per second; as many may come at once as come in a second.
    #[serde(deserialize_with = "rate")]
    pub requests_per_second: Option<f64>,
    /// Fuel of its components per second.
    #[serde(deserialize_with = "rate")]
    pub fuel_per_second: Option<f64>,
    /// Events that are judged at once.
    pub concurrency: usize,
    /// Events that wait for that; more are refused.
    pub queue: usize,
    /// Memory for the bodies of its requests at once, in MiB. One at a time may be larger.
    #[serde(rename = "bodyMemoryMiB")]
    pub body_memory_mib: u32,
    /// What its hooks keep in their state, in KiB.
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
    /// Bytes of memory for the bodies of requests.
    pub fn body_memory(&self) -> usize {
        (self.body_memory_mib as usize).saturating_mul(1 << 20)
    }
}

impl TenantFile {
    /// The ceiling, with what is allowed. What `http` and `prompt` may reach, its permissions bound.
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
    Err(de::Error::custom(format!("{rate} is not a rate: more than 0 per second")))
}

fn some_seconds<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    seconds(deserializer).map(Some)
}
