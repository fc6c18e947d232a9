//! `serve.json`: the operator's settings of the daemon.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, de};
use thiserror::Error;

use crate::{files::Place, records::STREAMS, token::Token};

/// A file of settings is small; a larger one is a mistake.
pub(crate) const MAX_BYTES: u64 = 1 << 20;

/// Settings of the daemon. Relative paths are relative to their file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settings {
    /// Where it listens: `IP:PORT` or `unix:PATH`, one or several. Port 0 is any that is free.
    #[serde(deserialize_with = "one_or_many")]
    pub listen: Vec<Address>,
    /// The folder of tenants: one file each.
    pub tenants: PathBuf,
    /// Where `/metrics`, `/healthz` and `/readyz` are; with the rest unless given, as long as that is on loopback.
    #[serde(default)]
    pub admin: Option<Address>,
    /// Names under which browsers reach it. `/metrics`, `/healthz`, `/readyz` and `/ui` answer to these, to IP addresses and to
    /// `localhost` alone: any page can make its own name point here.
    #[serde(default, deserialize_with = "host_names")]
    pub hosts: Vec<String>,
    /// Certificate and key; without them HTTP is plain.
    #[serde(default)]
    pub tls: Option<TlsFiles>,
    /// Lets it listen beyond loopback without TLS, where something else encrypts.
    #[serde(default)]
    pub insecure: bool,
    /// Seconds within which every request is answered, unless the tenant or the client says less.
    #[serde(default = "defaults::timeout", deserialize_with = "seconds")]
    pub timeout: Duration,
    /// Seconds that requests get to end when the daemon is told to.
    #[serde(default = "defaults::drain", deserialize_with = "seconds")]
    pub drain: Duration,
    /// Seconds that a tenant whose file is gone is still known: its calls are refused or blocked, and not those of a
    /// stranger.
    #[serde(default = "defaults::grace", deserialize_with = "seconds")]
    pub grace: Duration,
    /// The largest body, in KiB.
    #[serde(default = "defaults::body", rename = "maxBodyKiB")]
    pub max_body_kib: u32,
    /// Memory for the bodies of requests, from before they are read until they are answered, in MiB. It has room for one of
    /// the largest in any case.
    #[serde(default = "defaults::body_memory", rename = "bodyMemoryMiB")]
    pub body_memory_mib: u32,
    /// Connections at once: for one more an idle one is closed.
    #[serde(default = "defaults::connections")]
    pub max_connections: u32,
    /// Events that are judged at once, of all tenants together.
    #[serde(default = "defaults::concurrency")]
    pub concurrency: u32,
    /// Components that run at once.
    #[serde(default = "defaults::instances")]
    pub max_instances: u32,
    /// The largest `memoryMiB` a hook may have.
    #[serde(default = "defaults::memory", rename = "maxMemoryMiB")]
    pub max_memory_mib: u32,
    /// A `SQLite` file, `redis://…` or `rediss://…`; a file in the user's state folder unless given.
    #[serde(default)]
    pub state: Option<String>,
    /// The daemon's name in the console; the machine's unless given.
    #[serde(default)]
    pub name: Option<String>,
    /// Hashes of the operators' tokens. Without one there is no `/ui`.
    #[serde(default)]
    pub operators: Tokens,
    /// Where every verdict goes as a line of JSON: `stdout`, `stderr`, or a file.
    #[serde(default)]
    pub records: Option<PathBuf>,
    /// Blocks where a verdict cannot be recorded. Otherwise such a record is lost, and counted.
    #[serde(default)]
    pub records_required: bool,
    /// The OpenTelemetry collector that traces go to over HTTP, as in `http://127.0.0.1:4318`.
    #[serde(default)]
    pub otlp: Option<String>,
    /// How the log is written, on stderr.
    #[serde(default)]
    pub log: LogForm,
    /// Where compiled components are kept; the user's cache folder unless given.
    #[serde(default)]
    pub cache: Option<PathBuf>,
}

/// How a log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogForm {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// A certificate chain and its key, PEM.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TlsFiles {
    /// The chain, its own certificate first.
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

/// Where something listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl Address {
    /// Returns true if only this machine reaches it.
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

/// Names without a scheme or a port, in lower case.
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

/// More than 0, at most a day.
pub(crate) fn seconds<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| !time.is_zero() && *time <= Duration::from_hours(24))
        .ok_or_else(|| de::Error::custom(format!("{seconds} is not a time: seconds, more than 0 and at most a day")))
}

/// Why the daemon cannot be set up so.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is not what it should be; the message has the line.
    #[error("{}: {message}", file.display())]
    Parse {
        /// The file.
        file: PathBuf,
        /// What, and where.
        message: String,
    },
    /// It would be reached from elsewhere, and anybody on the way could read tokens and events.
    #[error(
        "`{0}` is reached from beyond this machine: give `tls` a `certificate` and a `key`, or say `\"insecure\": true` \
         where something else encrypts"
    )]
    Open(Address),
    /// Records are required, and go nowhere.
    #[error("`recordsRequired` needs `records`: `stdout`, `stderr` or a file")]
    NoRecords,
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
        settings.tls.iter_mut().for_each(|tls| [&mut tls.certificate, &mut tls.key].into_iter().for_each(from_here));
        settings
            .records
            .iter_mut()
            .filter(|path| !STREAMS.iter().any(|stream| *path == Path::new(stream)))
            .for_each(from_here);
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

    /// Returns true if everything it listens on is for this machine alone.
    pub fn is_local(&self) -> bool {
        self.listen.iter().all(Address::is_local)
    }

    /// Bytes of memory for the bodies of requests.
    pub(crate) fn body_memory(&self) -> usize {
        let kib = u64::from(self.max_body_kib).max(u64::from(self.body_memory_mib) * 1024);
        usize::try_from(kib.saturating_mul(1024)).unwrap_or(usize::MAX)
    }

    fn check(&self) -> Result<(), SettingsError> {
        let open = self.listen.iter().chain(&self.admin).find(|address| !address.is_local());
        if self.records_required && self.records.is_none() {
            return Err(SettingsError::NoRecords);
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
    let bytes = Place::anywhere(file).read(MAX_BYTES).map_err(failed)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| SettingsError::Parse { file: file.to_owned(), message: error.to_string() })
}

/// Those of an operator or of a tenant.
pub(crate) type Tokens = Vec<Token>;
