//! A loaded tenant: its hook sets and its usage.

mod file;
mod folder;
mod summary;

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox::{
    BuildError, HookSet, Runtime,
    capability::llm::HttpModel,
    config::{self, ConfigErrors, Handler},
    dialect,
    sandbox::beneath::Beneath,
};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

pub use file::{Quotas, TenantFile};
pub use summary::{FileSummary, FileTokens};

use crate::{
    blocking::blocking,
    fetch::{self, FetchError, Fetcher},
    files::{self, FilePath, Files},
    gate::Bounds,
    quota::Bucket,
};

/// The largest hooks file, in bytes.
const MAX_HOOKS_BYTES: u64 = 16 << 20;

/// The memory of all compiled matchers of a tenant, in bytes.
const MATCHER_BYTES: usize = 32 << 20;

/// A tenant. A request uses the same one from start to end.
#[derive(Debug)]
pub struct Tenant {
    /// The tenant's name.
    pub name: String,
    /// The tenant's usage and quotas.
    pub usage: Arc<Usage>,
    /// The timeout of its requests.
    pub timeout: Option<Duration>,
    /// Its hook sets by dialect.
    pub sets: HashMap<String, HookSet>,
}

/// The usage of a tenant. It survives a reload of the tenant.
#[derive(Debug)]
pub struct Usage {
    quotas: Quotas,
    requests: Option<Bucket>,
    fuel: Option<Bucket>,
}

impl Usage {
    /// Creates an empty usage with these quotas.
    pub fn new(quotas: &Quotas, now: Instant) -> Self {
        let bucket = |rate: Option<f64>| rate.map(|rate| Bucket::new(rate, now));
        Self {
            quotas: quotas.clone(),
            requests: bucket(quotas.requests_per_second),
            fuel: bucket(quotas.fuel_per_second),
        }
    }

