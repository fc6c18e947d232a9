//! Builds a [`Runtime`].

use std::{
    collections::HashMap,
    num::NonZeroU32,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use hookbox_sandbox::{CompileLimits, Compiler, EngineOptions, Profile, scheduler::Scheduler};
use tokio::sync::OnceCell;

use super::{Inner, Runtime};
use crate::{
    artifact::{Approvals, ComponentCache, Revoked},
    capability::{http::HttpClient, llm::Model, state::Store},
    config::HANDLER_TYPES,
    error::BuildError,
    folders,
    handler::{HandlerEntry, HandlerFactory, SharedHandler},
    source::ComponentSource,
};

/// Builds a [`Runtime`]. Everything has a default.
#[derive(Default)]
#[must_use]
pub struct RuntimeBuilder {
    compiler: Option<PathBuf>,
    compile_limits: CompileLimits,
    cache_dir: Option<PathBuf>,
    max_instances: Option<u32>,
    max_memory_mib: Option<u32>,
    max_table_elements: Option<u32>,
    store: Option<Arc<dyn Store>>,
    client: Option<Arc<dyn HttpClient>>,
    model: Option<Arc<dyn Model>>,
    handlers: HashMap<String, HandlerFactory>,
    source: Option<Arc<dyn ComponentSource>>,
    approvals: Approvals,
    component_cache: Option<ComponentCache>,
    revoked: Option<Revoked>,
    profile: Profile,
    scheduler: Option<Arc<dyn Scheduler>>,
}

impl RuntimeBuilder {
    /// Compiles each component in a child process of this program. The child is killed if it exceeds
    /// [`RuntimeBuilder::compile_limits`]. Without this, a malicious component can exhaust the memory of this process.
    /// The program is `hookbox`, or any program whose `main` starts with
    /// [`serve_if_asked`](crate::sandbox::compiler::serve_if_asked), such as the embedder's own.
    pub fn compiler(mut self, program: impl Into<PathBuf>) -> Self {
        self.compiler = Some(program.into());
        self
    }

    /// Sets the limits for compiling one component in a child process.
    pub fn compile_limits(mut self, limits: CompileLimits) -> Self {
        self.compile_limits = limits;
        self
    }

    /// Sets the folder of precompiled components. Default: the user's cache folder.
    pub fn cache_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cache_dir = Some(dir.into());
        self
    }

    /// Sets how many components may run concurrently, across all hook sets. Default: 16. Further calls wait, and fail
    /// as `busy` at their timeout.
    pub fn max_instances(mut self, instances: u32) -> Self {
        self.max_instances = Some(instances);
        self
    }

    /// Sets the scheduler, which decides which calls of components may begin. Default: FIFO order, with
    /// [`RuntimeBuilder::max_instances`] permits.
    pub fn scheduler(mut self, scheduler: impl Scheduler + 'static) -> Self {
        self.scheduler = Some(Arc::new(scheduler));
        self
    }

    /// Sets the lifetime of this process. Default: [`Profile::Resident`].
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets the largest `memoryMiB` that a hook may have. Default: 1024. Address space of this size is reserved for
    /// each of [`RuntimeBuilder::max_instances`].
    pub fn max_memory_mib(mut self, mib: u32) -> Self {
        self.max_memory_mib = Some(mib);
        self
    }

    /// Sets the largest table that a hook may have, in elements. Default: 100,000.
    pub fn max_table_elements(mut self, elements: u32) -> Self {
        self.max_table_elements = Some(elements);
        self
    }

    /// Sets the state store. Default: a file in the user's state folder.
    pub fn state(mut self, store: impl Store + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Sets the HTTP client for `http` handlers, the http capability and the models of configurations.
    pub fn http_client(mut self, client: impl HttpClient + 'static) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// Sets the language model for tenants without their own model. It overrides a configuration's `llm`.
    pub fn model(mut self, model: impl Model + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Adds a type of handlers. `make` is called once for each entry with `"type": kind` in each hook set. Read such
    /// configurations with [`Runtime::reader`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hookbox::{HookOutput, Run, Runtime, async_trait, handler::{Call, Handler}};
    ///
    /// struct Silent;
    ///
    /// #[async_trait]
    /// impl Handler for Silent {
    ///     async fn call(&self, _: Call<'_>) -> Run {
    ///         Run::new(Ok(HookOutput::default()))
    ///     }
    /// }
    ///
    /// let runtime = Runtime::builder().handler("silent", |_| Ok(Arc::new(Silent))).build()?;
    /// # Ok::<_, hookbox::BuildError>(())
    /// ```
    pub fn handler<F>(mut self, kind: impl Into<String>, make: F) -> Self
    where
        F: Fn(&HandlerEntry<'_>) -> Result<SharedHandler, String> + Send + Sync + 'static,
    {
        self.handlers.insert(kind.into(), Arc::new(make));
        self
    }

    /// Sets the source of components. Default: files beside the configuration.
    pub fn components(mut self, source: impl ComponentSource + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Sets the approvals that locked components need to run. Default: the user's.
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.approvals = approvals;
        self
    }

    /// Digests and publishers whose components do not run. Default: what the user revoked.
    pub fn revoked(mut self, revoked: Revoked) -> Self {
        self.revoked = Some(revoked);
        self
    }

    /// Sets the folder of components from registries. Default: the user's cache folder.
    pub fn component_cache(mut self, component_cache: ComponentCache) -> Self {
        self.component_cache = Some(component_cache);
        self
    }

    /// Builds the runtime. The engine starts when the first component is loaded.
    ///
    /// # Errors
    /// [`BuildError::HandlerType`] if a type of handlers has the name of one of hookbox's own types.
    pub fn build(self) -> Result<Runtime, BuildError> {
        if let Some(taken) = self.handlers.keys().find(|kind| HANDLER_TYPES.contains(&kind.as_str())) {
            return Err(BuildError::HandlerType(taken.clone()));
        }
        if self.profile == Profile::Resident {
            keep_freed_memory();
        }
        let defaults = EngineOptions::default();
        let options = EngineOptions {
            max_instances: self.max_instances.and_then(NonZeroU32::new).unwrap_or(defaults.max_instances),
            max_memory_mib: self.max_memory_mib.unwrap_or(defaults.max_memory_mib),
            max_table_elements: self.max_table_elements.unwrap_or(defaults.max_table_elements),
            cache_dir: self.cache_dir.or_else(folders::cache),
            compiler: self.compiler.map(|program| Compiler { program, limits: self.compile_limits }),
            profile: self.profile,
            scheduler: self.scheduler,
        };
        let inner = Inner {
            options,
            engine: OnceCell::new(),
            store: self.store,
            files: Mutex::default(),
            client: self.client.or_else(shipped_client),
            model: self.model,
            handlers: self.handlers,
            source: self.source,
            approvals: self.approvals,
            component_cache: self.component_cache,
            revoked: self.revoked,
        };
        Ok(Runtime { inner: Arc::new(inner) })
    }
}

/// Size of the block that raises glibc's limits: blocks of up to 8 MiB are reused, and up to 16 MiB of free memory is
/// kept.
const CACHE_BYTES: usize = 8 << 20;

/// Makes glibc keep the memory of a large event for the next one. By default it returns large blocks to the system at
/// once. Mapping them again costs a quarter of the time of a 1 MiB event. Freeing one large block raises that limit.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(CACHE_BYTES)));
}

#[cfg(feature = "http")]
#[expect(clippy::unnecessary_wraps, reason = "a build without `http` has none")]
fn shipped_client() -> Option<Arc<dyn HttpClient>> {
    Some(Arc::new(crate::capability::http::ReqwestClient::default()))
}

#[cfg(not(feature = "http"))]
fn shipped_client() -> Option<Arc<dyn HttpClient>> {
    None
}
