//! The WebAssembly engine: the pool that instances come from, and the clock that interrupts them.

use std::{
    fmt, io,
    num::NonZeroU32,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout_at},
};
use wasmtime::{Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::{
    code::Codes,
    compiler::{self, Compiler},
    error::LoadError,
    lane::{Lane, Seen, TICK},
    limits::{CORE_INSTANCES, MEMORIES, TABLES},
    loads::Loads,
    store::OpenFiles,
};

/// So many ticks the clock goes on when nothing runs: to wake it takes more than what a small component does.
const LINGER: u32 = 50;

/// Bytes of the host's own data about one instance; grows with a component's imports, exports and functions.
const INSTANCE_BYTES: usize = 4 << 20;

/// What a memory and a table keep of their pages between two calls. They are zeroed then, which takes less than to hand
/// them back and to fault them in again; `just bench` shows how much less. These are the first pages, whether or not they
/// were written.
const RESIDENT_BYTES: usize = 64 << 10;
/// The same where the operating system tells which pages were written: then it is those.
const RESIDENT_WRITTEN_BYTES: usize = 512 << 10;

/// What an [`Engine`] is made for.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Components that run at once. One more waits for its turn until its deadline, and then fails as
    /// [`hookbox_protocol::Cause::Busy`].
    pub max_instances: NonZeroU32,
    /// Linear memory of any call in MiB, whatever a hook's own limits say.
    pub max_memory_mib: u32,
    /// Elements of any table of any call, whatever a hook's own limits say.
    pub max_table_elements: u32,
    /// Where compiled components are kept; `None`: nowhere. Used only when it is private to the user.
    pub cache_dir: Option<PathBuf>,
    /// What compiles components; `None`: this process, which a component made for that can exhaust.
    pub compiler: Option<Compiler>,
    /// The lifetime of the process.
    pub profile: Profile,
}

/// The lifetime of the process: what is prepared for later calls, and what waits for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// The process makes many calls. Room for all that run at once is reserved at the start, code is copied to where no other
    /// process can change it, and files are read on threads that may block. The allocator of the process is told once to keep
    /// freed blocks of up to 8 MiB for the next event.
    #[default]
    Resident,
    /// The process makes a few calls and ends. Nothing is reserved, code stays in the files of the cache, and these are read
    /// on the calling thread, which takes less time than to start another.
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
        }
    }
}

/// Loads and runs components. Cheap to clone; the last clone to go ends the clock.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    engine: wasmtime::Engine,
    options: EngineOptions,
    places: Arc<Semaphore>,
    clock: Arc<Clock>,
    codes: Codes,
    lane: Arc<Lane>,
    files: Arc<OpenFiles>,
}

