//! Building a [`Runtime`].

use std::{
    collections::HashMap,
    num::NonZeroU32,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use hookbox_sandbox::{CompileLimits, Compiler, EngineOptions, Profile};
use tokio::sync::OnceCell;

use super::{Inner, Runtime};
use crate::{
    artifact::{Approvals, Kept},
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
    kept: Option<Kept>,
    profile: Profile,
}

impl RuntimeBuilder {
    /// Compiles components in a process of this program, which is ended when it takes more than
    /// [`RuntimeBuilder::compile_limits`]: without it, a component made for that can exhaust this process. The program is
    /// `hookbox`, or one that begins with [`serve_if_asked`](crate::sandbox::compiler::serve_if_asked), for example the
    /// host's own.
    pub fn compiler(mut self, program: impl Into<PathBuf>) -> Self {
        self.compiler = Some(program.into());
        self
    }

    /// What compiling one component may take in a process of its own.
    pub fn compile_limits(mut self, limits: CompileLimits) -> Self {
        self.compile_limits = limits;
        self
    }

    /// Where precompiled components are kept; the user's cache folder unless given.
    pub fn cache_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cache_dir = Some(dir.into());
        self
    }

    /// Components that run at once, of all hook sets together; 16 unless given. More wait for their turn, and fail as
    /// `busy` after their timeout.
    pub fn max_instances(mut self, instances: u32) -> Self {
        self.max_instances = Some(instances);
        self
    }

    /// The lifetime of this process; [`Profile::Resident`] unless given.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// The largest `memoryMiB` that a hook may have; 1024 unless given. Address space for it is set aside for each of
    /// [`RuntimeBuilder::max_instances`].
    pub fn max_memory_mib(mut self, mib: u32) -> Self {
        self.max_memory_mib = Some(mib);
        self
    }

    /// The largest table, in elements, that a hook may have; 100,000 unless given.
    pub fn max_table_elements(mut self, elements: u32) -> Self {
        self.max_table_elements = Some(elements);
        self
    }

    /// Where state is kept; a file in the user's state folder unless given.
    pub fn state(mut self, store: impl Store + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// What sends HTTP requests, for `http` handlers, the http capability and models of configurations.
    pub fn http_client(mut self, client: impl HttpClient + 'static) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// The language model of all hook sets whose tenant has none of its own. A configuration's `llm` is not used then.
    pub fn model(mut self, model: impl Model + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// A type of handlers of the caller's own: `make` is called once for each entry `"type": kind` of each hook set. To
    /// be read, such entries need a [`Runtime::reader`].
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

    /// Where components come from; files beside the configuration unless given.
    pub fn components(mut self, source: impl ComponentSource + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Whose approval a component of a lock needs before it runs; the user's unless given.
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.approvals = approvals;
        self
    }

    /// Where components of registries are kept; the user's cache folder unless given.
    pub fn kept(mut self, kept: Kept) -> Self {
        self.kept = Some(kept);
        self
    }

    /// Builds the runtime. The engine starts with the first component.
    ///
    /// # Errors
    /// [`BuildError::HandlerType`]: a type of handlers has a name that hookbox has already given.
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
            kept: self.kept,
        };
        Ok(Runtime { inner: Arc::new(inner) })
    }
}

/// Memory of one block that is kept when it is freed, twice as much in all.
const KEPT_BYTES: usize = 8 << 20;

/// Lets what a large event took be there for the next one. glibc gives it back at once, and takes it anew page by page, a
/// quarter of what an event of 1 MiB costs, until it has seen a block of the size come and go. Other allocators do not mind.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT_BYTES)));
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
