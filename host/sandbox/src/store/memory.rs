//! Limits on the total memory that one call allocates.

use wasmtime::ResourceLimiter;

use super::LimitReached;
use crate::limits::{CORE_INSTANCES, Limits, MEMORIES, TABLES};

/// Counts linear memories and tables. Growing beyond the limit ends the call at once, so that it is always reported as
/// out of memory. Otherwise the guest would get -1 and could hide the cause.
pub(super) struct Memory {
    limit_mib: u32,
    bytes: usize,
    table_limit: u32,
    table_elements: usize,
}

impl Memory {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { limit_mib: limits.memory_mib, bytes: 0, table_limit: limits.table_elements, table_elements: 0 }
    }

    pub(super) fn bytes(&self) -> u64 {
        u64::try_from(self.bytes).unwrap_or(u64::MAX)
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, current: usize, desired: usize, _max: Option<usize>) -> wasmtime::Result<bool> {
        self.bytes = self.bytes.saturating_add(desired.saturating_sub(current));
        let limit = usize::try_from(self.limit_mib).unwrap_or(usize::MAX).saturating_mul(1 << 20);
        if self.bytes > limit {
            let wanted = self.bytes.div_ceil(1 << 20);
            return Err(LimitReached::Memory(format!(
                "requested {wanted} MiB of memory, the limit is {} MiB",
                self.limit_mib
            ))
            .into());
        }
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(LimitReached::Memory(format!("its memory cannot grow: {}", error.root_cause())).into())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _max: Option<usize>) -> wasmtime::Result<bool> {
        self.table_elements = self.table_elements.saturating_add(desired.saturating_sub(current));
        let (wanted, limit) = (self.table_elements, self.table_limit);
        if wanted > usize::try_from(limit).unwrap_or(usize::MAX) {
            return Err(LimitReached::Memory(format!("requested {wanted} table elements, the limit is {limit}")).into());
        }
        Ok(true)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(LimitReached::Memory(format!("a table cannot grow: {}", error.root_cause())).into())
    }

    // Loading already refuses components that have more. These limits are a second line of defence.
    fn instances(&self) -> usize {
        CORE_INSTANCES as usize
    }
    fn tables(&self) -> usize {
        TABLES as usize
    }
    fn memories(&self) -> usize {
        MEMORIES as usize
    }
}
