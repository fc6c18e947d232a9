//! What surrounds one call: its store, its limits, and the way it ends when it meets one.

mod fault;
mod files;
mod functions;
mod memory;
mod open_files;
mod wasi;

use std::{sync::Arc, time::Instant};

use hookbox_protocol::{Event, event::Raw};
use wasmtime::{Engine, Store, UpdateDeadline, component::ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::{
    capability::{Capabilities, Scope, Spent},
    lane::{self, Pace},
    limits::Limits,
    run::{CallContext, LogLine},
};

pub(crate) use fault::{LimitReached, failure, refused};
pub(crate) use files::{OpenFiles, replace as replace_file_functions};
use memory::Memory;
use open_files::CallFiles;
pub(crate) use wasi::WasiGrants;

/// Bytes a component may hand to the host in one go, beside what its answer may have: an http body, a value for the
/// state. What each may have is checked where it arrives; this is what the host allocates before it can look.
const HOST_CALL_BYTES: usize = 4 << 20;
/// WASI streams, pollables and files a call may hold at once.
const HANDLES: usize = 1024;

/// The host's side of one call.
pub(crate) struct Sandbox {
    config_json: Arc<str>,
    raw_event: Raw,
    scope: Scope,
    capabilities: Arc<Capabilities>,
    host_calls: Budget,
    log_bytes: Budget,
    memory: Memory,
    /// What it logged so far.
    pub(crate) logs: Vec<LogLine>,
    grants: Arc<WasiGrants>,
    /// Large, and most components have none.
    wasi: Option<Box<WasiCtx>>,
    handles: ResourceTable,
    files: CallFiles,
}

impl Sandbox {
    /// Bytes of all linear memories of the call. They do not shrink.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory.bytes()
    }
}

/// So much, and what is left of it.
struct Budget {
    limit: u64,
    left: u64,
}

impl Budget {
    fn new(limit: u64) -> Self {
        Self { limit, left: limit }
    }

    /// Takes a part of it, or says what the whole was.
    fn take(&mut self, part: u64) -> Result<(), u64> {
        self.left = self.left.checked_sub(part).ok_or(self.limit)?;
        Ok(())
    }
}

/// A fresh store for one call.
pub(crate) fn new(
    engine: &Engine,
    context: CallContext,
    event: &Event,
    grants: Arc<WasiGrants>,
    files: Arc<OpenFiles>,
    pace: &Arc<Pace>,
) -> Store<Sandbox> {
    let CallContext { tenant, hook, session, config_json, limits, deadline, capabilities } = context;
    let mut handles = ResourceTable::new();
    handles.set_max_capacity(HANDLES);
    let files = CallFiles::new(files, Arc::clone(&tenant));
    let sandbox = Sandbox {
        config_json,
        raw_event: event.raw.clone(),
        scope: Scope { tenant, hook, session, deadline, spent: Spent::default() },
        capabilities,
        host_calls: Budget::new(limits.host_calls.into()),
        log_bytes: Budget::new(u64::from(limits.log_kib) << 10),
        memory: Memory::new(&limits),
        logs: Vec::new(),
        grants,
        wasi: None,
        handles,
        files,
    };
    let mut store = Store::new(engine, sandbox);
    store.limiter(|sandbox| &mut sandbox.memory);
    store.set_hostcall_fuel(HOST_CALL_BYTES.max(output_bytes(&limits)));
    store.set_max_component_handles(HANDLES);
    // Only fails when the engine does not count fuel; ours does, and a store without fuel could not run anyway.
    let _ = store.set_fuel(limits.fuel);
    // As above.
    let _ = store.fuel_async_yield_interval(Some(lane::SLICE));
    let pace = Arc::clone(pace);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |_| {
        if Instant::now() >= deadline {
            return Err(LimitReached::Timeout.into());
        }
        if pace.needs_no_turn() {
            return Ok(UpdateDeadline::Yield(1));
        }
        let pace = Arc::clone(&pace);
        Ok(UpdateDeadline::YieldCustom(1, Box::pin(async move { pace.turn().await })))
    });
    store
}

/// All JSON and text that an output may have.
pub(crate) fn output_bytes(limits: &Limits) -> usize {
    usize::try_from(limits.output_kib).unwrap_or(usize::MAX).saturating_mul(1024)
}

impl WasiView for Sandbox {
    /// Without a grant: no variable, closed stdio; made only when a component asks for it.
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let ctx = self.wasi.get_or_insert_with(|| self.grants.context());
        WasiCtxView { ctx, table: &mut self.handles }
    }
}
