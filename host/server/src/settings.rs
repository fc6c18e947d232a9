//! `serve.json`: the operator's settings of the daemon.

mod address;
mod defaults;
mod error;
mod records;
mod registries;
pub(crate) mod values;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, de};

pub use self::{address::Address, error::SettingsError, records::ChainSettings, registries::Registries};
use self::{
    address::one_or_many,
    records::STREAMS,
    values::{host_names, seconds},
};
use crate::{
    files::{FilePath, MAX_SETTINGS_BYTES},
    token::Tokens,
};

/// Settings of the daemon. Relative paths are relative to their file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Settings {
    /// The addresses to listen on: `IP:PORT` or `unix:PATH`, one or several. Port 0 selects a free port.
    #[serde(deserialize_with = "one_or_many")]
    pub listen: Vec<Address>,
    /// The folder of tenants, with one file each.
    pub tenants: PathBuf,
    /// The address of `/metrics`, `/healthz` and `/readyz`. Default: the same as `listen`, if that is local.
    #[serde(default)]
    pub admin: Option<Address>,
    /// The host names by which browsers reach the daemon. `/metrics`, `/healthz`, `/readyz` and `/ui` accept only
    /// these, IP addresses and `localhost`, because any website can make its own name resolve to the daemon.
    #[serde(default, deserialize_with = "host_names")]
    pub hosts: Vec<String>,
    /// The certificate and key. Without them, the daemon serves plain HTTP.
    #[serde(default)]
    pub tls: Option<TlsFiles>,
    /// Allows listening on other than local addresses without TLS, for example behind a proxy that encrypts.
    #[serde(default)]
    pub insecure: bool,
    /// The timeout of requests, in seconds. The tenant or the client may set a shorter one.
    #[serde(default = "defaults::timeout", deserialize_with = "seconds")]
    pub timeout: Duration,
    /// The time for pending requests when the daemon shuts down, in seconds.
    #[serde(default = "defaults::drain", deserialize_with = "seconds")]
    pub drain: Duration,
    /// The time for which a tenant is still known after its file was removed, in seconds. Meanwhile its requests are
    /// rejected, or blocked if it fails closed.
    #[serde(default = "defaults::grace", deserialize_with = "seconds")]
    pub grace: Duration,
    /// The largest body, in KiB.
    #[serde(default = "defaults::body", rename = "maxBodyKiB")]
    pub max_body_kib: u32,
    /// The memory for request bodies, from before they are read until the response, in MiB. At least one body of the
    /// maximum size always fits.
    #[serde(default = "defaults::body_memory", rename = "bodyMemoryMiB")]
    pub body_memory_mib: u32,
    /// The maximum number of connections. A new one beyond it closes an idle one.
    #[serde(default = "defaults::connections")]
    pub max_connections: u32,
    /// The maximum number of concurrent events, for all tenants together.
    #[serde(default = "defaults::concurrency")]
    pub concurrency: u32,
    /// The maximum number of components that run concurrently.
    #[serde(default = "defaults::instances")]
    pub max_instances: u32,
    /// The largest `memoryMiB` that a hook may have.
    #[serde(default = "defaults::memory", rename = "maxMemoryMiB")]
    pub max_memory_mib: u32,
    /// The state store: a `SQLite` file, `redis://…` or `rediss://…`. Default: a file in the user's state folder.
    #[serde(default)]
    pub state: Option<String>,
    /// The daemon's name in the console. Default: the machine's name.
    #[serde(default)]
    pub name: Option<String>,
    /// Hashes of the operators' tokens. Without any, there is no `/ui`.
    #[serde(default)]
    pub operators: Tokens,
    /// The output of records, one line of JSON per verdict: `stdout`, `stderr`, or a file.
    #[serde(default)]
    pub records: Option<PathBuf>,
    /// Blocks if a verdict cannot be recorded. Otherwise the record is lost and counted.
    #[serde(default)]
    pub records_required: bool,
    /// Chains the records by digest, so that changes are found.
    #[serde(default)]
    pub records_chain: Option<ChainSettings>,
    /// The OpenTelemetry collector for traces over HTTP, such as `http://127.0.0.1:4318`.
    #[serde(default)]
    pub otlp: Option<String>,
    /// The format of the log on stderr.
    #[serde(default)]
    pub log: LogForm,
    /// The folder of compiled components. Default: the user's cache folder.
    #[serde(default)]
    pub cache: Option<PathBuf>,
    /// Registries that tenants may take hooks from. Default: none.
    #[serde(default)]
    pub registries: Option<Registries>,
}

