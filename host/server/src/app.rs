//! The daemon: its shared state, start and end.

use std::{io, path::PathBuf, pin::pin, sync::Arc, time::Duration};

use axum::Router;
use hookbox::{
    Runtime, RuntimeBuilder,
    artifact::Approvals,
    capability::{
        StateError,
        state::{RedisStore, SqliteStore},
    },
};
use thiserror::Error;
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
};

use crate::{
    admin,
    bodies::Bodies,
    console::{self, Console},
    fetch::Fetcher,
    gate::Gate,
    hosts,
    listen::{self, Connections, Listener},
    metrics::Metrics,
    pages::Pages,
    processor::Processor,
    records::{NotRecorded, RecordEntry, RecordForms, Records},
    routes,
    settings::{Address, Settings},
    tenants::Tenants,
    tls::{Tls, TlsError},
    traces::{Exports, Traces},
};

/// The interval of checking the certificate files for changes.
const LOOK: Duration = Duration::from_secs(1);
/// The interval of removing metric series without a tenant or hook.
const UPKEEP: Duration = Duration::from_secs(5);
/// The interval of sampling the queues.
const SAMPLE: Duration = Duration::from_secs(1);
/// The number of samples after which the console's history is saved.
const SAVE: u64 = 60;
/// The maximum number of connections of a separate `admin` listener.
const ADMIN_CONNECTIONS: u32 = 64;
/// The time for the last responses, to requests that are given up.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The error why the daemon does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be bound.
    #[error("cannot listen on `{address}`: {error}")]
    Bind {
        /// The address.
        address: Address,
        /// The system's error.
        error: io::Error,
    },
    /// The certificate is invalid.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The state store cannot be opened.
    #[error("`state`: {0}")]
    State(String),
    /// The file for records cannot be opened.
    #[error("`records`: {}: {error}", file.display())]
    Records {
        /// The file.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Registries cannot be used.
    #[error("`registries`: {0}")]
    Registries(String),
    /// The system cannot start a thread.
    #[error("cannot start a thread: {0}")]
    Threads(io::Error),
    /// The runtime cannot be built.
    #[error(transparent)]
    Runtime(#[from] hookbox::BuildError),
}

/// The state that all requests share.
pub struct App {
    pub settings: Settings,
    pub tenants: Arc<Tenants>,
    pub runtime: Runtime,
    pub gate: Gate,
    pub bodies: Bodies,
    pub processor: Processor,
    pub metrics: Metrics,
    /// The data of the console, if it is enabled.
    pub console: Option<Console>,
    pub tls: Option<Arc<Tls>>,
    records: Option<Records>,
    /// Pages of metrics that are not sent yet.
    pub pages: Pages,
    /// The results of sending traces, if there is a collector.
    pub exports: Option<Exports>,
    /// The phase of the daemon.
    pub phase: watch::Sender<Phase>,
}

/// The phase of the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Phase {
    /// Accepts connections.
    Serving,
    /// Accepts no new connections, and still serves the existing ones.
    Draining,
    /// The drain time is over: pending requests are given up.
    Ending,
}

impl App {
    /// The forms in which records are needed.
    pub const fn wanted(&self) -> RecordForms {
        RecordForms { line: self.records.is_some(), page: self.console.is_some() }
    }

    /// Passes a record to the operator's page and to the file of records.
    ///
    /// # Errors
    /// Records are required, and this one was not written in time.
    pub async fn record(&self, tenant: &str, entry: RecordEntry, by: tokio::time::Instant) -> Result<(), NotRecorded> {
        if let (Some(console), Some(seen)) = (&self.console, entry.page) {
            console.see(tenant, &seen);
        }
        match (&self.records, entry.line) {
            (Some(records), Some(line)) => records.write(&line, by).await,
            _ => Ok(()),
        }
    }