    /// The memory for its request bodies, in bytes.
    pub fn body_memory(&self) -> usize {
        self.quotas.body_memory()
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The exhausted quota, and the time until it allows another request.
    pub fn request(&self, now: Instant) -> Result<(), (&'static str, Duration)> {
        if let Some(fuel) = &self.fuel {
            // The cost is known only afterwards. Here only a debt rejects the request.
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

    /// The quotas and their current levels, as JSON.
    pub fn json(&self) -> Value {
        let now = Instant::now();
        let level = |bucket: &Option<Bucket>| {
            let (per_second, left) = bucket.as_ref()?.level(now);
            Some(json!({ "perSecond": per_second, "left": left }))
        };
        let Quotas { concurrency, queue, body_memory_mib, state_kib, .. } = &self.quotas;
        json!({
            "requests": level(&self.requests), "fuel": level(&self.fuel), "concurrency": concurrency, "queue": queue,
            "bodyMemoryMiB": body_memory_mib, "stateKiB": state_kib,
        })
    }

    /// The limits of concurrent and of waiting events.
    pub fn bounds(&self) -> Bounds {
        Bounds { concurrency: self.quotas.concurrency, queue: self.quotas.queue }
    }
}

/// The error why a tenant cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum TenantError {
    /// The operator's settings for it are invalid.
    #[error("{0}")]
    Own(String),
    #[error("{}: {message}", file.display())]
    Tenant { file: PathBuf, message: String },
    #[error("{}: cannot be read: {error}", file.display())]
    Read { file: PathBuf, error: io::Error },
    #[error(transparent)]
    Hooks(#[from] ConfigErrors),
    #[error(transparent)]
    Load(#[from] BuildError),
    #[error("hooks of registries: {0}")]
    Fetch(#[from] FetchError),
}

impl TenantError {
    /// The message for the tenant's clients. It does not quote the tenant's file, which belongs to the operator.
    pub fn public_text(&self) -> String {
        match self {
            Self::Own(_) | Self::Tenant { .. } => {
                "the tenant's file is invalid; the daemon's log has the reason".to_owned()
            }
            Self::Read { .. } | Self::Hooks(_) | Self::Load(_) | Self::Fetch(_) => self.to_string(),
        }
    }
}

/// The result of loading a tenant, and the files that it depends on.
pub struct Loading {
    pub tenant: Result<Tenant, TenantError>,
    /// The files, starting with the tenant's own.
    pub files: Files,
}

impl Tenant {
    /// The memory of its compiled matchers, in bytes.
    pub fn matcher_bytes(&self) -> usize {
        self.sets.values().map(|set| set.config().matcher_bytes).sum()
    }

    /// Loads a tenant from its parsed file. `usage` is its usage so far.
    pub async fn load(
        runtime: &Runtime,
        fetcher: Option<&Fetcher>,
        name: &str,
        path: &Path,
        summary: &FileSummary,
        usage: Option<Arc<Usage>>,
    ) -> Loading {
        let mut files = Files::default();
        files.places.push(FilePath::anywhere(path));
        files.stamps.push(summary.stamp);
        let tenant_file = match &summary.file {
            Ok(file) => file,
            Err(why) => return Loading { tenant: Err(TenantError::Own(why.clone())), files },
        };
        let loaded = sets(runtime, fetcher, name, path, tenant_file, &mut files).await;
        let tenant = loaded.map(|sets| {
            let usage = usage.filter(|usage| usage.quotas == tenant_file.quotas);
            let usage = usage.unwrap_or_else(|| Arc::new(Usage::new(&tenant_file.quotas, Instant::now())));
            Self { name: name.to_owned(), usage, timeout: tenant_file.timeout, sets }
        });
        Loading { tenant, files }
    }
}

/// The place of a hooks file, or of another file that the tenant may own.
fn hooks_place(name: &str, path: &Path, written: &Path) -> FilePath {
    let base = path.parent().unwrap_or(Path::new(""));
    FilePath::within(&base.join(written), &folder::folder_of(name, base, written))
}

/// Reads `failClosed` of each hooks file. `None` if it cannot be read.
pub async fn closed_hints(name: &str, path: &Path, summary: &FileSummary) -> Vec<Option<bool>> {
    let places: Vec<FilePath> = summary.hooks.iter().map(|hooks| hooks_place(name, path, Path::new(hooks))).collect();
    blocking(move || {
        let says = |place: &FilePath| {
            let bytes = place.read(MAX_HOOKS_BYTES).ok()?;
            let is_whole = || serde_json::from_slice::<IgnoredAny>(&bytes).is_ok();
            if config::hints(&bytes).fail_closed { Some(true) } else { is_whole().then_some(false) }
        };
        places.iter().map(says).collect()
    })
    .await
}

/// Loads all hook sets of a tenant. An error if any fails.
async fn sets(
    runtime: &Runtime,
    fetcher: Option<&Fetcher>,
    name: &str,
    path: &Path,
    tenant: &TenantFile,
    files: &mut Files,
) -> Result<HashMap<String, HookSet>, TenantError> {
    let wrong = |message: String| TenantError::Tenant { file: path.to_owned(), message };
    if tenant.tokens.is_empty() {
        return Err(wrong(
            "`tokens` is empty, so no request would be accepted: `hookbox token` prints a new one".into(),
        ));
    }
    let mut owner = hookbox::Tenant::new(name).ceiling(tenant.ceiling());
    owner = owner.state_bytes(tenant.quotas.state_kib.saturating_mul(1024));
    if let Some(settings) = &tenant.llm {
        let client = hookbox::capability::http::ReqwestClient::default();
        let model = HttpModel::new(Arc::new(client), settings).map_err(|error| wrong(format!("`llm`: {error}")))?;
        owner = owner.model(model);
    }
    let hooks: Vec<(&String, FilePath)> =
        tenant.hooks.iter().map(|(dialect, file)| (dialect, hooks_place(name, path, file))).collect();
    // Added before any is loaded, so that a change of any file is noticed.
    for (_, place) in &hooks {
        files.add(place.clone());
    }
    let mut sets = HashMap::new();
    for (dialect_name, place) in hooks {
        if dialect::by_name(dialect_name).is_none() {
            let known: Vec<&str> = dialect::ALL.iter().map(|dialect| dialect.name()).collect();
            return Err(wrong(format!(
                "`hooks` names the unknown dialect `{dialect_name}`; the dialects are {}",
                known.join(", ")
            )));
        }
        // One budget for all of its files.
        let taken: usize = sets.values().map(|set: &HookSet| set.config().matcher_bytes).sum();
        let reader = runtime.reader().dialect(dialect_name).matcher_bytes(MATCHER_BYTES.saturating_sub(taken));
        let (loaded, folder) = blocking(move || {
            let FilePath { path: file, within } = place;
            let failed = |error| TenantError::Read { file: file.clone(), error };
            let folder = Beneath::open(&within.unwrap_or_default()).map_err(failed)?;
            let bytes = folder.file(&file).and_then(|open| files::read(open, MAX_HOOKS_BYTES)).map_err(failed)?;
            let text = String::from_utf8(bytes).map_err(|error| failed(io::Error::other(error)))?;
            Ok::<_, TenantError>((reader.text(&text, &file)?, Arc::new(folder)))
        })
        .await?;
        for warning in &loaded.warnings {
            tracing::warn!(tenant = name, "{warning}");
        }
        let mut config = loaded.config;
        config.fail_closed |= tenant.fail_closed;
        for hook in &config.hooks {
            if let Handler::Wasm(wasm) = &hook.handler
                && !wasm.is_bundled()
            {
                files.add(FilePath::within(&wasm.component, folder.path()));
            }
        }
        let mut owner = owner.clone().folder(Arc::clone(&folder));
        if !config.references.is_empty() {
            let fetcher = fetcher.ok_or(FetchError::Off)?;
            let credentials = match &tenant.credentials {
                Some(file) => {
                    let place = hooks_place(name, path, file);
                    files.add(place.clone());
                    Some(fetch::credentials(place).await?)
                }
                None => None,
            };
            let (component_cache, publishers) = fetcher.fetch(name, &config, Arc::clone(&folder), credentials).await?;
            owner = owner.component_cache(component_cache).publishers(publishers);
        }
        sets.insert(dialect_name.clone(), HookSet::load(runtime, owner, config).await?);
    }
    Ok(sets)
}
