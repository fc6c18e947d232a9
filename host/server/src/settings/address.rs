//! The address of a listener.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use serde::{Deserialize, de};

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

/// Reads one address or several.
pub(super) fn one_or_many<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Vec<Address>, D::Error> {
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