    /// Removes the metric series of removed tenants, and of hooks that are in no hook set any more.
    pub fn forget_series(&self) {
        let known = self.tenants.hooks();
        self.metrics.retain(|key| {
            let label = |name| key.labels().find(|label| label.key() == name).map(metrics::Label::value);
            let Some(tenant) = label("tenant").filter(|tenant| !tenant.is_empty()) else { return true };
            let Some(hooks) = known.get(tenant) else { return false };
            label("hook").is_none_or(|hook| {
                let digests = label("dialect").and_then(|dialect| hooks.get(dialect)).and_then(|hooks| hooks.get(hook));
                digests.is_some_and(|digests| label("digest").is_none_or(|digest| digests.contains(digest)))
            })
        });
    }

    /// Waits until pending requests are given up.
    pub async fn ending(&self) {
        // This cannot fail, because `self` owns the sender.
        let _ = self.phase.subscribe().wait_for(|phase| *phase == Phase::Ending).await;
    }
}

/// A daemon that is already listening.
pub struct Server {
    app: Arc<App>,
    listeners: Vec<Listener>,
    admin: Option<Listener>,
    reload: Arc<Notify>,
}

impl Server {
    /// Starts to listen and to load the tenants. `runtime` has the options that are not in the settings, `traces` sends to the
    /// collector of the settings.
    ///
    /// # Errors
    /// [`ServeError`]
    #[expect(clippy::unused_async, reason = "it needs a runtime")]
    pub async fn start(
        settings: Settings,
        runtime: RuntimeBuilder,
        traces: Option<&Traces>,
    ) -> Result<Self, ServeError> {
        listen::make_room(settings.max_connections);
        let mut listeners = Vec::new();
        for address in &settings.listen {
            listeners.push(bind(address)?);
        }
        let admin = match &settings.admin {
            Some(address) => Some(bind(address)?),
            None => None,
        };
        let tls = settings.tls.clone().map(Tls::new).transpose()?.map(Arc::new);
        // Must come before any metric is recorded.
        let metrics = Metrics::install();
        let runtime = build(&settings, runtime)?;
        let fetcher = settings.registries.as_ref().map(Fetcher::new).transpose().map_err(ServeError::Registries)?;
        let tenants = Tenants::new(settings.tenants.clone(), settings.grace, runtime.clone(), fetcher);
        let reload = Arc::new(Notify::new());
        tenants.watch(Arc::clone(&reload));
        let required = settings.records_required;
        let open = |path: &PathBuf| {
            Records::open(path, required, settings.records_chain.as_ref())
                .map_err(|error| ServeError::Records { file: path.clone(), error })
        };
        let records = settings.records.as_ref().map(open).transpose()?;
        let console = (!settings.operators.is_empty()).then(|| Console::start(&settings.tenants));
        let gate = Gate::new(settings.concurrency as usize);
        let bodies = Bodies::new(settings.body_memory());
        let app = Arc::new(App {
            settings,
            tenants,
            runtime,
            gate,
            bodies,
            processor: Processor::start().map_err(ServeError::Threads)?,
            metrics,
            console,
            tls,
            records,
            pages: Pages::default(),
            exports: traces.map(Traces::exports),
            phase: watch::Sender::new(Phase::Serving),
        });
        Ok(Self { app, listeners, admin, reload })
    }

    /// The addresses of its listeners, with the actual ports. The administrator's comes last.
    pub fn addresses(&self) -> Vec<Address> {
        self.listeners.iter().chain(&self.admin).filter_map(|listener| listener.address().ok()).collect()
    }

