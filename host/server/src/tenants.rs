//! The folder of tenants: who there is now, and what changes.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::{Duration, Instant},
};

use hookbox::Runtime;
use tokio::sync::{Notify, Semaphore, watch};

use crate::{
    files::{Files, Stamp, stamp},
    settings,
    tenant::{Broken, Loading, Tenant, TenantFile},
    token::Token,
};

/// How often files are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Tenants that are loaded at once: one whose components take long to compile keeps few others waiting.
const LOADERS: usize = 4;
/// A name of a tenant has this many characters at most.
const NAME: usize = 63;

/// From then on it is ready, whoever is still being loaded.
const PATIENCE: Duration = Duration::from_secs(15);

/// All tenants.
pub struct Tenants {
    folder: PathBuf,
    runtime: Runtime,
    slots: RwLock<HashMap<String, Slot>>,
    loaders: Arc<Semaphore>,
    /// Tells that something was loaded, refused or removed.
    changes: watch::Sender<()>,
    /// Who was there at the first look.
    first: OnceLock<Vec<String>>,
    started: Instant,
}

/// A tenant's place: who serves in it, and what is known of its files.
#[derive(Default)]
struct Slot {
    serving: Option<Arc<Tenant>>,
    /// While nothing of it serves: why.
    broken: Option<Arc<Broken>>,
    /// Why the files as they are now are not used, though older ones are.
    refused: Option<String>,
    files: Files,
    loading: bool,
}

/// Who answers for a name.
#[derive(Clone)]
pub enum Found {
    /// The tenant.
    Serving(Arc<Tenant>),
    /// Nobody yet: why.
    Broken(Arc<Broken>),
    /// It is being loaded for the first time.
    Loading,
}

impl Tenants {
    /// Of this folder. Nothing is read yet.
    pub fn new(folder: PathBuf, runtime: Runtime) -> Arc<Self> {
        Arc::new(Self {
            folder,
            runtime,
            slots: RwLock::default(),
            loaders: Arc::new(Semaphore::new(LOADERS)),
            changes: watch::Sender::new(()),
            first: OnceLock::new(),
            started: Instant::now(),
        })
    }

    /// Looks at the files for as long as the value lives, and loads what changed. `now` makes it look at once, and load
    /// everything again.
    pub fn watch(self: &Arc<Self>, now: Arc<Notify>) {
        let watched = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut all = false;
            while let Some(tenants) = watched.upgrade() {
                tenants.look(all).await;
                drop(tenants);
                all = tokio::time::timeout(LOOK, now.notified()).await.is_ok();
            }
        });
    }

    /// Who answers for a name.
    pub fn find(&self, name: &str) -> Option<Found> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.get(name)?;
        Some(match (&slot.serving, &slot.broken) {
            (Some(tenant), _) => Found::Serving(Arc::clone(tenant)),
            (None, Some(broken)) => Found::Broken(Arc::clone(broken)),
            (None, None) => Found::Loading,
        })
    }

    /// Whether this token is that of some tenant.
    pub fn knows(&self, token: &Token) -> bool {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.values().filter_map(|slot| slot.serving.as_ref()).any(|tenant| token.is_among(&tenant.tokens))
    }

    /// Who serves.
    pub fn serving(&self) -> Vec<String> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.iter().filter(|(_, slot)| slot.serving.is_some()).map(|(name, _)| name.clone()).collect()
    }

    /// The labels of hooks in metrics, by tenant and dialect; of tenants that do not serve there are none.
    pub fn hooks(&self) -> HashMap<String, HashMap<&'static str, HashSet<String>>> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let of = |tenant: &Arc<Tenant>| {
            let sets = tenant.sets.values();
            sets.map(|set| (set.dialect().name(), set.metric_labels().map(str::to_owned).collect())).collect()
        };
        slots.iter().map(|(name, slot)| (name.clone(), slot.serving.as_ref().map(of).unwrap_or_default())).collect()
    }

    /// Whose files cannot be used as they are, and why.
    pub fn refused(&self) -> BTreeMap<String, String> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots
            .iter()
            .filter_map(|(name, slot)| {
                let why = slot.refused.clone().or_else(|| slot.broken.as_ref().map(|broken| broken.reason.clone()))?;
                Some((name.clone(), why))
            })
            .collect()
    }

    /// Whether everything that was there at the start has been tried once.
    pub fn is_ready(&self) -> bool {
        let Some(first) = self.first.get() else { return false };
        let loading = |name: &String| matches!(self.find(name), Some(Found::Loading));
        self.started.elapsed() > PATIENCE || !first.iter().any(loading)
    }

    /// Who answers for a name, once that is known.
    pub async fn wait(&self, name: &str) -> Option<Found> {
        let known = || match self.find(name) {
            Some(Found::Loading) => None,
            None if self.first.get().is_none() => None,
            found => Some(found),
        };
        if let Some(found) = known() {
            return found;
        }
        let mut changes = self.changes.subscribe();
        loop {
            // After each change, and once after the subscription.
            if let Some(found) = known() {
                return found;
            }
            // The sender is ours.
            changes.changed().await.ok()?;
        }
    }

    async fn look(self: &Arc<Self>, all: bool) {
        let known: Vec<(String, Vec<PathBuf>)> = {
            let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
            slots.iter().map(|(name, slot)| (name.clone(), slot.files.paths.clone())).collect()
        };
        let folder = self.folder.clone();
        let seen = tokio::task::spawn_blocking(move || see(&folder, &known)).await.map_err(io::Error::other).flatten();
        match seen {
            Ok(seen) => self.follow(seen, all),
            Err(error) => tracing::error!("the tenants in {} cannot be read: {error}", self.folder.display()),
        }
        self.changes.send_replace(());
    }

    /// Takes out who is gone, and loads who is new or changed.
    fn follow(self: &Arc<Self>, seen: Vec<Seen>, all: bool) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let names: HashSet<&str> = seen.iter().map(|seen| seen.name.as_str()).collect();
        // Requests under way hold what they need; the rest goes with the last of them.
        slots.retain(|name, _| {
            let stays = names.contains(name.as_str());
            if !stays {
                tracing::info!(tenant = name, "is removed");
            }
            stays
        });
        self.first.get_or_init(|| names.iter().map(|name| (*name).to_owned()).collect());
        for Seen { name, path, stamps } in seen {
            let slot = slots.entry(name.clone()).or_default();
            if slot.loading || (slot.files.stamps == stamps && !all) {
                continue;
            }
            slot.loading = true;
            let usage = slot.serving.as_ref().map(|tenant| Arc::clone(&tenant.usage));
            let this = Arc::clone(self);
            tokio::spawn(async move {
                let place = Arc::clone(&this.loaders).acquire_owned().await;
                let loading = Tenant::load(&this.runtime, &name, &path, usage).await;
                drop(place);
                this.loaded(&name, loading);
            });
        }
    }

    fn loaded(&self, name: &str, Loading { tenant, files }: Loading) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        // It may be gone by now.
        let Some(slot) = slots.get_mut(name) else { return };
        slot.loading = false;
        slot.files = files;
        let result = match tenant {
            Ok(tenant) => {
                tracing::info!(tenant = name, "is loaded");
                (slot.broken, slot.refused) = (None, None);
                slot.serving = Some(Arc::new(tenant));
                "loaded"
            }
            Err(broken) => {
                let kept = if slot.serving.is_some() { "; what was loaded before goes on" } else { "" };
                tracing::error!(tenant = name, "is refused{kept}: {}", broken.reason);
                slot.refused = Some(broken.reason.clone());
                slot.broken = slot.serving.is_none().then(|| Arc::new(broken));
                "refused"
            }
        };
        drop(slots);
        metrics::counter!("hookbox_tenant_loads_total", "tenant" => name.to_owned(), "result" => result).increment(1);
        self.changes.send_replace(());
    }
}

