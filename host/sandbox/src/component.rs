//! A component: loaded once, called many times, each time in a fresh sandbox.

mod inspect;
mod size;

use std::{
    fmt,
    fs::File,
    future::poll_fn,
    io::{self, Read},
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Instant,
};

use hookbox_protocol::{Cause, Dialect, Event, EventKind, Failure, HookOutput};
use tokio::time::timeout_at;
use wasmtime::Store;

use crate::{
    beneath::Beneath,
    cache,
    call::{Call, Failed, Reader},
    code::Code,
    digest::sha256,
    engine::{Engine, Profile},
    error::LoadError,
    permission::Permissions,
    run::{ALL_IN_USE, CallContext, Run},
    store::{self, LimitReached, Sandbox, WasiGrants},
    traced,
};

pub use inspect::{Inspection, Producer, inspect};
#[doc(hidden)] // for fuzzing
pub use size::check as check_size;

/// Maximum size of a component file. Components with `CPython` take about 20 MiB.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum size in bytes of a component that is loaded on the calling thread.
const SMALL: usize = 1 << 20;

/// A component with its grants, ready to be called. Cheap to clone. Components made of the same bytes on one [`Engine`]
/// share their code.
#[derive(Clone)]
pub struct Component {
    engine: Engine,
    code: Arc<Code>,
    wasi: Arc<WasiGrants>,
}

impl Component {
    /// Reads a component, compiles it or takes it from the cache, finds the events it handles and links its imports.
    /// Relative directories in `permissions` are relative to `folder`.
    ///
    /// # Errors
    /// [`LoadError`]: one variant per cause, whose message says what to do.
    pub async fn load(
        engine: &Engine,
        path: &Path,
        permissions: &Permissions,
        folder: &Path,
    ) -> Result<Self, LoadError> {
        let path = path.to_owned();
        Self::made_of(move || read(&path), engine, permissions, folder).await
    }

    /// Loads a file that must be below the folder `within`. See [`Component::load`].
    ///
    /// # Errors
    /// As [`Component::load`]. Also fails when the path, or a link in it, leads out of that folder.
    pub async fn load_beneath(
        engine: &Engine,
        within: Arc<Beneath>,
        path: &Path,
        permissions: &Permissions,
        folder: &Path,
    ) -> Result<Self, LoadError> {
        let path = path.to_owned();
        Self::made_of(move || read_open(&path, within.file(&path)), engine, permissions, folder).await
    }

    /// Loads a component from memory. Other tasks continue while it compiles. See [`Component::load`].
    ///
    /// # Errors
    /// As [`Component::load`].
    pub async fn from_bytes(
        engine: &Engine,
        bytes: Vec<u8>,
        permissions: &Permissions,
        folder: &Path,
    ) -> Result<Self, LoadError> {
        Self::made_of(move || Ok(bytes), engine, permissions, folder).await
    }

    /// Reads and loads a component on the thread that the engine's [`Profile`] prescribes.
    async fn made_of(
        bytes: impl FnOnce() -> Result<Vec<u8>, LoadError> + Send + 'static,
        engine: &Engine,
        permissions: &Permissions,
        folder: &Path,
    ) -> Result<Self, LoadError> {
        if engine.options().profile == Profile::Resident {
            return Self::elsewhere(bytes, engine, permissions, folder).await;
        }
        let bytes = bytes()?;
        match Self::cached(engine, &bytes, permissions, folder) {
            Some(component) => component,
            None => Self::elsewhere(move || Ok(bytes), engine, permissions, folder).await,
        }
    }

    /// Reads and loads a component on a blocking thread.
    async fn elsewhere(
        bytes: impl FnOnce() -> Result<Vec<u8>, LoadError> + Send + 'static,
        engine: &Engine,
        permissions: &Permissions,
        folder: &Path,
    ) -> Result<Self, LoadError> {
        // Start the clock's thread first: if that fails, the runtime could not start a thread either, and would panic.
        engine.start_clock().map_err(|error| LoadError::Engine(format!("no thread: {error}")))?;
        let (engine, permissions, folder) = (engine.clone(), permissions.clone(), folder.to_owned());
        let span = tracing::Span::current();
        let loading = move || span.in_scope(|| Self::new(&engine, &bytes()?, &permissions, &folder));
        // The runtime panics if it cannot start a thread. A probe thread that has just ended leaves room for one.
        let room = std::thread::Builder::new().spawn(|| ()).map(std::thread::JoinHandle::join);
        drop(room.map_err(|error| LoadError::Engine(format!("no thread: {error}")))?);
        tokio::task::spawn_blocking(loading).await.unwrap_or_else(|e| Err(LoadError::Engine(e.to_string())))
    }

    /// Loads a component from memory, outside of any task. Blocks while it compiles. See [`Component::load`].
    ///
    /// # Errors
    /// As [`Component::load`].
    pub fn new(engine: &Engine, bytes: &[u8], permissions: &Permissions, folder: &Path) -> Result<Self, LoadError> {
        inspect::check_header(bytes)?;
        let digest = sha256(bytes);
        let code = engine.codes().get(&digest, || {
            size::check(bytes, engine.options().max_memory_mib)?;
            let component = cache::compiled(engine, bytes, &digest)?;
            Code::link(engine.wasmtime(), &component, &digest)
        })?;
        Self::granted(engine, code, permissions, folder)
    }

