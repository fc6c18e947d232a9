//! The daemon: starts, serves and drains.

mod upkeep;

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
    app::{App, Phase},
    bodies::Bodies,
    console::Console,
    fetch::Fetcher,
    gate::Gate,
    hosts,
    listen::{self, Connections, Listener},
    metrics::Metrics,
    pages::Pages,
    processor::Processor,
    records::Records,
    routes,
    settings::{Address, Settings},
    tenants::Tenants,
    tls::{Tls, TlsError},
    traces::Traces,
    ui,
};

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
        let Self { app, listeners, admin, .. } = self;
        let connections = Connections::new(app.settings.max_connections, app.phase.subscribe());
        let serving = serve(&app, &connections, listeners, admin);
        tokio::select! {
            () = end => {}
            () = upkeep::run(&app) => {}
        }
        tracing::info!("no new connections are accepted, and pending requests are finished");
        app.phase.send_replace(Phase::Draining);
        serving.join_all().await;
        let mut ended = pin!(connections.ended());
        if tokio::time::timeout(app.settings.drain, &mut ended).await.is_err() {
            tracing::warn!("the remaining requests are cancelled");
            app.phase.send_replace(Phase::Ending);
            // So that every client gets a response.
            let _ = tokio::time::timeout(LAST_WORDS, ended).await;
        }
        upkeep::save(&app).await;
        // Blocks until the writer thread is done.
        let _ =
            tokio::task::spawn_blocking(move || app.records.iter().for_each(|records| records.end(LAST_WORDS))).await;
    }
}

/// Serves the paths of clients, of the administrator and of the page, each on the listeners where it is allowed.
fn serve(app: &Arc<App>, connections: &Connections, listeners: Vec<Listener>, admin: Option<Listener>) -> JoinSet<()> {
    // A separate limit, so that probes and scrapers connect even if clients use all connections.
    let for_admin = Connections::new(ADMIN_CONNECTIONS, app.phase.subscribe());
    let mut router = routes::api();
    // If the daemon is reachable from other machines, these paths need a separate listener.
    if admin.is_none() && app.settings.is_local() {
        router = router.merge(admin::routes());
    }
    if app.console.is_some() {
        router = router.merge(ui::routes());
    }
    let router: Router = router.with_state(Arc::clone(app));
    // Browsers cannot connect to a Unix socket, so only TCP needs the check.
    let guarded = |listener: &Listener, router: Router| match listener {
        Listener::Tcp(_) => router.layer(axum::middleware::from_fn_with_state(Arc::clone(app), hosts::known)),
        Listener::Unix(..) => router,
    };
    let mut serving = JoinSet::new();
    if let Some(listener) = admin {
        let router = guarded(&listener, admin::alone().with_state(Arc::clone(app)));
        let tls = app.tls.clone().filter(|_| !listener.is_local());
        serving.spawn(for_admin.serve(listener, tls, router));
    }
    for listener in listeners {
        let router = guarded(&listener, router.clone());
        serving.spawn(connections.clone().serve(listener, app.tls.clone(), router));
    }
    serving
}

fn bind(address: &Address) -> Result<Listener, ServeError> {
    Listener::bind(address).map_err(|error| ServeError::Bind { address: address.clone(), error })
}

fn build(settings: &Settings, mut runtime: RuntimeBuilder) -> Result<Runtime, ServeError> {
    // A tenant approves its own lock. The operator's policy and the tenant's ceiling still apply to its components.
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
