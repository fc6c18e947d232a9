//! The store of one call: its limits, and the failure when a limit is reached.

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
    capability::{CallUsage, Capabilities, Scope},
    lane::{self, Pace},
    limits::Limits,
    run::{CallContext, LogLine},
};

pub(crate) use fault::{LimitReached, failure, refused};
pub(crate) use files::{OpenFiles, replace as replace_file_functions};
use memory::Memory;
use open_files::CallFiles;
pub(crate) use wasi::WasiGrants;

/// Bytes that a component may pass to the host in one call besides its output, such as an HTTP body or a state value.
/// Each function checks its own limit later. This one bounds what the host allocates before that check.
const HOST_CALL_BYTES: usize = 4 << 20;
/// Maximum number of open WASI streams, pollables and files of a call.
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
    /// Lines that the component has logged so far.
    pub(crate) logs: Vec<LogLine>,
    grants: Arc<WasiGrants>,
    /// Boxed because it is large and most components do not use WASI.
    wasi: Option<Box<WasiCtx>>,
    handles: ResourceTable,
    files: CallFiles,
}

impl Sandbox {
    /// Returns the size of all linear memories of the call in bytes. Memories never shrink.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory.bytes()
    }
}

/// A limit and the part of it that is left.
struct Budget {
    limit: u64,
    left: u64,
}

impl Budget {
    fn new(limit: u64) -> Self {
        Self { limit, left: limit }
    }

    /// Takes `part` from the budget. Returns the limit as an error when too little is left.
    fn take(&mut self, part: u64) -> Result<(), u64> {
        self.left = self.left.checked_sub(part).ok_or(self.limit)?;
        Ok(())
    }
}

/// Creates a fresh store for one call.
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
        scope: Scope { tenant, hook, session, deadline, spent: CallUsage::default() },
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
    // This fails only when the engine does not count fuel. hookbox's engine does, and a store without fuel cannot run.
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

/// Maximum number of bytes of JSON and text in an output.
pub(crate) fn output_bytes(limits: &Limits) -> usize {
    usize::try_from(limits.output_kib).unwrap_or(usize::MAX).saturating_mul(1024)
}

impl WasiView for Sandbox {
    /// Builds the WASI context on first use. Without grants it has no variables and closed stdio.
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let ctx = self.wasi.get_or_insert_with(|| self.grants.context());
        WasiCtxView { ctx, table: &mut self.handles }
    }
}
