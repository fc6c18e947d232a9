//! Checks `Host` for the paths that a browser can read without a token.
//!
//! Any website can make its own name resolve to this daemon's address (DNS rebinding). The browser then treats the
//! daemon's responses as that site's. Such a request has the site's name in `Host`, so only known names are accepted.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Uri, header, uri::Authority},
    middleware::Next,
    response::Response,
};

use crate::{app::App, problem::Problem, routes::refuse};

/// The paths of tenants. They need a token, which other sites do not have. Rejecting a request here would let a tool
/// call pass.
const TENANTS: &str = "/v1/";

/// The name for which the client verified the certificate (SNI). A browser with any other name does not complete the
/// handshake.
#[derive(Debug, Clone)]
pub struct Verified(pub String);

/// Passes on only requests for known hosts.
pub async fn known(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let verified = request.extensions().get::<Verified>().map(|Verified(name)| name.as_str());
    let tenants = request.uri().path().starts_with(TENANTS);
    if tenants || is_known(request.headers(), request.uri(), &app.settings.hosts, verified) {
        next.run(request).await
    } else {
        refuse(State(app), request, Problem::Host).await
    }
}

/// Returns true if the request names an IP address, `localhost`, a configured name or the verified one, or no host:
/// HTTP/1.0, which no browser uses.
fn is_known(headers: &HeaderMap, uri: &Uri, hosts: &[String], verified: Option<&str>) -> bool {
    let mut given = headers.get_all(header::HOST).iter();
    let (first, second) = (given.next(), given.next());
    let named = |host: &str| {
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
        address.parse::<IpAddr>().is_ok()
            || host == "localhost"
            || hosts.contains(&host)
            || verified.is_some_and(|name| name.eq_ignore_ascii_case(&host))
    };
    let in_header = match first {
        _ if second.is_some() => false,
        None => true,
        Some(host) => {
            let authority = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
            // Only a host and a port are accepted: `Authority::host` of `[::1].evil.example` is `[::1]`.
            authority.is_some_and(|authority| {
                let rest = authority.as_str().strip_prefix(authority.host());
                let port = rest.map(|rest| rest.strip_prefix(':').unwrap_or(rest));
                port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit())) && named(authority.host())
            })
        }
    };
    in_header && uri.host().is_none_or(named)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use axum::http::{HeaderMap, HeaderValue, Uri, header};

    use super::is_known;

    fn asks(hosts: &[&str], uri: &str) -> bool {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, HeaderValue::from_str(host).unwrap());
        }
        is_known(&headers, &uri.parse::<Uri>().unwrap(), &["hooks.example.com".to_owned()], Some("tls.example.com"))
    }

    #[test]
    fn addresses_localhost_and_configured_names_are_known() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:8750",
            "[::1]:8750",
            "[::1]",
            "10.1.2.3:80",
            "localhost:1",
            "LocalHost.",
            "Hooks.Example.Com:443",
            "tls.example.com",
        ] {
            assert!(asks(&[host], "/metrics"), "{host}");
        }
        assert!(asks(&[], "/metrics"));
    }

    #[test]
    fn unlisted_names_are_refused() {
        for host in [
            "",
            "evil.example",
            "evil.example:8750",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.1@evil.example",
            "evil.example@127.0.0.1",
            "hooks.example.com.evil.example",
            "xhooks.example.com",
            "[::1].evil.example",
            "a b",
            "2130706433",
            "0x7f.1",
        ] {
            assert!(!asks(&[host], "/metrics"), "{host}");
        }
        assert!(!asks(&["127.0.0.1", "evil.example"], "/metrics"));
        assert!(!asks(&["127.0.0.1"], "http://evil.example/metrics"));
    }
}
