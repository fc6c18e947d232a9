//! The hook set in use, and its replacement when the configuration file changes.

use std::{
    path::PathBuf,
    pin::Pin,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;

use super::{Notice, Reporter};
use crate::{ErrorKind, HookSet, Request, Response, dialect::picoclaw::DIALECT, loader::modes};

/// The source of the host for each request of [`super::serve`].
#[async_trait]
pub trait Source: Send + Sync + 'static {
    /// The current host.
    ///
    /// # Errors
    /// [`Unavailable`] without a usable configuration.
    async fn current(&self) -> Result<Arc<HookSet>, Unavailable>;

    /// The modes of `hook.hello` that the hooks serve.
    fn modes(&self) -> Vec<&'static str>;

    /// Stops what the hooks run, within this time.
    async fn close(&self, grace: Duration);
}

/// The reason why no host is available.
#[derive(Debug, Clone)]
pub struct Unavailable {
    /// The error message.
    pub reason: String,
    /// True if requests are blocked because of it.
    pub closed: bool,
}

impl Unavailable {
    /// The response to a request.
    pub(super) fn response(&self, asked: &Request<'_>) -> Response {
        Response::without_hooks(asked, Some(&DIALECT), self.closed, ErrorKind::Internal, &self.reason)
    }
}

/// The interval of checking the file for changes.
const LOOK: Duration = Duration::from_millis(500);

/// Reloads a configuration file when it changes. The new host applies from the next request. If the changed file is
/// invalid, the previous host remains in use.
pub struct Reloading {
    current: RwLock<Result<Arc<HookSet>, Unavailable>>,
}

/// Builds a host from the file.
pub type Load = Box<dyn Fn() -> Loading + Send + Sync>;
/// The future that [`Load`] returns.
pub type Loading = Pin<Box<dyn Future<Output = Result<HookSet, Unavailable>> + Send>>;

impl Reloading {
    /// Loads the file, and reloads it on changes until this value is dropped. `load` builds a lazy host, because the
    /// client waits for it.
    pub async fn start(path: PathBuf, load: Load, reporter: Reporter) -> Arc<Self> {
        let stamp = stamp(&path);
        let loaded = load().await.map(Arc::new);
        if let Err(broken) = &loaded {
            reporter(Notice::Line(broken.reason.clone()));
        }
        let this = Arc::new(Self { current: RwLock::new(loaded) });
        warm(&this, &reporter);
        let watched = Arc::downgrade(&this);
        tokio::spawn(async move {
            let mut seen = stamp;
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(this) = watched.upgrade() else { return };
                let now = self::stamp(&path);
                if now == seen {
                    continue;
                }
                seen = now;
                match load().await {
                    Ok(host) => {
                        reporter(Notice::Line(format!("{} is loaded again", path.display())));
                        *this.current.write().unwrap_or_else(PoisonError::into_inner) = Ok(Arc::new(host));
                        warm(&this, &reporter);
                    }
                    Err(broken) => this.refuse(broken, &reporter),
                }
            }
        });
        this
    }

    fn refuse(&self, broken: Unavailable, reporter: &Reporter) {
        reporter(Notice::Line(format!("the changed configuration is not used: {}", broken.reason)));
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.is_err() {
            *current = Err(broken);
        }
    }

    fn get(&self) -> Result<Arc<HookSet>, Unavailable> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Loads all hooks in the background. Requests wait only for the hooks that they need.
fn warm(this: &Arc<Reloading>, reporter: &Reporter) {
    if let Ok(host) = this.get() {
        let reporter = Arc::clone(reporter);
        tokio::spawn(async move { host.check().await.into_iter().for_each(|found| reporter(Notice::Problem(found))) });
    }
}

/// A value that changes with the file: modification time and size.
fn stamp(path: &std::path::Path) -> Option<(SystemTime, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

#[async_trait]
impl Source for Reloading {
    async fn current(&self) -> Result<Arc<HookSet>, Unavailable> {
        self.get()
    }

    fn modes(&self) -> Vec<&'static str> {
        let Ok(host) = self.get() else { return Vec::new() };
        modes(host.config(), &host.config().hooks)
    }

    async fn close(&self, grace: Duration) {
        if let Ok(host) = self.get() {
            for (hook, missed) in host.close(grace).await {
                tracing::warn!(hook, "{missed}");
            }
        }
    }
}
