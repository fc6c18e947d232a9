//! Limits of one call.

use std::time::Duration;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest timeout, in seconds. A longer one is probably a mistaken unit.
pub const WEEK: u32 = 7 * 24 * 60 * 60;

/// Maximum number of core modules, memories and tables of one component. `QuickJS` guests have 3 memories;
/// `StarlingMonkey` and `CPython` guests have about 12 modules.
pub(crate) const CORE_INSTANCES: u32 = 64;
pub(crate) const MEMORIES: u32 = 8;
pub(crate) const TABLES: u32 = 32;

/// Limits of one hook. Each has a separate fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Limits {
    /// Instructions, roughly; deterministic.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub fuel: u64,
    /// Linear memory of one call, in MiB.
    #[serde(rename = "memoryMiB")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 4096)))]
    pub memory_mib: u32,
    /// Elements of all tables of one call together. The largest interpreters have about 15,000 functions in their
    /// tables.
    #[cfg_attr(feature = "schema", schemars(range(max = 10_000_000)))]
    pub table_elements: u32,
    /// Timeout of a hook, in seconds (fractions allowed).
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK)))]
    pub timeout: f64,
    /// All JSON and text a hook returns, in KiB.
    #[serde(rename = "outputKiB")]
    pub output_kib: u32,
    /// Log output of a hook in one call, in KiB.
    #[serde(rename = "logKiB")]
    pub log_kib: u32,
    /// Host calls of a hook in one call.
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

/// Default fuel per byte of the event, in addition to [`Limits::fuel`]. A Rust guard that reads every word of a command
/// uses about 150 per byte. The rest leaves room for interpreters.
pub const FUEL_PER_BYTE: u64 = 1_000;

impl Limits {
    /// Adds the fuel for an event of `bytes` bytes. For hooks without a configured limit.
    #[must_use]
    pub fn with_fuel_for(&self, bytes: usize) -> Self {
        let more = FUEL_PER_BYTE.saturating_mul(bytes as u64);
        Self { fuel: self.fuel.saturating_add(more), ..self.clone() }
    }
}

/// Returns the time that an event of `bytes` bytes adds to a default timeout: 1 s per MiB.
pub fn more_time(bytes: usize) -> Duration {
    Duration::from_micros((bytes as u64).saturating_mul(1_000_000) >> 20)
}