/// A tenant's file, and the state of all the files it depends on.
struct Seen {
    name: String,
    path: PathBuf,
    stamps: Vec<Stamp>,
}

/// All tenants of a folder as they are now.
fn see(folder: &Path, known: &[(String, Vec<PathBuf>)]) -> io::Result<Vec<Seen>> {
    let mut paths: BTreeMap<String, PathBuf> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        if path.extension().is_some_and(|extension| extension == "json")
            && let Some(name) = name.filter(|name| is_name(name))
            && path.is_file()
        {
            paths.insert(name.to_owned(), path.clone());
        }
    }
    // A hooks file may stand beside the tenants' own. The first file of a tenant is its own.
    let mut hooks: HashSet<PathBuf> = known.iter().flat_map(|(_, files)| files.iter().skip(1).cloned()).collect();
    // Of one that is still being loaded for the first time nothing is known.
    let known: HashMap<&str, &[PathBuf]> =
        known.iter().filter(|(_, files)| !files.is_empty()).map(|(name, files)| (name.as_str(), &**files)).collect();
    for (name, path) in &paths {
        if !known.contains_key(name.as_str())
            && let Ok(tenant) = settings::parse::<TenantFile>(path)
        {
            hooks.extend(tenant.hooks_files(path).into_iter().map(|(_, file)| file));
        }
    }
    paths.retain(|_, path| !hooks.contains(path));
    let seen = paths.into_iter().map(|(name, path)| {
        let stamps = match known.get(name.as_str()) {
            Some(files) => files.iter().map(|file| stamp(file)).collect(),
            None => vec![stamp(&path)],
        };
        Seen { name, path, stamps }
    });
    Ok(seen.collect())
}

/// Whether a text is the name of a tenant.
pub fn is_name(text: &str) -> bool {
    (1..=NAME).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::see;

    #[test]
    fn a_hooks_file_is_no_tenant_even_while_its_tenant_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("acme.json"), r#"{ "tokens": [], "hooks": { "claude": "acme-hooks.json" } }"#)
            .unwrap();
        fs::write(folder.path().join("acme-hooks.json"), r#"{ "hooks": {} }"#).unwrap();
        for known in [vec![], vec![("acme".to_owned(), vec![])]] {
            let seen = see(folder.path(), &known).unwrap();
            assert_eq!(seen.iter().map(|seen| seen.name.as_str()).collect::<Vec<_>>(), ["acme"], "{known:?}");
        }
    }
}
