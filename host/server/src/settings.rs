//! `serve.json`: the operator's settings of the daemon.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, de};
use thiserror::Error;

use crate::{
    fetch::Registries,
    files::FilePath,
    records::{ChainSettings, STREAMS},
    token::Token,
};

/// The largest settings file, in bytes. A larger one is a mistake.
pub(crate) const MAX_BYTES: u64 = 1 << 20;

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

mod defaults {
    use std::time::Duration;

    pub(super) const fn timeout() -> Duration {
        Duration::from_secs(30)
    }
    pub(super) const fn drain() -> Duration {
        Duration::from_secs(25)
    }
    pub(super) const fn grace() -> Duration {
        Duration::from_secs(30)
    }
    pub(super) const fn body() -> u32 {
        8 * 1024
    }
    pub(super) const fn body_memory() -> u32 {
        256
    }
    pub(super) const fn connections() -> u32 {
        4096
    }
    pub(super) const fn concurrency() -> u32 {
        64
    }
    pub(super) const fn instances() -> u32 {
        64
    }
    pub(super) const fn memory() -> u32 {
        256
    }
}

/// The address of a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl Address {
    /// Returns true if it is reachable only from this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => match address.ip() {
                IpAddr::V4(ip) => ip.is_loopback(),
                IpAddr::V6(ip) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
            },
            Self::Unix(_) => true,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Self::Unix(path.into()));
        }
        let numeric = text.strip_prefix("localhost:").map_or_else(|| text.clone(), |port| format!("127.0.0.1:{port}"));
        numeric.parse().map(Self::Tcp).map_err(|_| {
            de::Error::custom(format!(
                "`{text}` is not an address: write `IP:PORT` or `unix:PATH`, as in `127.0.0.1:8750`"
            ))
        })
    }
}

fn one_or_many<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Vec<Address>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(Address),
        Many(Vec<Address>),
    }
    let addresses = match Written::deserialize(deserializer) {
        Ok(Written::One(address)) => vec![address],
        Ok(Written::Many(addresses)) => addresses,
        Err(_) => Vec::new(),
    };
    if addresses.is_empty() {
        return Err(de::Error::custom("`listen` is `IP:PORT` or `unix:PATH`, or an array of them"));
    }
    Ok(addresses)
}

/// Reads host names without a scheme or port, and converts them to lower case.
fn host_names<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let is_name = |name: &String| {
        let part = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        name.len() <= 253 && name.split('.').all(part)
    };
    match names.iter().find(|name| !is_name(name)) {
        Some(wrong) => Err(de::Error::custom(format!(
            "`{}` in `hosts` is not a host name: write it without scheme and port, as in `hooks.example.com`",
            hookbox::shorten(wrong, 80)
        ))),
        None => Ok(names.into_iter().map(|name| name.to_ascii_lowercase()).collect()),
    }
}

/// Reads a duration in seconds: more than 0, at most a day.
pub(crate) fn seconds<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| !time.is_zero() && *time <= Duration::from_hours(24))
        .ok_or_else(|| {
            de::Error::custom(format!("invalid time {seconds}: expected seconds, more than 0 and at most a day"))
        })
}

/// The error in the daemon's settings.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is invalid. The message includes the line.
    #[error("{}: {message}", file.display())]
    Parse {
        /// The file.
        file: PathBuf,
        /// The error and its location.
        message: String,
    },
    /// The address is reachable from other machines without TLS, so tokens and events could be read in transit.
    #[error(
        "`{0}` is reachable from other machines: give `tls` a `certificate` and a `key`, or say `\"insecure\": true` \
         where something else encrypts"
    )]
    Open(Address),
    /// Records are required, but `records` is missing.
    #[error("`recordsRequired` needs `records`: `stdout`, `stderr` or a file")]
    NoRecords,
    /// Records are chained, but `records` is missing.
    #[error("`recordsChain` needs `records`: `stdout`, `stderr` or a file")]
    NoChainedRecords,
    /// Heads of records without the key that signs them, or the key without their file.
    #[error("`recordsChain` needs `key` and `heads`, or neither")]
    HalfChain,
}

impl Settings {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// [`SettingsError`]
    pub fn load(file: &Path) -> Result<Self, SettingsError> {
        let mut settings: Self = parse(file)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let from_here = |path: &mut PathBuf| *path = folder.join(&*path);
        from_here(&mut settings.tenants);
        settings.cache.iter_mut().for_each(from_here);
        if let Some(registries) = &mut settings.registries {
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
        settings.tls.iter_mut().for_each(|tls| [&mut tls.certificate, &mut tls.key].into_iter().for_each(from_here));
        settings
            .records
            .iter_mut()
            .filter(|path| !STREAMS.iter().any(|stream| *path == Path::new(stream)))
            .for_each(from_here);
        if let Some(chain) = &mut settings.records_chain {
            chain.key.iter_mut().chain(&mut chain.heads).for_each(from_here);
        }
        for address in settings.listen.iter_mut().chain(&mut settings.admin) {
            if let Address::Unix(path) = address {
                from_here(path);
            }
        }
        if let Some(state) = settings.state.as_mut().filter(|state| !state.contains("://")) {
            *state = folder.join(&*state).to_string_lossy().into_owned();
        }
        settings.check()?;
        Ok(settings)
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
    let bytes = FilePath::anywhere(file).read(MAX_BYTES).map_err(failed)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| SettingsError::Parse { file: file.to_owned(), message: error.to_string() })
}

/// The tokens of an operator or of a tenant.
pub(crate) type Tokens = Vec<Token>;
