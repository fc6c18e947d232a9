//! The resources that all hook sets of a process share: engine, compiled components, stores, HTTP client, model, and
//! types of handlers.

mod builder;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use hookbox_sandbox::{Engine, EngineOptions, LoadError, Loads};
use tokio::sync::OnceCell;

use crate::{
    artifact::{Approvals, ComponentCache, Revoked},
    capability::{
        StateError,
        http::HttpClient,
        llm::{LlmSettings, Model},
        state::Store,
    },
    config::Reader,
    error::HookLoadError,
    handler::HandlerFactory,
    source::ComponentSource,
};

pub use builder::RuntimeBuilder;

/// The shared resources of a process. Create one per process; it is cheap to clone. The engine starts when the first
/// component is loaded.
///
/// ```no_run
/// # async fn example(event_json: &str, ceiling: hookbox::Ceiling) -> Result<(), Box<dyn std::error::Error>> {
/// use hookbox::{HookSet, Request, Runtime, SqliteStore, Tenant, config::Config};
///
/// let runtime = Runtime::builder()
///     .compiler("hookbox")
///     .state(SqliteStore::open("/var/lib/acme/state.db")?)
///     .max_instances(64)
///     .build()?;
/// let acme = HookSet::load(&runtime, Tenant::new("acme").ceiling(ceiling), Config::from_file("acme.json")?).await?;
/// let response = acme.decide(Request::new(event_json.as_bytes())).await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

struct Inner {
    options: EngineOptions,
    engine: OnceCell<Engine>,
    store: Option<Arc<dyn Store>>,
    /// Stores in files that configurations name. Each file is opened once.
    files: Mutex<HashMap<PathBuf, Arc<dyn Store>>>,
    client: Option<Arc<dyn HttpClient>>,
    model: Option<Arc<dyn Model>>,
    handlers: HashMap<String, HandlerFactory>,
    source: Option<Arc<dyn ComponentSource>>,
    approvals: Approvals,
    component_cache: Option<ComponentCache>,
    revoked: Option<Revoked>,
}

impl Runtime {
    /// Starts to build a runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// Returns a reader for configurations that use this runtime's own [types of handlers](RuntimeBuilder::handler).
    pub fn reader(&self) -> Reader {
        self.inner.handlers.keys().fold(Reader::new(), Reader::handler)
    }

    /// The number of compiled components in memory. A component that several hooks or hook sets use counts once.
    pub fn components(&self) -> usize {
        self.inner.engine.get().map_or(0, Engine::components)
    }

    /// Counts of the components loaded so far by the origin of their code: memory, the cache, the compiler.
    pub fn loads(&self) -> Loads {
        self.inner.engine.get().map(Engine::loads).unwrap_or_default()
    }

    /// The number of component calls that run now.
    pub fn running(&self) -> usize {
        self.inner.engine.get().map_or(0, Engine::running)
    }

    /// Returns the bytes of a tenant's state in the runtime's store. `None`: there is no store, or it does not count
    /// bytes.
    ///
    /// # Errors
    /// [`StateError`] if the store does not respond in time.
    pub async fn state_bytes(&self, tenant: &str, by: Instant) -> Result<Option<u64>, StateError> {
        match &self.inner.store {
            Some(store) => store.size(tenant, by).await,
            None => Ok(None),
        }
    }

    /// The engine. Starts it for the first component.
    pub(crate) async fn engine(&self) -> Result<&Engine, LoadError> {
        self.inner.engine.get_or_try_init(|| async { Engine::new(self.inner.options.clone()) }).await
    }

    pub(crate) fn options(&self) -> &EngineOptions {
        &self.inner.options
    }

    /// The source of components, unless they are files.
    pub(crate) fn source(&self) -> Option<&dyn ComponentSource> {
        self.inner.source.as_deref()
    }

    pub(crate) fn approvals(&self) -> &Approvals {
        &self.inner.approvals
    }

    /// The revocations, unless they are the user's.
    pub(crate) fn revoked(&self) -> Option<&Revoked> {
        self.inner.revoked.as_ref()
    }

    /// The folder of fetched components, unless it is the user's.
    pub(crate) fn component_cache(&self) -> Option<&ComponentCache> {
        self.inner.component_cache.as_ref()
    }

    pub(crate) fn handler(&self, kind: &str) -> Option<&HandlerFactory> {
        self.inner.handlers.get(kind)
    }

    pub(crate) fn http_client(&self) -> Result<Arc<dyn HttpClient>, HookLoadError> {
        self.inner.client.clone().ok_or(HookLoadError::NoHttp)
    }

    pub(crate) fn own_model(&self) -> Option<Arc<dyn Model>> {
        self.inner.model.clone()
    }

    /// The state store: the runtime's, or else the file that the configuration names, or else the user's file.
    pub(crate) fn store(&self, named: Option<PathBuf>) -> Result<Arc<dyn Store>, HookLoadError> {
        if let Some(store) = &self.inner.store {
            return Ok(Arc::clone(store));
        }
        let file = named.or_else(crate::folders::state_file).ok_or(HookLoadError::NoState)?;
        let mut files = self.inner.files.lock().unwrap_or_else(PoisonError::into_inner);
        if !files.contains_key(&file) {
            files.insert(file.clone(), open(file.clone())?);
        }
        files.get(&file).cloned().ok_or(HookLoadError::NoState)
    }

    /// A model with these settings.
    #[cfg(feature = "llm")]
    #[expect(clippy::unused_self, reason = "a build without `llm` has none")]
    pub(crate) fn model(
        &self,
        client: Arc<dyn HttpClient>,
        settings: &LlmSettings,
    ) -> Result<Arc<dyn Model>, HookLoadError> {
        Ok(Arc::new(crate::capability::llm::HttpModel::new(client, settings)?))
    }

    #[cfg(not(feature = "llm"))]
    pub(crate) fn model(&self, _: Arc<dyn HttpClient>, _: &LlmSettings) -> Result<Arc<dyn Model>, HookLoadError> {
        Err(HookLoadError::NoModel)
    }
}

#[cfg(feature = "state-sqlite")]
#[expect(clippy::unnecessary_wraps, reason = "a build without SQLite has none")]
fn open(file: PathBuf) -> Result<Arc<dyn Store>, HookLoadError> {
    Ok(Arc::new(crate::capability::state::SqliteStore::new(file)))
}

#[cfg(not(feature = "state-sqlite"))]
fn open(_: PathBuf) -> Result<Arc<dyn Store>, HookLoadError> {
    Err(HookLoadError::NoState)
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("options", &self.inner.options).finish_non_exhaustive()
    }
}
