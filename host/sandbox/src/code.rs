//! Compiled components, shared by all hooks that use the same bytes and freed with the last of them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak},
};

use hookbox_protocol::EventKind;
use wasmtime::component::{Component, HasSelf, InstancePre, Linker, types::ComponentItem};

use crate::{
    bindings::AllHooks,
    call::{self, Interface},
    error::LoadError,
    imports::{Imports, handled},
    loads,
    store::{Sandbox, replace_file_functions},
};

/// A component's machine code, mapped and linked. It does not contain grants, so hooks with different grants share it:
/// all imports are linked, and a function without a grant returns an error.
pub(crate) struct Code {
    pub(crate) digest: Arc<str>,
    pub(crate) imports: Imports,
    pub(crate) pre: InstancePre<Sandbox>,
    pub(crate) kinds: Vec<EventKind>,
    /// True if the component calls no host function and has no second memory to copy to. Its fuel then bounds its run
    /// time.
    pub(crate) only_computes: bool,
    interfaces: Vec<Box<dyn Interface>>,
}

impl Code {
    /// Finds the events that a compiled component handles, and links it.
    pub(crate) fn link(engine: &wasmtime::Engine, component: &Component, digest: &str) -> Result<Self, LoadError> {
        let component_type = component.component_type();
        let imports = Imports::sort(component_type.imports(engine).map(|(name, _)| name))?;
        imports.check_refused()?;
        let mut linker = Linker::<Sandbox>::new(engine);
        let failed = |error| LoadError::Engine(format!("{error:#}"));
        if imports.ours {
            AllHooks::add_to_linker::<_, HasSelf<_>>(&mut linker, |sandbox| sandbox).map_err(failed)?;
        }
        if !imports.inert.is_empty() {
            wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(failed)?;
            replace_file_functions(&mut linker).map_err(failed)?;
        }
        let pre = linker.instantiate_pre(component).map_err(|e| LoadError::Link(format!("{e:#}")))?;

        let mut found = Vec::new();
        for (name, export) in component_type.exports(engine) {
            let Some(kind) = handled(name)? else { continue };
            if found.iter().any(|(other, _)| *other == kind) {
                return Err(LoadError::wrong_type(name, "it is exported twice, in two versions"));
            }
            let handle = match export.ty {
                ComponentItem::ComponentInstance(instance) => instance.get_export(engine, "handle").map(|e| e.ty),
                _ => None,
            };
            let Some(ComponentItem::ComponentFunc(handle)) = handle else {
                return Err(LoadError::wrong_type(name, "it has no function `handle`"));
            };
            let interface =
                call::bind(kind, &pre, &handle).map_err(|e| LoadError::wrong_type(name, format!("{e:#}")))?;
            found.push((kind, interface));
        }
        found.sort_by_key(|(kind, _)| *kind);
        let (kinds, interfaces) = found.into_iter().unzip();
        let only_computes = !imports.ours
            && imports.inert.is_empty()
            && component.resources_required().is_some_and(|needs| needs.num_memories <= 1);
        Ok(Self { digest: digest.into(), imports, pre, kinds, only_computes, interfaces })
    }

    /// Returns the interface that handles events of this kind.
    pub(crate) fn interface(&self, kind: EventKind) -> Option<&dyn Interface> {
        let index = self.kinds.iter().position(|handled| *handled == kind)?;
        Some(self.interfaces.get(index)?.as_ref())
    }
}

/// Compiled components by digest. Holds weak references only.
#[derive(Default)]
pub(crate) struct Codes {
    places: Mutex<HashMap<String, Arc<Mutex<Weak<Code>>>>>,
    /// Counts of the sources that code came from.
    pub(crate) loads: loads::Counters,
}

impl Codes {
    /// Returns the code of these bytes, and calls `make` if it is not in memory. Blocks while another thread makes it.
    pub(crate) fn get(
        &self,
        digest: &str,
        make: impl FnOnce() -> Result<Code, LoadError>,
    ) -> Result<Arc<Code>, LoadError> {
        self.get_in(lock(&self.place(digest)), make)
    }

    /// As [`Codes::get`], but returns `None` instead of blocking.
    pub(crate) fn try_get<E>(
        &self,
        digest: &str,
        make: impl FnOnce() -> Result<Code, E>,
    ) -> Option<Result<Arc<Code>, E>> {
        let place = self.place(digest);
        let place = match place.try_lock() {
            Err(TryLockError::WouldBlock) => return None,
            Err(TryLockError::Poisoned(place)) => place.into_inner(),
            Ok(place) => place,
        };
        Some(self.get_in(place, make))
    }

    fn place(&self, digest: &str) -> Arc<Mutex<Weak<Code>>> {
        let mut all = lock(&self.places);
        // An entry that another thread uses has two strong references. It is kept without waiting for its lock.
        all.retain(|_, place| Arc::strong_count(place) > 1 || lock(place).strong_count() > 0);
        Arc::clone(all.entry(digest.to_owned()).or_default())
    }

    fn get_in<E>(
        &self,
        mut place: MutexGuard<'_, Weak<Code>>,
        make: impl FnOnce() -> Result<Code, E>,
    ) -> Result<Arc<Code>, E> {
        if let Some(code) = place.upgrade() {
            loads::count(&self.loads.memory);
            return Ok(code);
        }
        let code = Arc::new(make()?);
        *place = Arc::downgrade(&code);
        Ok(code)
    }

    /// Returns the number of compiled components in memory.
    pub(crate) fn count(&self) -> usize {
        lock(&self.places).values().filter(|place| lock(place).strong_count() > 0).count()
    }
}

/// Locks a mutex and ignores poisoning, because a panic leaves none of these values half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
