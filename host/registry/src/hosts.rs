//! Which hosts may be reached, and how.

use std::{collections::BTreeMap, net::IpAddr};

use hookbox::capability::http::{Reach, is_public};
use serde::Deserialize;
use url::Url;

/// Hosts in private networks and without TLS that may be reached anyway, by `HOST` or `HOST:PORT`; and, where
/// that is given, the only hosts that may be reached at all.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    named: BTreeMap<String, HostOptions>,
    only: Option<Vec<String>>,
}

/// Options for one host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostOptions {
    /// It may be in a private network, or this machine.
    #[serde(default)]
    pub private: bool,
    /// It is spoken to without TLS.
    #[serde(default)]
    pub plain_http: bool,
}

impl Hosts {
    /// Public hosts over TLS, and no others.
    pub fn public() -> Self {
        Self::default()
    }

    /// Allows a host what these terms say.
    #[must_use]
    pub fn with(mut self, host: impl Into<String>, terms: HostOptions) -> Self {
        self.named.insert(host.into().to_ascii_lowercase(), terms);
        self
    }

    /// Allows a host that its user names on a command line: in a private network too, and without TLS on this machine.
    #[must_use]
    pub fn vouched(self, host: &str) -> Self {
        let terms = self.terms(host);
        self.with(host, HostOptions { private: true, ..terms })
    }

    /// Allows these hosts alone.
    #[must_use]
    pub fn only(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.only = Some(hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect());
        self
    }

    fn terms(&self, host: &str) -> HostOptions {
        self.named.get(&host.to_ascii_lowercase()).copied().unwrap_or_default()
    }

    /// The scheme that a registry is spoken to by. As with Docker, a registry on this machine has no TLS.
    pub fn scheme(&self, host: &str) -> &'static str {
        let terms = self.terms(host);
        if terms.plain_http || terms.private && is_loopback(host) { "http" } else { "https" }
    }

    /// Checks a host that a reference names.
    ///
    /// # Errors
    /// Why it may not be reached.
    pub fn check(&self, host: &str) -> Result<(), String> {
        match &self.only {
            Some(only) if !only.iter().any(|allowed| allowed == host) => {
                Err("it is not one of the registries that are allowed here".into())
            }
            _ => Ok(()),
        }
    }

    /// The addresses that a URL may lead to: all where its host is named as private, public ones otherwise.
    ///
    /// # Errors
    /// It is an address that is not public, or has no TLS although its host is not named for that.
    pub fn reach(&self, url: &Url) -> Result<Reach, String> {
        let host = authority(url);
        let terms = self.terms(&host);
        if url.scheme() != "https" && self.scheme(&host) != url.scheme() {
            return Err("it would be spoken to without TLS".into());
        }
        if terms.private {
            return Ok(Reach::Anywhere);
        }
        let literal = url.host_str().and_then(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().ok());
        if literal.is_some_and(|address| !is_public(address)) {
            return Err("it is an address in a private network".into());
        }
        Ok(Reach::Public)
    }
}

/// The host of a URL, with its port where that is not the scheme's.
pub(crate) fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use hookbox::capability::http::Reach;
    use url::Url;

    use super::{HostOptions, Hosts};

    #[test]
    fn private_hosts_have_to_be_named() {
        let private = HostOptions { private: true, plain_http: false };
        let hosts = Hosts::public().with("localhost:5000", private).with("Registry.corp", private);
        let reach = |url: &str| hosts.reach(&Url::parse(url).unwrap());
        assert_eq!(reach("http://localhost:5000/v2/"), Ok(Reach::Anywhere));
        assert_eq!(reach("https://registry.corp/v2/"), Ok(Reach::Anywhere));
        assert_eq!(reach("https://registry.example/v2/"), Ok(Reach::Public));
        for url in [
            "http://registry.example/v2/",
            "http://registry.corp/v2/",
            "http://localhost:5001/v2/",
            "https://127.0.0.1/v2/",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/v2/",
            "https://[::ffff:10.0.0.1]/v2/",
            "https://0x7f.1/v2/",
        ] {
            assert!(reach(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_list_of_hosts_is_all_that_is_reached() {
        let hosts = Hosts::public().only(["registry.example".to_owned()]);
        assert_eq!(hosts.check("registry.example"), Ok(()));
        assert!(hosts.check("evil.example").is_err());
    }
}
