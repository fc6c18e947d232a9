//! Watches the folder of tenants, and loads what changes.

use std::{
    collections::HashSet,
    io,
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::{
    Tenants,
    folder::{Folder, FoundFile},
    memory::{Memory, SavedTenants},
    slot::{LoadError, Progress, Slot, Standing},
};
use crate::{
    clock::unix_ms,
    tenant::{Loading, Tenant, closed_hints},
};

/// The interval of checking files for changes.
const LOOK: Duration = Duration::from_millis(500);
/// The reason for clients of a tenant whose file another tenant names as its hooks.
const DOUBTFUL: &str = "another tenant's file names this file as a hooks file; the daemon's log has the name";

/// The state of the watcher.
struct Watcher {
    folder: Folder,
    memory: Memory,
    /// The last error of reading the folder.
    trouble: Option<String>,
}

impl Tenants {
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
                *tenants.write() = slots.collect();
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

    /// Reads the folder and follows changes. `None` when the daemon shuts down.
    async fn look(self: &Arc<Self>, mut watcher: Watcher, all: bool) -> Option<Watcher> {
        let known = {
            let slots = self.read();
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
        let slots = self.read();
        let tenants = slots.iter().filter_map(|(name, slot)| Some((name.clone(), slot.to_keep()?))).collect();
        SavedTenants { tenants, hooks_files: watcher.folder.hooks_files.clone() }
    }

    /// Removes tenants whose files are gone, and loads new and changed ones.
    fn follow(self: &Arc<Self>, seen: Vec<FoundFile>, all: bool) {
        let mut slots = self.write();
        let now = Instant::now();
        let names: HashSet<&str> = seen.iter().map(|seen| seen.name.as_str()).collect();
        // Pending requests keep the tenant that they use alive.
        slots.retain(|name, slot| names.contains(name.as_str()) || self.is_kept(name, slot, now));
        // An empty folder may not be mounted yet.
        if !seen.is_empty() || slots.is_empty() {
            self.first.get_or_init(|| names.iter().map(|name| (*name).to_owned()).collect());
        }
        for seen in seen {
            let slot = slots.entry(seen.name.clone()).or_insert_with(Slot::new);
            slot.come_back();
            slot.heed(&seen.summary);
            if seen.is_doubtful {
                withdraw_doubtful(slot, &seen);
            } else if !slot.loading && (slot.files.stamps != seen.stamps || all) {
                slot.loading = true;
                self.load(slot, seen);
            }
        }
    }

    /// Decides on a tenant whose file is gone: it stays known for some time.
    fn is_kept(&self, name: &str, slot: &mut Slot, now: Instant) -> bool {
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
        let mut slots = self.write();
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

/// Withdraws a tenant whose file another tenant names as its hooks.
fn withdraw_doubtful(slot: &mut Slot, file: &FoundFile) {
    if !matches!(slot.standing, Standing::Broken(_)) {
        tracing::error!(
            tenant = file.name,
            "is not loaded: it is named under `hooks` in the file of another tenant, which may not be its own"
        );
    }
    slot.settle(file.summary.closed, &[]);
    let at = slot.error.as_ref().map_or_else(unix_ms, |error| error.at);
    slot.withdraw(Standing::Broken(DOUBTFUL.into()));
    slot.error = Some(LoadError { text: DOUBTFUL.into(), public_text: DOUBTFUL.into(), at });
}

impl Watcher {
    /// Logs an error of reading the folder once.
    fn log_error(&mut self, folder: &Path, error: Option<&io::Error>) {
        let trouble = error.map(ToString::to_string);
        if let Some(error) = trouble.as_ref().filter(|_| trouble != self.trouble) {
            tracing::error!("cannot read the tenants in {}; they stay unchanged: {error}", folder.display());
        }
        self.trouble = trouble;
    }
}
