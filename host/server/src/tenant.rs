//! One tenant, loaded: its hook sets, and what it may use.

mod file;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox::{
    BuildError, HookSet, Runtime,
    capability::llm::HttpModel,
    config::{self, ConfigErrors, Handler},
    dialect,
};

pub use file::{Quotas, TenantFile};

use crate::{
    files::Files,
    gate::Bounds,
    quota::Bucket,
    settings::{SettingsError, Tokens, parse, read},
};

/// A file of hooks is smaller than this.
const MAX_HOOKS_BYTES: u64 = 16 << 20;

/// A tenant as one request sees it from beginning to end.
#[derive(Debug)]
pub struct Tenant {
    /// Its name.
    pub name: String,
    /// Hashes of its tokens.
    pub tokens: Tokens,
    /// What it may use.
    pub usage: Arc<Usage>,
    /// Answers are due within this time.
    pub timeout: Option<Duration>,
    /// Its hooks by dialect.
    pub sets: HashMap<String, HookSet>,
}

/// A tenant that could not be loaded, and none that was serves in its place.
#[derive(Debug)]
pub struct Broken {
    /// Why.
    pub reason: String,
    /// As far as they could be read.
    pub tokens: Tokens,
    /// Whether some file of it says that failures block.
    pub closed: bool,
}

/// What a tenant has used. It lives on when the tenant is loaded again.
#[derive(Debug)]
pub struct Usage {
    quotas: Quotas,
    requests: Option<Bucket>,
    fuel: Option<Bucket>,
}

impl Usage {
    /// Nothing yet.
    pub fn new(quotas: &Quotas, now: Instant) -> Self {
        let bucket = |rate: Option<f64>| rate.map(|rate| Bucket::new(rate, now));
        Self {
            quotas: quotas.clone(),
            requests: bucket(quotas.requests_per_second),
            fuel: bucket(quotas.fuel_per_second),
        }
    }

    /// Bytes of memory for the bodies of its requests.
    pub fn body_memory(&self) -> usize {
        self.quotas.body_memory()
    }

    /// Counts a request.
    ///
    /// # Errors
    /// What is used up, and when there is some again.
    pub fn request(&self, now: Instant) -> Result<(), (&'static str, Duration)> {
        if let Some(fuel) = &self.fuel {
            // What it will cost is known afterwards: here there only must be no debt.
            fuel.take(1.0, now).map_err(|after| ("fuel per second", after))?;
        }
        self.requests
            .as_ref()
            .map_or(Ok(()), |requests| requests.take(1.0, now))
            .map_err(|after| ("requests per second", after))
    }

    /// Counts the fuel of hooks that ran.
    pub fn fuel(&self, fuel: u64, now: Instant) {
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        self.fuel.iter().for_each(|bucket| bucket.charge(fuel as f64, now));
    }

    /// Events at once and in line.
    pub fn bounds(&self) -> Bounds {
        Bounds { concurrency: self.quotas.concurrency, queue: self.quotas.queue }
    }
}

/// Why a tenant cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum TenantError {
    #[error(transparent)]
    File(#[from] SettingsError),
    #[error("{}: {message}", file.display())]
    Tenant { file: PathBuf, message: String },
    #[error(transparent)]
    Hooks(#[from] ConfigErrors),
    #[error(transparent)]
    Load(#[from] BuildError),
}

/// What came of loading a tenant, and the files that it depends on.
pub struct Loading {
    pub tenant: Result<Tenant, Broken>,
    /// The tenant's own file first.
    pub files: Files,
}

impl Tenant {
    /// Loads a tenant from its file. `usage` is what it used so far.
    pub async fn load(runtime: &Runtime, name: &str, path: &Path, usage: Option<Arc<Usage>>) -> Loading {
        let mut files = Files::default();
        files.add(path);
        let tenant_file = match blocking({
            let path = path.to_owned();
            move || parse::<TenantFile>(&path)
        })
        .await
        {
            Ok(read) => read,
            Err(error) => {
                // A file that cannot be understood may still say what it wants in that case.
                let closed = config::file_hints(path).fail_closed;
                let broken = Broken { reason: error.to_string(), tokens: Vec::new(), closed };
                return Loading { tenant: Err(broken), files };
            }
        };
        let loaded = sets(runtime, name, path, &tenant_file, &mut files).await;
        let tenant = match loaded {
            Ok(sets) => {
                let usage = usage.filter(|usage| usage.quotas == tenant_file.quotas);
                let usage = usage.unwrap_or_else(|| Arc::new(Usage::new(&tenant_file.quotas, Instant::now())));
                Ok(Self {
                    name: name.to_owned(),
                    tokens: tenant_file.tokens,
                    usage,
                    timeout: tenant_file.timeout,
                    sets,
                })
            }
            Err(error) => {
                let says = |file: &PathBuf| config::file_hints(file).fail_closed;
                let closed =
                    tenant_file.fail_closed || tenant_file.hooks_files(path).iter().any(|(_, file)| says(file));
                Err(Broken { reason: error.to_string(), tokens: tenant_file.tokens, closed })
            }
        };
        Loading { tenant, files }
    }
}

/// Loads every hook set of a tenant, or none.
async fn sets(
    runtime: &Runtime,
    name: &str,
    path: &Path,
    tenant: &TenantFile,
    files: &mut Files,
) -> Result<HashMap<String, HookSet>, TenantError> {
    let wrong = |message: String| TenantError::Tenant { file: path.to_owned(), message };
    if tenant.tokens.is_empty() {
        return Err(wrong("`tokens` has none, so nobody could ask: `hookbox token` prints a new one".into()));
    }
    let mut owner = hookbox::Tenant::new(name).ceiling(tenant.ceiling());
    owner = owner.state_bytes(tenant.quotas.state_kib.saturating_mul(1024));
    if let Some(settings) = &tenant.llm {
        let client = hookbox::capability::http::ReqwestClient::default();
        let model = HttpModel::new(Arc::new(client), settings).map_err(|error| wrong(format!("`llm`: {error}")))?;
        owner = owner.model(model);
    }
    let hooks_files = tenant.hooks_files(path);
    // All of them first, so that a change of any is seen.
    for (_, file) in &hooks_files {
        files.add(file);
    }
    let mut sets = HashMap::new();
    for (dialect_name, file) in hooks_files {
        if dialect::by_name(&dialect_name).is_none() {
            let known: Vec<&str> = dialect::ALL.iter().map(|dialect| dialect.name()).collect();
            return Err(wrong(format!("`hooks` names the dialect `{dialect_name}`; there are {}", known.join(", "))));
        }
        let reader = runtime.reader().dialect(&dialect_name);
        let loaded = blocking(move || {
            let text = read(&file, MAX_HOOKS_BYTES)?;
            Ok::<_, TenantError>(reader.text(&text, &file)?)
        });
        let loaded = loaded.await?;
        for warning in &loaded.warnings {
            tracing::warn!(tenant = name, "{warning}");
        }
        let mut config = loaded.config;
        config.fail_closed |= tenant.fail_closed;
        for hook in &config.hooks {
            if let Handler::Wasm(wasm) = &hook.handler {
                files.add(&wasm.component);
            }
        }
        sets.insert(dialect_name, HookSet::load(runtime, owner.clone(), config).await?);
    }
    Ok(sets)
}

/// Reads files where that keeps nobody waiting.
async fn blocking<T: Send + 'static, E: Send + 'static>(
    read: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
