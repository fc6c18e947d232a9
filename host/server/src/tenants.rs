//! The tenants of the daemon: loads them from a folder, and follows changes.

mod folder;
mod loaders;
mod memory;
mod overview;
mod slot;

use std::{
    collections::{HashMap, HashSet},
    io,
    path::PathBuf,
    sync::{
        Arc, OnceLock, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use hookbox::{HookSet, Runtime};
use tokio::sync::{Notify, watch};

use self::{
    folder::{Folder, FoundFile},
    loaders::Loaders,
    memory::{Memory, SavedTenants},
    slot::{LoadError, Progress, Slot},
};
pub use self::{
    overview::Overview,
    slot::{Standing, TenantView},
};
use crate::{
    console::history::unix_ms,
    fetch::Fetcher,
    tenant::{Loading, Tenant, closed_hints},
    token::Token,
};

/// The interval of checking files for changes.
const LOOK: Duration = Duration::from_millis(500);
/// The reason for clients of a tenant whose file another tenant names as its hooks.
const DOUBTFUL: &str = "another tenant's file names this file as a hooks file; the daemon's log has the name";

/// The labels of hooks, with the digests of the components that have the label.
type Labels = HashMap<String, HashSet<Arc<str>>>;

/// All tenants.
pub struct Tenants {
    folder: PathBuf,
    /// The time for which a tenant is still known after its file was removed.
    grace: Duration,
    runtime: Runtime,
    /// Fetches components of registries, where the operator allows any.
    fetcher: Option<Fetcher>,
    slots: RwLock<HashMap<String, Slot>>,
    loaders: Loaders,
    /// Notifies that a tenant was loaded, rejected or removed.
    changes: watch::Sender<()>,
    /// True after the folder was first read.
    looked: AtomicBool,
    /// The tenants in the folder when it was first not empty.
    first: OnceLock<Vec<String>>,
}

/// The state of the watcher.
struct Watcher {
    folder: Folder,
    memory: Memory,
    /// The last error of reading the folder.
    trouble: Option<String>,
}

impl Tenants {
    /// Of this folder. Nothing is read yet.
    pub fn new(folder: PathBuf, grace: Duration, runtime: Runtime, fetcher: Option<Fetcher>) -> Arc<Self> {
        Arc::new(Self {
            folder: std::path::absolute(&folder).unwrap_or(folder),
            grace,
            runtime,
            fetcher,
            slots: RwLock::default(),
            loaders: Loaders::new(),
            changes: watch::Sender::new(()),
            looked: AtomicBool::new(false),
            first: OnceLock::new(),
        })
    }

    /// Watches the files until this value is dropped, and loads what changed. `now` triggers an immediate check that
    /// reloads everything.
    pub fn watch(self: &Arc<Self>, now: Arc<Notify>) {
        let this = Arc::downgrade(self);
        let folder = self.folder.clone();
        tokio::spawn(async move {
            let reading = tokio::task::spawn_blocking(move || {
                let mut memory = Memory::of(&folder);
                let known = memory.read();
                (Watcher { folder: Folder::default(), memory, trouble: None }, known)
            });
            let Ok((mut watcher, known)) = reading.await else { return };
            if let Some(tenants) = this.upgrade() {
                watcher.folder.hooks_files = known.hooks_files;
                let slots = known.tenants.into_iter().map(|(name, known)| (name, Slot::known(known, Instant::now())));
                *tenants.slots.write().unwrap_or_else(PoisonError::into_inner) = slots.collect();
            }
            let mut all = false;
            while let Some(tenants) = this.upgrade() {
                let Some(next) = tenants.look(watcher, all).await else { return };
                watcher = next;
                drop(tenants);
                all = tokio::time::timeout(LOOK, now.notified()).await.is_ok();
            }
        });
    }

    /// The current state of a tenant.
    pub fn find(&self, name: &str) -> Option<TenantView> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.get(name).map(Slot::found)
    }

    /// Returns true if this token belongs to any tenant.
    pub fn knows(&self, token: &Token) -> bool {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.values().any(|slot| token.is_among(&slot.tokens()))
    }

    /// The tenants for which this token is valid.
    pub fn owned_by(&self, token: &Token) -> Vec<String> {
        self.names(|slot| token.is_among(&slot.tokens()))
    }

    /// The state of every tenant, for display.
    pub fn overview(&self) -> Vec<Overview> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.iter().map(|(name, slot)| Overview::of(name, slot)).collect()
    }

    /// The names of the tenants that are loaded.
    pub fn serving(&self) -> Vec<String> {
        self.names(|slot| matches!(slot.standing, Standing::Serving(_)))
    }

    /// The labels of hooks in metrics with the digests of their components, by tenant and dialect. Empty for tenants that
    /// are not loaded.
    pub fn hooks(&self) -> HashMap<String, HashMap<&'static str, Labels>> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let of = |slot: &Slot| match &slot.standing {
            Standing::Serving(tenant) => {
                let labels = |set: &HookSet| {
                    let mut labels = Labels::new();
                    for (label, digest) in set.metric_labels() {
                        labels.entry(label.to_owned()).or_default().extend(digest);
                    }
                    labels
                };
                tenant.sets.values().map(|set| (set.dialect().name(), labels(set))).collect()
            }
            _ => HashMap::new(),
        };
        slots.iter().map(|(name, slot)| (name.clone(), of(slot))).collect()
    }

    /// The names of tenants whose files are invalid. The reasons are in the log.
    pub fn refused(&self) -> Vec<String> {
        self.names(|slot| slot.is_refused || matches!(slot.standing, Standing::Broken(_)))
    }

    fn names(&self, wanted: impl Fn(&Slot) -> bool) -> Vec<String> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.iter().filter(|(_, slot)| wanted(slot)).map(|(name, _)| name.clone()).collect()
    }

    /// Returns true if each tenant of the start was loaded or rejected.
    pub fn is_ready(&self) -> bool {
        let Some(first) = self.first.get() else { return false };
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        !first.iter().any(|name| slots.get(name).is_some_and(|slot| matches!(slot.standing, Standing::Loading)))
    }

    /// Finds a tenant, after the folder was first read.
    pub async fn known(&self, name: &str) -> Option<TenantView> {
        self.once(|| self.looked.load(Ordering::Acquire).then(|| self.find(name))).await
    }

    /// Finds a tenant, after its first load.
    pub async fn settled(&self, name: &str) -> Option<TenantView> {
        let is_loading = |found: &Option<TenantView>| {
            found.as_ref().is_some_and(|found| matches!(found.standing, Standing::Loading))
        };
        self.once(|| Some(self.find(name)).filter(|found| !is_loading(found))).await
    }

    /// Waits for a value. Checks again after each change.
    async fn once(&self, there: impl Fn() -> Option<Option<TenantView>>) -> Option<TenantView> {
        if let Some(found) = there() {
            return found;
        }
        let mut changes = self.changes.subscribe();
        loop {
            // Checked after each change, and once after the subscription.
            if let Some(found) = there() {
                return found;
            }
            // This cannot fail, because `self` owns the sender.
            changes.changed().await.ok()?;
        }
    }

    /// Reads the folder and follows changes. `None` when the daemon shuts down.
    async fn look(self: &Arc<Self>, mut watcher: Watcher, all: bool) -> Option<Watcher> {
        let known = {
            let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
            slots.iter().map(|(name, slot)| slot.as_known(name)).collect::<Vec<_>>()
        };
        let path = self.folder.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let seen = watcher.folder.look(&path, &known);
            (watcher, seen)
        });
        let (mut watcher, seen) = looked.await.ok()?;
        watcher.log_error(&self.folder, seen.as_ref().err());
        if let Ok(seen) = seen {
            self.follow(seen, all);
            self.looked.store(true, Ordering::Release);
            self.changes.send_replace(());
            let known = self.to_keep(&watcher);
            let kept = tokio::task::spawn_blocking(move || {
                watcher.memory.write(&known);
                watcher
            });
            return kept.await.ok();
        }
        Some(watcher)
    }

    fn to_keep(&self, watcher: &Watcher) -> SavedTenants {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let tenants = slots.iter().filter_map(|(name, slot)| Some((name.clone(), slot.to_keep()?))).collect();
        SavedTenants { tenants, hooks_files: watcher.folder.hooks_files.clone() }
    }

    /// Removes tenants whose files are gone, and loads new and changed ones.
    fn follow(self: &Arc<Self>, seen: Vec<FoundFile>, all: bool) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let names: HashSet<&str> = seen.iter().map(|seen| seen.name.as_str()).collect();
        // Pending requests keep the tenant that they use alive.
        slots.retain(|name, slot| {
            if names.contains(name.as_str()) {
                return true;
            }
            // A file that was never a tenant's leaves no trace: for example, a hooks file that existed before its
            // tenant.
            let stays = slot.past >= Progress::Tenant
                && !matches!(slot.standing, Standing::Gone(since) if now - since >= self.grace);
            if !stays {
                tracing::info!(tenant = name, "is removed");
            } else if !matches!(slot.standing, Standing::Gone(_)) {
                tracing::warn!(
                    tenant = name,
                    "its file was removed; its requests are refused, or blocked if it fails closed"
                );
                slot.withdraw(Standing::Gone(now));
            }
            stays
        });
        // An empty folder may not be mounted yet.
        if !seen.is_empty() || slots.is_empty() {
            self.first.get_or_init(|| names.iter().map(|name| (*name).to_owned()).collect());
        }
        for seen in seen {
            let slot = slots.entry(seen.name.clone()).or_insert_with(Slot::new);
            slot.come_back();
            slot.heed(&seen.summary);
            if seen.is_doubtful {
                if !matches!(slot.standing, Standing::Broken(_)) {
                    tracing::error!(
                        tenant = seen.name,
                        "is not loaded: it is named under `hooks` in the file of another tenant, which may not be its own"
                    );
                }
                slot.settle(seen.summary.closed, &[]);
                let at = slot.error.as_ref().map_or_else(unix_ms, |error| error.at);
                slot.withdraw(Standing::Broken(DOUBTFUL.into()));
                slot.error = Some(LoadError { text: DOUBTFUL.into(), public_text: DOUBTFUL.into(), at });
                continue;
            }
            if !slot.loading && (slot.files.stamps != seen.stamps || all) {
                slot.loading = true;
                self.load(slot, seen);
            }
        }
    }

    fn load(self: &Arc<Self>, slot: &Slot, seen: FoundFile) {
        let (generation, was_slow, usage) = (slot.generation, slot.is_slow, slot.usage.clone());
        let this = Arc::clone(self);
        tokio::spawn(async move {
            let FoundFile { name, path, summary, .. } = seen;
            // `failClosed` is read first, because a response may be due before the load ends.
            let hints = this.loaders.hint(closed_hints(&name, &path, &summary)).await;
            this.with(&name, generation, |slot| slot.settle(summary.closed, &hints));
            // On the heap: the future of a load is large.
            let load = Box::pin(Tenant::load(&this.runtime, this.fetcher.as_ref(), &name, &path, &summary, usage));
            let (loading, is_slow) = this.loaders.load(was_slow, load).await;
            this.loaded(&name, generation, loading, is_slow);
        });
    }

    /// Changes a slot, unless its tenant was removed after this generation.
    fn with<T>(&self, name: &str, generation: u64, change: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        slots.get_mut(name).filter(|slot| slot.generation == generation).map(change)
    }

    fn loaded(&self, name: &str, generation: u64, Loading { tenant, files }: Loading, is_slow: bool) {
        let result = self.with(name, generation, |slot| {
            slot.loading = false;
            slot.files = files;
            slot.is_slow = is_slow;
            match tenant {
                Ok(tenant) => {
                    tracing::info!(tenant = name, "is loaded");
                    slot.usage = Some(Arc::clone(&tenant.usage));
                    slot.is_refused = false;
                    slot.error = None;
                    slot.loaded = Some(unix_ms());
                    slot.past = Progress::Served;
                    slot.standing = Standing::Serving(Arc::new(tenant));
                    "loaded"
                }
                Err(error) => {
                    let serves = matches!(slot.standing, Standing::Serving(_));
                    let kept = if serves { "; the previous state stays in use" } else { "" };
                    tracing::error!(tenant = name, "is refused{kept}: {error}");
                    slot.is_refused = true;
                    let (text, public_text) = (error.to_string(), error.public_text());
                    slot.error = Some(LoadError { text, public_text, at: unix_ms() });
                    if !serves {
                        slot.standing = Standing::Broken(error.public_text().into());
                    }
                    "refused"
                }
            }
        });
        if let Some(result) = result {
            metrics::counter!("hookbox_tenant_loads_total", "tenant" => name.to_owned(), "result" => result)
                .increment(1);
            self.changes.send_replace(());
        }
    }
}

impl Watcher {
    /// Logs an error of reading the folder once.
    fn log_error(&mut self, folder: &std::path::Path, error: Option<&io::Error>) {
        let trouble = error.map(ToString::to_string);
        if let Some(error) = trouble.as_ref().filter(|_| trouble != self.trouble) {
            tracing::error!("cannot read the tenants in {}; they stay unchanged: {error}", folder.display());
        }
        self.trouble = trouble;
    }
}