    /// Returns a function that reloads all files and reopens the file of records.
    pub fn reloading(&self) -> impl Fn() + Send + 'static {
        let (app, reload) = (Arc::clone(&self.app), Arc::clone(&self.reload));
        move || {
            app.records.iter().for_each(Records::reopen);
            reload.notify_one();
        }
    }

    /// Serves until `end` completes, then drains.
    pub async fn run(self, end: impl Future<Output = ()>) {
        let connections = Connections::new(self.app.settings.max_connections, self.app.phase.subscribe());
        // A separate limit, so that probes and scrapers connect even if clients use all connections.
        let for_admin = Connections::new(ADMIN_CONNECTIONS, self.app.phase.subscribe());
        let mut router = routes::api();
        // If the daemon is reachable from other machines, these paths need a separate listener.
        if self.admin.is_none() && self.app.settings.is_local() {
            router = router.merge(admin::routes());
        }
        if self.app.console.is_some() {
            router = router.merge(console::routes());
        }
        let router: Router = router.with_state(Arc::clone(&self.app));
        let mut serving = JoinSet::new();
        // Browsers cannot connect to a Unix socket, so only TCP needs the check.
        let guarded = |listener: &Listener, router: Router| match listener {
            Listener::Tcp(_) => router.layer(axum::middleware::from_fn_with_state(Arc::clone(&self.app), hosts::known)),
            Listener::Unix(..) => router,
        };
        if let Some(listener) = self.admin {
            let router = guarded(&listener, admin::alone().with_state(Arc::clone(&self.app)));
            let tls = self.app.tls.clone().filter(|_| !listener.is_local());
            serving.spawn(for_admin.serve(listener, tls, router));
        }
        for listener in self.listeners {
            let router = guarded(&listener, router.clone());
            serving.spawn(connections.clone().serve(listener, self.app.tls.clone(), router));
        }
        let watching = async {
            while let Some(tls) = &self.app.tls {
                tokio::time::sleep(LOOK).await;
                let tls = Arc::clone(tls);
                // Reads the files on a thread that may block.
                let _ = tokio::task::spawn_blocking(move || tls.look()).await;
            }
            std::future::pending::<()>().await;
        };
        let upkeep = async {
            loop {
                tokio::time::sleep(UPKEEP).await;
                self.app.forget_series();
                self.app.console.iter().for_each(|console| console.tidy(&self.app));
            }
        };
        let sampling = async {
            for second in 1_u64.. {
                tokio::time::sleep(SAMPLE).await;
                self.app.console.iter().for_each(|console| console.sample(&self.app));
                if second % SAVE == 0 {
                    save(&self.app).await;
                }
            }
        };
        tokio::select! {
            () = end => {}
            () = watching => {}
            () = upkeep => {}
            () = sampling => {}
        }
        tracing::info!("no new connections are accepted, and pending requests are finished");
        self.app.phase.send_replace(Phase::Draining);
        serving.join_all().await;
        let mut ended = pin!(connections.ended());
        if tokio::time::timeout(self.app.settings.drain, &mut ended).await.is_err() {
            tracing::warn!("the remaining requests are cancelled");
            self.app.phase.send_replace(Phase::Ending);
            // So that every client gets a response.
            let _ = tokio::time::timeout(LAST_WORDS, ended).await;
        }
        save(&self.app).await;
        let app = Arc::clone(&self.app);
        // Blocks until the writer thread is done.
        let _ =
            tokio::task::spawn_blocking(move || app.records.iter().for_each(|records| records.end(LAST_WORDS))).await;
    }
}

/// Saves the console's history to its file.
async fn save(app: &Arc<App>) {
    let app = Arc::clone(app);
    // On a thread that may block, so that a slow disk does not delay events.
    let _ = tokio::task::spawn_blocking(move || app.console.iter().for_each(Console::save)).await;
}

fn bind(address: &Address) -> Result<Listener, ServeError> {
    Listener::bind(address).map_err(|error| ServeError::Bind { address: address.clone(), error })
}

fn build(settings: &Settings, mut runtime: RuntimeBuilder) -> Result<Runtime, ServeError> {
    // What a tenant's lock says the tenant vouches for, below the operator's policy and the tenant's ceiling.
    let revoked = settings.registries.as_ref().map(|registries| registries.revoked.clone()).unwrap_or_default();
    runtime = runtime.approvals(Approvals::Vouched).revoked(revoked);
    runtime = runtime.scheduler(Gate::new(settings.max_instances as usize));
    runtime = runtime.max_instances(settings.max_instances).max_memory_mib(settings.max_memory_mib);
    if let Some(cache) = &settings.cache {
        runtime = runtime.cache_dir(cache);
    }
    if let Some(state) = &settings.state {
        let wrong = |error: StateError| ServeError::State(error.to_string());
        runtime = if state.contains("://") {
            runtime.state(RedisStore::new(state).map_err(wrong)?)
        } else {
            runtime.state(SqliteStore::open(state).map_err(wrong)?)
        };
    }
    Ok(runtime.build()?)
}