/// The format of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogForm {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// A certificate chain and its key in PEM format.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TlsFiles {
    /// The chain, starting with the daemon's own certificate.
    pub certificate: PathBuf,
    /// The key.
    pub key: PathBuf,
}

impl Settings {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// [`SettingsError`]
    pub fn load(file: &Path) -> Result<Self, SettingsError> {
        let mut settings: Self = parse(file)?;
        settings.resolve(file.parent().unwrap_or(Path::new("")));
        settings.check()?;
        Ok(settings)
    }

    /// Makes all paths relative to a folder.
    fn resolve(&mut self, folder: &Path) {
        let from_here = |path: &mut PathBuf| *path = folder.join(&*path);
        from_here(&mut self.tenants);
        self.cache.iter_mut().for_each(from_here);
        if let Some(registries) = &mut self.registries {
            registries.folder.iter_mut().for_each(from_here);
            let keys = registries.publishers.iter_mut().flat_map(|publisher| &mut publisher.keys);
            for key in keys.filter(|key| !key.contains("-----BEGIN")) {
                *key = folder.join(&*key).to_string_lossy().into_owned();
            }
            registries
                .publishers
                .iter_mut()
                .filter_map(|publisher| publisher.trusted_root.as_mut())
                .for_each(from_here);
        }
        self.tls.iter_mut().for_each(|tls| [&mut tls.certificate, &mut tls.key].into_iter().for_each(from_here));
        self.records
            .iter_mut()
            .filter(|path| !STREAMS.iter().any(|stream| *path == Path::new(stream)))
            .for_each(from_here);
        if let Some(chain) = &mut self.records_chain {
            chain.key.iter_mut().chain(&mut chain.heads).for_each(from_here);
        }
        for address in self.listen.iter_mut().chain(&mut self.admin) {
            if let Address::Unix(path) = address {
                from_here(path);
            }
        }
        if let Some(state) = self.state.as_mut().filter(|state| !state.contains("://")) {
            *state = folder.join(&*state).to_string_lossy().into_owned();
        }
    }

    /// Returns true if all its addresses are reachable only from this machine.
    pub fn is_local(&self) -> bool {
        self.listen.iter().all(Address::is_local)
    }

    /// The memory for request bodies, in bytes.
    pub(crate) fn body_memory(&self) -> usize {
        let kib = u64::from(self.max_body_kib).max(u64::from(self.body_memory_mib) * 1024);
        usize::try_from(kib.saturating_mul(1024)).unwrap_or(usize::MAX)
    }

    fn check(&self) -> Result<(), SettingsError> {
        let open = self.listen.iter().chain(&self.admin).find(|address| !address.is_local());
        if self.records_required && self.records.is_none() {
            return Err(SettingsError::NoRecords);
        }
        if let Some(chain) = &self.records_chain {
            if self.records.is_none() {
                return Err(SettingsError::NoChainedRecords);
            }
            if chain.key.is_some() != chain.heads.is_some() {
                return Err(SettingsError::HalfChain);
            }
        }
        match open {
            Some(address) if self.tls.is_none() && !self.insecure => Err(SettingsError::Open(address.clone())),
            _ => Ok(()),
        }
    }
}

/// Reads one of the operator's files.
pub(crate) fn parse<T: de::DeserializeOwned>(file: &Path) -> Result<T, SettingsError> {
    let failed = |error| SettingsError::Read { file: file.to_owned(), error };
    let bytes = FilePath::anywhere(file).read(MAX_SETTINGS_BYTES).map_err(failed)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| SettingsError::Parse { file: file.to_owned(), message: error.to_string() })
}
