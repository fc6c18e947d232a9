//! Components of registries: fetched when a tenant's hooks are loaded, by the digests of its lock, from hosts that the operator
//! named. Nothing is fetched while an event is decided.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hookbox::{
    FailurePolicy,
    artifact::{
        Approval, ApprovalStore, ComponentCache, ComponentCacheError, Lock, LockError, Locked, Reference, lock_file,
    },
    capability::http::ReqwestClient,
    config::{Config, Handler, Hook},
    folders,
    sandbox::beneath::Beneath,
    sha256,
};
use hookbox_registry::{
    Bounds, Credentials, Hosts, NoCredentials, PolicyError, Registry, RegistryError, Trust, WrittenCredentials,
};
use thiserror::Error;

use crate::{blocking::blocking, files::FilePath, gate, gate::Gate, settings::Registries};

/// References of one hooks file at most.
const MOST: usize = 64;

/// The largest file of a tenant's credentials, in bytes.
const MAX_CREDENTIALS_BYTES: u64 = 1 << 20;

/// The time for one component.
const TIME: Duration = Duration::from_mins(1);

/// Fetches components of tenants.
pub struct Fetcher {
    hosts: Hosts,
    trust: Trust,
    bounds: Bounds,
    folder: PathBuf,
    tenant_bytes: u64,
    /// The permits to fetch, which hosts share: a slow host leaves some to the others.
    permits: Gate,
    /// The limits of one host.
    per_host: gate::Bounds,
}

/// Why the components of a tenant's hooks cannot be had.
#[derive(Debug, Error)]
pub enum FetchError {
    #[error("this daemon does not allow hooks from registries")]
    Off,
    #[error("{0} references, at most {MOST} are allowed")]
    Many(usize),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("`{0}` is not in the lock")]
    Absent(String),
    #[error("`{0}`: {1} is revoked")]
    Revoked(String, String),
    #[error("`{reference}`: the registry has {found} where {wanted} is locked")]
    Other { reference: String, found: String, wanted: String },
    #[error("`{reference}` is signed by {found}, but the lock says {expected}")]
    Publisher { reference: String, found: String, expected: String },
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    ComponentCache(#[from] ComponentCacheError),
    #[error("cannot read the results of earlier verifications: {0}")]
    Verified(io::Error),
    #[error("`credentials`: {}: {why}", file.display())]
    Credentials { file: PathBuf, why: String },
    #[error("the daemon is shutting down")]
    Ends,
}

impl From<RegistryError> for FetchError {
    fn from(error: RegistryError) -> Self {
        Self::Policy(error.into())
    }
}

impl Fetcher {
    /// One that these settings allow.
    ///
    /// # Errors
    /// A policy that cannot be used, or no place for components.
    pub fn new(settings: &Registries) -> Result<Self, String> {
        let place = settings.folder.clone().or_else(|| Some(folders::cache()?.join("tenants")));
        let hosts = settings.hosts.iter().fold(Hosts::public(), |hosts, (host, terms)| hosts.with(host, *terms));
        let mib = |mib: u32| u64::from(mib) << 20;
        let concurrency = settings.concurrency.max(1) as usize;
        Ok(Self {
            hosts: hosts.only(settings.hosts.keys().cloned()),
            trust: settings.trust(Path::new("")).map_err(|error| error.to_string())?,
            bounds: Bounds { component: mib(settings.component_mib), time: TIME, ..Bounds::default() },
            folder: place.ok_or("no folder for components: HOME is not set")?,
            tenant_bytes: mib(settings.tenant_mib),
            permits: Gate::new(concurrency),
            per_host: gate::Bounds { concurrency, queue: usize::MAX },
        })
    }

    /// Fetches what the lock of a hooks file says and the tenant does not have yet. Returns the tenant's folder, and the
    /// publishers that were verified. Tenants share nothing: the name of a component that another tenant has gives no tenant
    /// the component.
    pub async fn fetch(
        &self,
        tenant: &str,
        config: &Config,
        within: Arc<Beneath>,
        credentials: Option<WrittenCredentials>,
    ) -> Result<(ComponentCache, BTreeMap<String, String>), FetchError> {
        let own = self.folder.join(sha256(tenant));
        let cache = ComponentCache::at(own.join("components")).max_bytes(self.tenant_bytes);
        if config.references.len() > MOST {
            return Err(FetchError::Many(config.references.len()));
        }
        let path = lock_file(config);
        let store = Arc::new(ApprovalStore::at(own.join("verified")));
        let (lock, mut verified) = {
            let store = Arc::clone(&store);
            blocking(move || {
                let lock = Lock::read(&path, Some(&within))?;
                Ok::<_, FetchError>((lock, store.get(&path).map_err(FetchError::Verified)?))
            })
            .await?
        };
        lock.check(config)?;
        verified.components.retain(|name, _| lock.components.contains_key(name));
        let registry = self.registry(credentials);
        for reference in &config.references {
            match self.component(&registry, &cache, &lock, &verified, reference).await {
                Ok(None) => {}
                Ok(Some(entry)) => drop(verified.components.insert(reference.to_string(), entry)),
                Err(error) if is_ignored(config, reference) => {
                    tracing::warn!(tenant, "ignored because of `onFailure`: {error}");
                }
                Err(error) => return Err(error),
            }
        }
        let publishers = verified.components.iter();
        let publishers = publishers.filter_map(|(name, entry)| Some((name.clone(), entry.publisher.clone()?)));
        let publishers = publishers.collect();
        blocking(move || store.put(&verified)).await.map_err(FetchError::Verified)?;
        Ok((cache, publishers))
    }

