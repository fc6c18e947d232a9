//! The tenants of the daemon: loads them from a folder, and follows changes.

mod folder;
mod loaders;
mod memory;
mod overview;
mod slot;
mod watch;

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{
        Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hookbox::{HookSet, Runtime};
use tokio::sync::watch::Sender;

use self::{loaders::Loaders, slot::Slot};
pub use self::{
    overview::Overview,
    slot::{Standing, TenantView},
};
use crate::{fetch::Fetcher, token::Token};

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
    changes: Sender<()>,
    /// True after the folder was first read.
    looked: AtomicBool,
    /// The tenants in the folder when it was first not empty.
    first: OnceLock<Vec<String>>,
}

impl Tenants {
    /// The tenants of this folder. Nothing is read yet.
    pub fn new(folder: PathBuf, grace: Duration, runtime: Runtime, fetcher: Option<Fetcher>) -> Arc<Self> {
        Arc::new(Self {
            folder: std::path::absolute(&folder).unwrap_or(folder),
            grace,
            runtime,
            fetcher,
            slots: RwLock::default(),
            loaders: Loaders::new(),
            changes: Sender::new(()),
            looked: AtomicBool::new(false),
            first: OnceLock::new(),
        })
    }

    /// The current state of a tenant.
    pub fn find(&self, name: &str) -> Option<TenantView> {
        let slots = self.read();
        slots.get(name).map(Slot::found)
    }

    /// Returns true if this token belongs to any tenant.
    pub fn knows(&self, token: &Token) -> bool {
        let slots = self.read();
        slots.values().any(|slot| token.is_among(&slot.tokens()))
    }

    /// The tenants for which this token is valid.
    pub fn owned_by(&self, token: &Token) -> Vec<String> {
        self.names(|slot| token.is_among(&slot.tokens()))
    }

    /// The state of every tenant, for display.
    pub fn overview(&self) -> Vec<Overview> {
        let slots = self.read();
        slots.iter().map(|(name, slot)| Overview::of(name, slot)).collect()
    }

    /// The names of the tenants that are loaded.
    pub fn serving(&self) -> Vec<String> {
        self.names(|slot| matches!(slot.standing, Standing::Serving(_)))
    }

    /// The labels of hooks in metrics with the digests of their components, by tenant and dialect. Empty for tenants that
    /// are not loaded.
    pub fn hooks(&self) -> HashMap<String, HashMap<&'static str, Labels>> {
        let slots = self.read();
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
        let slots = self.read();
        slots.iter().filter(|(_, slot)| wanted(slot)).map(|(name, _)| name.clone()).collect()
    }

    /// Returns true if each tenant of the start was loaded or rejected.
    pub fn is_ready(&self) -> bool {
        let Some(first) = self.first.get() else { return false };
        let slots = self.read();
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

    fn read(&self) -> RwLockReadGuard<'_, HashMap<String, Slot>> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<String, Slot>> {
        self.slots.write().unwrap_or_else(PoisonError::into_inner)
    }
}