    /// Loads a small component that is already compiled, which blocks for less than 1 ms. Returns `None` for other
    /// components, and while another thread compiles this one.
    fn cached(
        engine: &Engine,
        bytes: &[u8],
        permissions: &Permissions,
        folder: &Path,
    ) -> Option<Result<Self, LoadError>> {
        if bytes.len() > SMALL {
            return None;
        }
        let digest = sha256(bytes);
        let code = engine.codes().try_get(&digest, || {
            let component = cache::cached(engine, &digest).ok_or(None)?;
            // A compiled component passed the size check once, but this engine may allow less memory.
            let limit = engine.options().max_memory_mib;
            let fits = begins_with_at_most(&component).is_some_and(|bytes| bytes <= u64::from(limit) << 20);
            (if fits { Ok(()) } else { size::check(bytes, limit) })
                .and_then(|()| Code::link(engine.wasmtime(), &component, &digest))
                .map_err(Some)
        });
        match code? {
            Ok(code) => Some(Self::granted(engine, code, permissions, folder)),
            Err(error) => error.map(Err),
        }
    }

    fn granted(engine: &Engine, code: Arc<Code>, permissions: &Permissions, folder: &Path) -> Result<Self, LoadError> {
        code.imports.check_granted(permissions)?;
        if code.kinds.is_empty() {
            return Err(LoadError::NoEvent);
        }
        let wasi = Arc::new(WasiGrants::new(permissions, folder, engine.files())?);
        Ok(Self { engine: engine.clone(), code, wasi })
    }

    /// Returns the events that the component handles.
    pub fn handles(&self) -> &[EventKind] {
        &self.code.kinds
    }

    /// Returns the SHA-256 digest of the component's bytes, in hexadecimal.
    pub fn digest(&self) -> &Arc<str> {
        &self.code.digest
    }

    /// Calls the component once, in a fresh sandbox. Never panics and never outlives `context.deadline`. Requires a
    /// tokio runtime with its timer enabled.
    pub async fn call(&self, event: &Event, dialect: &dyn Dialect, context: CallContext) -> Run {
        let span = tracing::debug_span!("call", digest = &**self.digest());
        traced!(span, self.call_now(event, dialect, context))
    }

    async fn call_now(&self, event: &Event, dialect: &dyn Dialect, context: CallContext) -> Run {
        let begin = Instant::now();
        let failed = |failure| Run { fuel: Some(0), time: begin.elapsed(), ..Run::new(Err(failure)) };
        let deadline = context.deadline.into();
        let Some(_running) = self.engine.begin(&context.tenant, deadline).await else {
            return failed(Failure::new(Cause::Busy, ALL_IN_USE));
        };
        let pace = self.engine.lane().begin(&context.tenant);
        let limits = context.limits.clone();
        let (wasi, files) = (Arc::clone(&self.wasi), Arc::clone(self.engine.files()));
        let mut store = store::new(self.engine.wasmtime(), context, event, wasi, files, &pace);
        let mut reader = Reader::new(event, dialect, store::output_bytes(&limits));
        let ended = {
            let run = pin!(self.run(event, &mut store, &mut reader));
            let mut run = pin!(pace.keep(run));
            // The call yields after its first slice of fuel. Most calls end within it, so they need no clock.
            let first = if self.code.only_computes {
                poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await
            } else {
                Poll::Pending
            };
            match first {
                Poll::Ready(ended) => Ok(ended),
                Poll::Pending => match self.engine.ticking() {
                    Ok(_ticking) => timeout_at(deadline, run).await,
                    Err(error) => return failed(store::refused(&error)),
                },
            }
        };

        let result = match ended {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(Failed::Answered(failure))) => Err(failure),
            Ok(Err(Failed::Ended(error))) => Err(store::failure(&error, limits.fuel, limits.output_kib)),
            Err(_) => Err(LimitReached::Timeout.into()),
        };
        let fuel = limits.fuel.saturating_sub(store.get_fuel().unwrap_or_default());
        let sandbox = store.into_data();
        let memory = Some(sandbox.memory_bytes());
        let (notes, time) = (reader.into_notes(), begin.elapsed());
        Run { result, notes, fuel: Some(fuel), memory, logs: sandbox.logs, time }
    }

    async fn run(
        &self,
        event: &Event,
        store: &mut Store<Sandbox>,
        reader: &mut Reader<'_>,
    ) -> Result<Box<HookOutput>, Failed> {
        let Some(interface) = self.code.interface(event.kind()) else {
            return Err(reader.other_event().into());
        };
        let instance = self.code.pre.instantiate_async(&mut *store).await?;
        interface.handle(Call { event, store, instance: &instance, reader }).await
    }
}

/// Upper bound on the initial size of all linear memories in bytes, if the engine knows it without a closer look.
fn begins_with_at_most(component: &wasmtime::component::Component) -> Option<u64> {
    let needs = component.resources_required()?;
    let pages = u64::from(needs.num_memories).saturating_mul(needs.max_initial_memory_size.unwrap_or_default());
    Some(pages.saturating_mul(size::PAGE))
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Code { digest, kinds, .. } = &*self.code;
        f.debug_struct("Component").field("digest", digest).field("handles", kinds).finish_non_exhaustive()
    }
}

/// Reads a component's file. Blocks.
///
/// # Errors
/// [`LoadError::Read`], [`LoadError::TooLarge`].
pub fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    read_open(path, crate::private::open_regular(path))
}

fn read_open(path: &Path, file: io::Result<File>) -> Result<Vec<u8>, LoadError> {
    let failed = |error| LoadError::Read { path: PathBuf::from(path), error };
    let file = file.map_err(failed)?;
    // Reserve the size that the file reports, which is usually exact.
    let length = file.metadata().map_err(failed)?.len().min(MAX_BYTES);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(LoadError::TooLarge { limit_mib: MAX_BYTES >> 20 });
    }
    Ok(bytes)
}
