//! A component: loaded once, called many times, each time in a fresh sandbox.

mod imports;
mod inspect;
mod size;

use std::{
    fmt, fs,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use hookbox_protocol::{Cause, Dialect, Event, EventKind, Failure, HookOutput};
use tokio::time::timeout_at;
use wasmtime::{
    Store,
    component::{InstancePre, Linker, types::ComponentItem},
};

use crate::{
    bindings::AllHooks,
    cache,
    call::{self, Call, Failed, Interface, Reader},
    digest::sha256,
    engine::Engine,
    error::LoadError,
    permission::Permissions,
    run::{CallContext, Run},
    store::{self, LimitReached, Sandbox, WasiGrants},
};
use imports::{Imports, Package};

pub use inspect::{Inspection, Producer, inspect};

/// The largest component that is read at all. `CPython` ones have some 20 MiB.
const MAX_BYTES: u64 = 256 << 20;

/// A component, ready to be called. Cheap to clone.
#[derive(Clone)]
pub struct Component {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    digest: String,
    pre: InstancePre<Sandbox>,
    kinds: Vec<EventKind>,
    interfaces: Vec<Box<dyn Interface>>,
    wasi: WasiGrants,
}

impl Component {
    /// Reads a component, compiles it (or takes it from the cache), finds the events it handles and links what it was
    /// granted. Relative directories in `permissions` are relative to `folder`.
    ///
    /// # Errors
    /// [`LoadError`], one variant per way; what it says beside what it is tells what to do.
    pub async fn load(
        engine: &Engine,
        path: &Path,
        permissions: &Permissions,
        folder: &Path,
    ) -> Result<Self, LoadError> {
        let (engine, path) = (engine.clone(), path.to_owned());
        let (permissions, folder) = (permissions.clone(), folder.to_owned());
        let loading = move || Self::from_bytes(&engine, &read(&path)?, &permissions, &folder);
        // Compiling takes up to seconds; other tasks go on.
        tokio::task::spawn_blocking(loading).await.unwrap_or_else(|e| Err(LoadError::Engine(e.to_string())))
    }

    /// As [`Component::load`], for a component in memory. Blocks while it compiles.
    ///
    /// # Errors
    /// As [`Component::load`].
    pub fn from_bytes(
        engine: &Engine,
        bytes: &[u8],
        permissions: &Permissions,
        folder: &Path,
    ) -> Result<Self, LoadError> {
        inspect::check_header(bytes)?;
        size::check(bytes, engine.options().max_memory_mib)?;
        let digest = sha256(bytes);
        let component = cache::compiled(engine, bytes, &digest)?;
        let wasmtime = engine.wasmtime();
        let component_type = component.component_type();

        let imports = Imports::sort(component_type.imports(wasmtime).map(|(name, _)| name))?;
        imports.check(permissions)?;
        let wasi = WasiGrants::new(permissions, folder)?;

        let mut linker = Linker::<Sandbox>::new(wasmtime);
        AllHooks::add_to_linker::<_, wasmtime::component::HasSelf<_>>(&mut linker, |sandbox| sandbox)
            .and_then(|()| {
                if imports.inert.is_empty() { Ok(()) } else { wasmtime_wasi::p2::add_to_linker_async(&mut linker) }
            })
            .map_err(|e| LoadError::Engine(format!("{e:#}")))?;
        let pre = linker.instantiate_pre(&component).map_err(|e| LoadError::Link(format!("{e:#}")))?;

        let (mut kinds, mut interfaces) = (Vec::new(), Vec::new());
        for (name, export) in component_type.exports(wasmtime) {
            let Some(kind) = handled(name)? else { continue };
            if kinds.contains(&kind) {
                return Err(LoadError::wrong_type(name, "it is exported twice, in two versions"));
            }
            let handle = match export.ty {
                ComponentItem::ComponentInstance(instance) => instance.get_export(wasmtime, "handle").map(|e| e.ty),
                _ => None,
            };
            let Some(ComponentItem::ComponentFunc(handle)) = handle else {
                return Err(LoadError::wrong_type(name, "it has no function `handle`"));
            };
            interfaces
                .push(call::bind(kind, &pre, &handle).map_err(|e| LoadError::wrong_type(name, format!("{e:#}")))?);
            kinds.push(kind);
        }
        if kinds.is_empty() {
            return Err(LoadError::NoEvent);
        }
        Ok(Self { inner: Arc::new(Inner { engine: engine.clone(), digest, pre, kinds, interfaces, wasi }) })
    }

    /// The events it handles.
    pub fn handles(&self) -> &[EventKind] {
        &self.inner.kinds
    }

    /// SHA-256 of the component's bytes, in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.inner.digest
    }

    /// Calls it once, in a sandbox of its own. Never panics and never outlives `context.deadline`; needs a tokio
    /// runtime with its timer on.
    pub async fn call(&self, event: &Event, dialect: &dyn Dialect, context: &CallContext) -> Run {
        let begin = Instant::now();
        let report = |result| Run { fuel: Some(0), time: begin.elapsed(), ..Run::new(result) };
        let deadline = context.deadline.into();
        let Ok(Ok(_place)) = timeout_at(deadline, self.inner.engine.places().acquire()).await else {
            return report(Err(Failure::new(
                Cause::Busy,
                "all places for running components were taken until its timeout; try again, or raise `maxInstances`",
            )));
        };
        let wasi = match self.inner.wasi.context() {
            Ok(wasi) => wasi,
            Err(error) => return report(Err(Failure::new(Cause::Load, error.to_string()))),
        };
        let mut store = store::new(&self.inner.engine, context, event, wasi);
        let mut reader = Reader::new(event, dialect, store::output_bytes(context));
        let ticking = self.inner.engine.ticking();
        let ended = timeout_at(deadline, self.run(event, &mut store, &mut reader)).await;
        drop(ticking);

        let limits = &context.limits;
        let result = match ended {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(Failed::Answered(failure))) => Err(failure),
            Ok(Err(Failed::Ended(error))) => Err(store::failure(&error, limits.fuel, limits.output_kib)),
            Err(_) => Err(LimitReached::Timeout.into()),
        };
        let fuel = limits.fuel.saturating_sub(store.get_fuel().unwrap_or_default());
        let logs = store.into_data().logs;
        Run { notes: reader.into_notes(), fuel: Some(fuel), logs, ..report(result) }
    }

    async fn run(
        &self,
        event: &Event,
        store: &mut Store<Sandbox>,
        reader: &mut Reader<'_>,
    ) -> Result<HookOutput, Failed> {
        let inner = &self.inner;
        let index = inner.kinds.iter().position(|kind| *kind == event.kind());
        let Some(interface) = index.and_then(|index| inner.interfaces.get(index)) else {
            return Err(reader.other_event().into());
        };
        let instance = inner.pre.instantiate_async(&mut *store).await?;
        interface.handle(Call { event, store, instance: &instance, reader }).await
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { digest, kinds, .. } = &*self.inner;
        f.debug_struct("Component").field("digest", digest).field("handles", kinds).finish_non_exhaustive()
    }
}

/// The event whose interface this export is; `None` for exports that are none of our business.
fn handled(export: &str) -> Result<Option<EventKind>, LoadError> {
    match Package::of(export) {
        Package::Hooks { interface, ours: true } => {
            Ok(EventKind::ALL.iter().copied().find(|k| k.interface() == interface))
        }
        Package::Hooks { ours: false, .. } => Err(LoadError::Version { found: export.to_owned() }),
        Package::Wasi | Package::Other => Ok(None),
    }
}

/// A component's bytes.
///
/// # Errors
/// [`LoadError::Read`], [`LoadError::TooLarge`].
pub fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    let failed = |error| LoadError::Read { path: PathBuf::from(path), error };
    let file = fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(LoadError::TooLarge { limit_mib: MAX_BYTES >> 20 });
    }
    Ok(bytes)
}
