//! The WebAssembly engine, with its pool of instances.

use std::{
    fmt, io,
    num::NonZeroU32,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::time::{Instant, timeout_at};
use wasmtime::{Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::{
    clock::{Clock, Ticking},
    code::Codes,
    compiler::{self, Compiler},
    error::LoadError,
    lane::Lane,
    limits::{CORE_INSTANCES, MEMORIES, TABLES},
    loads::Loads,
    scheduler::{Fifo, Running, Scheduler},
    store::OpenFiles,
};

/// Bytes of the host's own data per instance. The size grows with a component's imports, exports and functions.
const INSTANCE_BYTES: usize = 4 << 20;

/// Bytes that a memory and a table keep resident between two calls. Zeroing these pages is cheaper than returning them
/// to the operating system and faulting them in again (`just bench` measures it). These are the first pages, written or
/// not.
const RESIDENT_BYTES: usize = 64 << 10;
/// As [`RESIDENT_BYTES`], where the operating system reports which pages were written: only written pages count.
const RESIDENT_WRITTEN_BYTES: usize = 512 << 10;

/// Options of an [`Engine`].
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Maximum number of components that run concurrently. A further call waits until its deadline, and then fails with
    /// [`hookbox_protocol::Cause::Busy`].
    pub max_instances: NonZeroU32,
    /// Upper bound on the linear memory of any call, in MiB. A hook's own limits cannot exceed it.
    pub max_memory_mib: u32,
    /// Upper bound on the elements of any table of any call. A hook's own limits cannot exceed it.
    pub max_table_elements: u32,
    /// Folder that caches compiled components; `None` disables the cache. Used only when it is private to the user.
    pub cache_dir: Option<PathBuf>,
    /// Compiler process. With `None` this process compiles, and a malicious component can exhaust its memory.
    pub compiler: Option<Compiler>,
    /// The lifetime of the process.
    pub profile: Profile,
    /// Decides which calls may begin. With `None` they begin in FIFO order.
    pub scheduler: Option<Arc<dyn Scheduler>>,
}

/// The lifetime of the process. It decides which resources are reserved in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// The process makes many calls. The engine reserves room for all concurrent instances at the start, copies code to
    /// memory that no other process can change, and reads files on blocking threads. The allocator is configured once
    /// to keep freed blocks of up to 8 MiB for the next event.
    #[default]
    Resident,
    /// The process makes a few calls and ends. Nothing is reserved, and code is mapped from the cache files. Files are
    /// read on the calling thread, which is faster than starting another thread.
    OneShot,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            max_instances: NonZeroU32::MIN.saturating_add(15),
            max_memory_mib: 1024,
            max_table_elements: 100_000,
            cache_dir: None,
            compiler: None,
            profile: Profile::Resident,
            scheduler: None,
        }
    }
}

/// Loads and runs components. Cheap to clone. The clock ends when the last clone is dropped.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    engine: wasmtime::Engine,
    options: EngineOptions,
    scheduler: Arc<dyn Scheduler>,
    running: AtomicUsize,
    clock: Arc<Clock>,
    codes: Codes,
    lane: Arc<Lane>,
    files: Arc<OpenFiles>,
}

impl Engine {
    /// Sets up the compiler and reserves address space for the pool.
    ///
    /// # Errors
    /// [`LoadError::Engine`] when the address space cannot be reserved.
    pub fn new(options: EngineOptions) -> Result<Self, LoadError> {
        let mut settings = compiler::settings();
        if options.profile == Profile::Resident {
            settings.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(&options)));
        }
        // If another process compiles, this one needs no compiler.
        settings.enable_compiler(options.compiler.is_none());
        let engine = wasmtime::Engine::new(&settings).map_err(|e| LoadError::Engine(format!("{e:#}")))?;
        let (lane, clock) = (Arc::new(Lane::new()), Arc::default());
        let instances = usize::try_from(options.max_instances.get()).unwrap_or(usize::MAX);
        let scheduler = options.scheduler.clone().unwrap_or_else(|| Arc::new(Fifo::new(instances)));
        let (running, codes, files) = (AtomicUsize::new(0), Codes::default(), Arc::default());
        Ok(Self { inner: Arc::new(Inner { engine, options, scheduler, running, clock, codes, lane, files }) })
    }

    /// Returns the options that the engine was created with.
    pub fn options(&self) -> &EngineOptions {
        &self.inner.options
    }

    /// Returns the number of compiled components in memory. Hooks with the same component count once.
    pub fn components(&self) -> usize {
        self.inner.codes.count()
    }

    /// Counts the components loaded so far by the source of their code.
    pub fn loads(&self) -> Loads {
        self.inner.codes.loads.so_far()
    }

    /// Returns the number of components that are running.
    pub fn running(&self) -> usize {
        self.inner.running.load(Ordering::Relaxed)
    }

    pub(crate) fn codes(&self) -> &Codes {
        &self.inner.codes
    }

    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.inner.engine
    }

    /// Files that calls hold open, and directories granted to hooks.
    pub(crate) fn files(&self) -> &Arc<OpenFiles> {
        &self.inner.files
    }

    /// Scheduler for calls that compute for a long time.
    pub(crate) fn lane(&self) -> &Arc<Lane> {
        &self.inner.lane
    }

    /// Waits for the scheduler's permit to run a call of this tenant, and returns `None` at the deadline `until`.
    pub(crate) async fn begin(&self, tenant: &Arc<str>, until: Instant) -> Option<Running<'_>> {
        let permit = timeout_at(until, self.inner.scheduler.permit(tenant)).await.ok()?;
        Some(Running::new(permit, &self.inner.running))
    }

    /// Starts the clock unless it is running.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start_clock(&self) -> io::Result<()> {
        let Inner { engine, lane, clock, .. } = &*self.inner;
        clock.start(engine, lane)
    }

    /// Makes the clock tick while the guard lives.
    ///
    /// # Errors
    /// As [`Engine::start_clock`].
    pub(crate) fn ticking(&self) -> io::Result<Ticking> {
        let Inner { engine, lane, clock, .. } = &*self.inner;
        clock.ticking(engine, lane)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("options", &self.inner.options).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.clock.close();
    }
}

/// Reserves address space for `max_instances` components, each with the maximum number of modules, memories and tables.
/// A page takes memory only once it is touched.
fn pool(options: &EngineOptions) -> PoolingAllocationConfig {
    let instances = options.max_instances.get();
    let tells = PoolingAllocationConfig::is_pagemap_scan_available();
    let resident = if tells { RESIDENT_WRITTEN_BYTES } else { RESIDENT_BYTES };
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_stacks(instances)
        .total_gc_heaps(instances)
        .total_core_instances(instances.saturating_mul(CORE_INSTANCES))
        .total_memories(instances.saturating_mul(MEMORIES))
        .total_tables(instances.saturating_mul(TABLES))
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_tables_per_module(TABLES)
        .table_elements(usize::try_from(options.max_table_elements).unwrap_or(usize::MAX))
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        .pagemap_scan(Enabled::Auto)
        .linear_memory_keep_resident(resident)
        .table_keep_resident(resident)
        .max_memory_size(usize::try_from(options.max_memory_mib).unwrap_or(usize::MAX) << 20);
    pool
}

#[cfg(test)]
mod tests;
