//! A client of registries, with its credentials and limits.

use std::{sync::Arc, time::Duration};

use hookbox::{artifact::Reference, capability::http::HttpClient};
use tokio::sync::Mutex;

use crate::{auth::Tokens, credentials::Credentials, error::RegistryError, hosts::Hosts};

/// Limits of one operation on a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum size of a manifest, an index or a configuration, in bytes.
    pub manifest: u64,
    /// The maximum size of a component, in bytes.
    pub component: u64,
    /// The maximum duration of one operation: a pull, a push, an inspection.
    pub time: Duration,
    /// The maximum number of redirects.
    pub redirects: usize,
}

impl Default for Bounds {
    /// 1 MiB, 64 MiB, 2 minutes, 5 redirects.
    fn default() -> Self {
        Self { manifest: 1 << 20, component: 64 << 20, time: Duration::from_mins(2), redirects: 5 }
    }
}

/// A client of registries. Cheap to clone.
#[derive(Clone)]
pub struct Registry {
    pub(crate) http: Arc<dyn HttpClient>,
    pub(crate) credentials: Arc<dyn Credentials>,
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) bounds: Bounds,
    pub(crate) tokens: Arc<Mutex<Tokens>>,
}

impl Registry {
    /// Creates a client for these hosts, with these credentials.
    pub fn new(http: impl HttpClient + 'static, hosts: Hosts, credentials: impl Credentials + 'static) -> Self {
        Self {
            http: Arc::new(http),
            credentials: Arc::new(credentials),
            hosts: Arc::new(hosts),
            bounds: Bounds::default(),
            tokens: Arc::default(),
        }
    }

    /// Sets the limits.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Runs an operation on the registry of a reference, with the timeout of [`Bounds`].
    pub(crate) async fn in_time<T>(
        &self,
        reference: &Reference,
        operation: impl Future<Output = Result<T, RegistryError>>,
    ) -> Result<T, RegistryError> {
        self.hosts
            .check(reference.host())
            .map_err(|why| RegistryError::Host { host: reference.host().to_owned(), why })?;
        let late = || RegistryError::Time { host: reference.host().to_owned(), seconds: self.bounds.time.as_secs() };
        tokio::time::timeout(self.bounds.time, operation).await.unwrap_or_else(|_| Err(late()))
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("hosts", &self.hosts).field("bounds", &self.bounds).finish_non_exhaustive()
    }
}
