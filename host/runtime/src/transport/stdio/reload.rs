//! The hook set that serves now, and the one that takes over when its file changes.

use std::{
    path::PathBuf,
    pin::Pin,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;

use super::{Tell, Told};
use crate::{Host, loader::modes};

/// Where [`super::serve`] gets the host for each request from.
#[async_trait]
pub trait Source: Send + Sync + 'static {
    /// The host that serves now.
    ///
    /// # Errors
    /// [`Broken`] while there is none.
    async fn current(&self) -> Result<Arc<Host>, Broken>;

    /// The modes of `hook.hello` that some hook serves.
    fn modes(&self) -> Vec<&'static str>;

    /// Ends what hooks run, within this time.
    async fn close(&self, grace: Duration);
}

/// Why no host serves.
#[derive(Debug, Clone)]
pub struct Broken {
    /// For people.
    pub reason: String,
    /// True if that blocks.
    pub closed: bool,
}

/// How often the file is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// A configuration file that is loaded again when it changes. A new host takes over between two requests; a file that
/// cannot be used is refused, and the host before it goes on.
pub struct Reloading {
    current: RwLock<Result<Arc<Host>, Broken>>,
}

/// Makes a host of the file, or says why it cannot be used.
pub type Load = Box<dyn Fn() -> Loading + Send + Sync>;
/// What [`Load`] returns.
pub type Loading = Pin<Box<dyn Future<Output = Result<Host, Broken>> + Send>>;

impl Reloading {
    /// Loads the file, and again whenever it changes, for as long as the value lives. `load` builds a
    /// lazy host: the client waits for it.
    pub async fn start(path: PathBuf, load: Load, tell: Tell) -> Arc<Self> {
        let stamp = stamp(&path);
        let loaded = load().await.map(Arc::new);
        if let Err(broken) = &loaded {
            tell(Told::Line(broken.reason.clone()));
        }
        let this = Arc::new(Self { current: RwLock::new(loaded) });
        warm(&this, &tell);
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
                        tell(Told::Line(format!("{} is loaded again", path.display())));
                        *this.current.write().unwrap_or_else(PoisonError::into_inner) = Ok(Arc::new(host));
                        warm(&this, &tell);
                    }
                    Err(broken) => this.refuse(broken, &tell),
                }
            }
        });
        this
    }

    fn refuse(&self, broken: Broken, tell: &Tell) {
        tell(Told::Line(format!("the changed configuration is not used: {}", broken.reason)));
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.is_err() {
            *current = Err(broken);
        }
    }

    fn get(&self) -> Result<Arc<Host>, Broken> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Compiles and links behind the handshake; requests wait for what they need of it.
fn warm(this: &Arc<Reloading>, tell: &Tell) {
    if let Ok(host) = this.get() {
        let tell = Arc::clone(tell);
        tokio::spawn(async move { host.check().await.into_iter().for_each(|found| tell(Told::Problem(found))) });
    }
}

/// What changes with the file.
fn stamp(path: &std::path::Path) -> Option<(SystemTime, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

#[async_trait]
impl Source for Reloading {
    async fn current(&self) -> Result<Arc<Host>, Broken> {
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
