//! The hosts that the client may connect to, and the options of each.

use std::{collections::BTreeMap, net::IpAddr};

use hookbox::capability::http::{Reach, is_public};
use serde::Deserialize;
use url::Url;

/// Allowed hosts in private networks or without TLS, by `HOST` or `HOST:PORT`; with a list, also the only hosts
/// that are allowed.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    named: BTreeMap<String, HostOptions>,
    only: Option<Vec<String>>,
}

/// Options for one host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostOptions {
    /// The host may have a private or loopback address.
    #[serde(default)]
    pub private: bool,
    /// Connections do not use TLS.
    #[serde(default)]
    pub plain_http: bool,
}

impl Hosts {
    /// Allows only public hosts over TLS.
    pub fn public() -> Self {
        Self::default()
    }

    /// Sets the options of a host.
    #[must_use]
    pub fn with(mut self, host: impl Into<String>, terms: HostOptions) -> Self {
        self.named.insert(host.into().to_ascii_lowercase(), terms);
        self
    }

    /// Allows a host that the user named on the command line: also in a private network, and without TLS on this machine.
    #[must_use]
    pub fn vouched(self, host: &str) -> Self {
        let terms = self.terms(host);
        self.with(host, HostOptions { private: true, ..terms })
    }

    /// Allows only these hosts.
    #[must_use]
    pub fn only(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.only = Some(hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect());
        self
    }

    fn terms(&self, host: &str) -> HostOptions {
        self.named.get(&host.to_ascii_lowercase()).copied().unwrap_or_default()
    }

    /// The URL scheme for a registry. As with Docker, a registry on this machine has no TLS.
    pub fn scheme(&self, host: &str) -> &'static str {
        let terms = self.terms(host);
        if terms.plain_http || terms.private && is_loopback(host) { "http" } else { "https" }
    }

    /// Checks a host that a reference names.
    ///
    /// # Errors
    /// The reason why the host is not allowed.
    pub fn check(&self, host: &str) -> Result<(), String> {
        match &self.only {
            Some(only) if !only.iter().any(|allowed| allowed == host) => Err("it is not an allowed registry".into()),
            _ => Ok(()),
        }
    }

    /// The addresses that a URL may resolve to: all if its host is configured as private, public ones otherwise.
    ///
    /// # Errors
    /// The address is not public, or the URL has no TLS and its host is not configured for that.
    pub fn reach(&self, url: &Url) -> Result<Reach, String> {
        let host = authority(url);
        let terms = self.terms(&host);
        if url.scheme() != "https" && self.scheme(&host) != url.scheme() {
            return Err("its URL has no TLS".into());
        }
        if terms.private {
            return Ok(Reach::Anywhere);
        }
        let literal = url.host_str().and_then(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().ok());
        if literal.is_some_and(|address| !is_public(address)) {
            return Err("it has a private address".into());
        }
        Ok(Reach::Public)
    }
}

/// The host of a URL, with its port if it is not the default.
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

    /// No other spelling of a name leads to it: hookbox is built without Unicode's tables for host names.
    #[test]
    fn host_names_are_ascii() {
        for url in
            ["https://bücher.example/", "https://１２７.0.0.1/", "https://127。0.0.1/", "https://ⓡegistry.example/"]
        {
            assert!(Url::parse(url).is_err(), "{url}");
        }
        Url::parse("https://xn--bcher-kva.example/").unwrap();
    }

    #[test]
    fn only_listed_hosts_are_reached() {
        let hosts = Hosts::public().only(["registry.example".to_owned()]);
        assert_eq!(hosts.check("registry.example"), Ok(()));
        assert!(hosts.check("evil.example").is_err());
    }
}