    /// Fetches the component of a reference if the tenant does not have it yet. Returns its verified entry then.
    async fn component(
        &self,
        registry: &Registry,
        cache: &ComponentCache,
        lock: &Lock,
        verified: &Approval,
        reference: &Reference,
    ) -> Result<Option<Locked>, FetchError> {
        let name = reference.to_string();
        let locked = lock.components.get(&name).ok_or_else(|| FetchError::Absent(name.clone()))?;
        let digests = [locked.digest.as_str(), locked.manifest.as_str()];
        if let Some(what) = self.trust.revoked.find(digests, locked.publisher.as_deref()) {
            return Err(FetchError::Revoked(name, what.to_owned()));
        }
        if self.has(cache, verified, reference, locked).await? {
            return Ok(None);
        }
        let publisher = self.one(registry, cache, lock, reference, locked).await?;
        Ok(Some(Locked { attested: publisher.is_some(), publisher, ..locked.clone() }))
    }

    /// Returns true if a component is cached, and its verification satisfies the current policies.
    async fn has(
        &self,
        cache: &ComponentCache,
        verified: &Approval,
        reference: &Reference,
        locked: &Locked,
    ) -> Result<bool, FetchError> {
        let before = verified.components.get(&reference.to_string()).filter(|before| before.digest == locked.digest);
        let Some(before) = before else { return Ok(false) };
        let publisher = before.publisher.as_deref();
        // The lock, which is the tenant's, may say another manifest than the verified one.
        let is_revoked = self.trust.revoked.find([&before.digest, &before.manifest], publisher).is_some();
        if is_revoked || !self.trust.publishers.accept(reference, publisher) {
            return Ok(false);
        }
        let (cache, digest) = (cache.clone(), locked.hex().to_owned());
        Ok(blocking(move || cache.get(&digest)).await?.is_some())
    }

    /// Fetches one component, and returns its publisher where one was verified.
    async fn one(
        &self,
        registry: &Registry,
        cache: &ComponentCache,
        lock: &Lock,
        reference: &Reference,
        locked: &Locked,
    ) -> Result<Option<String>, FetchError> {
        let permit = self.permits.enter(reference.host(), self.per_host).await;
        let _permit = permit.map_err(|_| FetchError::Ends)?;
        let pinned = reference.at(&locked.manifest);
        let seen = registry.inspect(&pinned).await?;
        if seen.component.digest != locked.digest {
            let (found, wanted) = (seen.component.digest, locked.digest.clone());
            return Err(FetchError::Other { reference: reference.to_string(), found, wanted });
        }
        let publisher = self.trust.verify(registry, &pinned, &seen).await?.map(|verified| verified.publisher);
        if let (Some(found), Some(expected)) = (&publisher, &locked.publisher)
            && found != expected
        {
            let (found, expected) = (found.clone(), expected.clone());
            return Err(FetchError::Publisher { reference: reference.to_string(), found, expected });
        }
        let pulled = registry.pull_seen(&pinned, seen).await?;
        let named: Vec<String> = lock.components.values().map(|locked| locked.hex().to_owned()).collect();
        let cache = cache.clone();
        blocking(move || put(&cache, &pulled.component, &named)).await?;
        Ok(publisher)
    }

    fn registry(&self, credentials: Option<WrittenCredentials>) -> Registry {
        fn with(hosts: Hosts, credentials: impl Credentials + 'static) -> Registry {
            Registry::new(ReqwestClient::default(), hosts, credentials)
        }
        // Never the operator's own: a tenant could name what another may read.
        let registry = match credentials {
            Some(credentials) => with(self.hosts.clone(), credentials),
            None => with(self.hosts.clone(), NoCredentials),
        };
        registry.bounds(self.bounds)
    }
}

/// Returns true if every hook with this reference has `ignore` as its own failure policy.
fn is_ignored(config: &Config, reference: &Reference) -> bool {
    let named =
        |hook: &&Hook| matches!(&hook.handler, Handler::Wasm(wasm) if wasm.reference.as_ref() == Some(reference));
    config.hooks.iter().filter(named).all(|hook| hook.on_failure == Some(FailurePolicy::Ignore))
}

/// The credentials in a tenant's file, which is read like its hooks files.
pub async fn credentials(place: FilePath) -> Result<WrittenCredentials, FetchError> {
    blocking(move || {
        let read = place.read(MAX_CREDENTIALS_BYTES).map_err(|error| error.to_string());
        let parsed = read.and_then(|text| WrittenCredentials::parse(&text));
        parsed.map_err(|why| FetchError::Credentials { file: place.path, why })
    })
    .await
}

/// Keeps a component. Where there is no room, those that the lock does not name make some.
fn put(cache: &ComponentCache, component: &[u8], named: &[String]) -> Result<(), ComponentCacheError> {
    match cache.put(component) {
        Err(ComponentCacheError::Full { .. }) => {}
        put => return put.map(drop),
    }
    for file in cache.files()?.iter().filter(|file| !named.contains(&file.digest)) {
        cache.remove(&file.digest)?;
    }
    cache.put(component).map(drop)
}