impl Engine {
    /// Sets up the compiler and reserves address space for the pool.
    ///
    /// # Errors
    /// [`LoadError::Engine`] when the address space is not to be had.
    pub fn new(options: EngineOptions) -> Result<Self, LoadError> {
        let mut settings = compiler::settings();
        if options.profile == Profile::Resident {
            settings.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(&options)));
        }
        // Where another process compiles, this one sets up no compiler.
        settings.enable_compiler(options.compiler.is_none());
        let engine = wasmtime::Engine::new(&settings).map_err(|e| LoadError::Engine(format!("{e:#}")))?;
        let (lane, clock) = (Arc::new(Lane::new()), Arc::default());
        let places = Arc::new(Semaphore::new(options.max_instances.get().try_into().unwrap_or(Semaphore::MAX_PERMITS)));
        let (codes, files) = (Codes::default(), Arc::default());
        Ok(Self { inner: Arc::new(Inner { engine, options, places, clock, codes, lane, files }) })
    }

    /// What it was made for.
    pub fn options(&self) -> &EngineOptions {
        &self.inner.options
    }

    /// How many components are compiled and in memory now, however many hooks were made of them.
    pub fn components(&self) -> usize {
        self.inner.codes.count()
    }

    /// Where the code of the components that were loaded so far came from.
    pub fn loads(&self) -> Loads {
        self.inner.codes.loads.so_far()
    }

    /// How many components run now.
    pub fn running(&self) -> usize {
        let places = usize::try_from(self.inner.options.max_instances.get()).unwrap_or(usize::MAX);
        places.saturating_sub(self.inner.places.available_permits())
    }

    pub(crate) fn codes(&self) -> &Codes {
        &self.inner.codes
    }

    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.inner.engine
    }

    /// Files that calls hold open, and directories that hooks were granted.
    pub(crate) fn files(&self) -> &Arc<OpenFiles> {
        &self.inner.files
    }

    /// Turns for components that compute for long.
    pub(crate) fn lane(&self) -> &Arc<Lane> {
        &self.inner.lane
    }

    /// A place to run in, unless there is none until then. Who waits has the next one.
    pub(crate) async fn place(&self, until: Instant) -> Option<SemaphorePermit<'_>> {
        match self.inner.places.try_acquire() {
            Ok(place) => Some(place),
            Err(_) => timeout_at(until, self.inner.places.acquire()).await.ok()?.ok(),
        }
    }

    /// Starts the clock, unless it runs.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub(crate) fn start_clock(&self) -> io::Result<()> {
        self.with_clock(|_| ())
    }

    /// Makes the clock tick while the guard lives.
    ///
    /// # Errors
    /// As [`Engine::start_clock`].
    pub(crate) fn ticking(&self) -> io::Result<Ticking> {
        self.with_clock(|state| state.calls += 1)?;
        Ok(Ticking(Arc::clone(&self.inner.clock)))
    }

    /// Nobody needs the clock before the first call, and its thread would delay whoever loads a component.
    fn with_clock(&self, change: impl FnOnce(&mut ClockState)) -> io::Result<()> {
        let Inner { engine, lane, clock, .. } = &*self.inner;
        clock.change(|state| {
            if !state.started {
                clock.start(engine.clone(), Arc::clone(lane))?;
                state.started = true;
            }
            change(state);
            Ok(())
        })
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("options", &self.inner.options).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.clock.change(|state| state.closed = true);
    }
}

/// Address space for `max_instances` components, each with as many modules, memories and tables as one may have. Pages
/// are backed only once they are touched.
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

/// Advances the engine's epoch every [`TICK`] while something runs, and a little longer, so that an idle host sleeps.
#[derive(Default)]
struct Clock {
    state: Mutex<ClockState>,
    changed: Condvar,
}

#[derive(Default)]
struct ClockState {
    started: bool,
    calls: usize,
    asleep: bool,
    closed: bool,
}

impl Clock {
    fn start(self: &Arc<Self>, engine: wasmtime::Engine, lane: Arc<Lane>) -> io::Result<()> {
        let own = Arc::clone(self);
        thread::Builder::new().name("hookbox-clock".into()).spawn(move || {
            let (mut seen, mut idle) = (Seen::default(), 0);
            while let Some(slept) = own.goes_on(&mut idle) {
                lane.pass(slept);
                thread::sleep(TICK);
                // Before anybody is interrupted, and asks for a turn.
                lane.tick(&mut seen);
                engine.increment_epoch();
            }
        })?;
        Ok(())
    }

    /// Waits where nothing has run for many ticks, and says for how long; `None`: nobody will need ticks any more.
    fn goes_on(&self, idle_ticks: &mut u32) -> Option<Duration> {
        let mut slept = Duration::ZERO;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *idle_ticks = if state.calls == 0 { idle_ticks.saturating_add(1) } else { 0 };
        if *idle_ticks > LINGER {
            state.asleep = true;
            let asleep = Instant::now();
            let idle = |state: &mut ClockState| state.calls == 0 && !state.closed;
            state = self.changed.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
            state.asleep = false;
            *idle_ticks = 0;
            slept = asleep.elapsed();
        }
        (!state.closed).then_some(slept)
    }

    fn change<T>(&self, change: impl FnOnce(&mut ClockState) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let done = change(&mut state);
        // Each time would be a system call each time.
        if state.asleep {
            self.changed.notify_one();
        }
        done
    }
}

/// See [`Engine::ticking`].
pub(crate) struct Ticking(Arc<Clock>);

impl Drop for Ticking {
    fn drop(&mut self) {
        self.0.change(|state| state.calls = state.calls.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests;
