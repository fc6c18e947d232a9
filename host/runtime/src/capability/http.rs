//! The `hookbox:hooks/http` capability: requests to the origins that the hook's permissions allow.

mod address;
mod client;
#[cfg(feature = "http")]
mod reqwest;

use std::{net::IpAddr, sync::Arc};

use async_trait::async_trait;
use hookbox_sandbox::{
    capability::{Http, HttpError, HttpRequest, HttpResponse, Scope},
    permission::HttpGrant,
};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method,
    header::{AUTHORIZATION, CONTENT_TYPE, COOKIE},
};
use url::Url;

#[cfg(feature = "http")]
pub use self::reqwest::ReqwestClient;
pub use self::{
    address::is_public,
    client::{Exchange, HttpClient, Reach},
};

/// The maximum number of redirects to follow. Each target must be an allowed origin.
const MAX_REDIRECTS: usize = 5;

/// The maximum size of a request's headers (names and values), in bytes.
const MAX_HEADER_BYTES: usize = 32 * 1024;

/// Headers of the connection or of a single hop (RFC 9110, section 7.6.1). With them a component could make the host
/// and the server interpret the same request differently.
const REFUSED_HEADERS: [&str; 12] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The http capability of one hook.
pub struct HookHttp {
    client: Arc<dyn HttpClient>,
    grants: Vec<Grant>,
}

#[derive(Debug)]
struct Grant {
    origin: Url,
    methods: Vec<String>,
    reach: Reach,
    max_body: usize,
}

impl HookHttp {
    /// Creates the capability from the hook's grants.
    ///
    /// # Errors
    /// [`HttpError::Failed`] for an invalid origin.
    pub fn granted(client: Arc<dyn HttpClient>, grants: &[HttpGrant]) -> Result<Self, HttpError> {
        Ok(Self { client, grants: grants.iter().map(Grant::new).collect::<Result<_, _>>()? })
    }

    /// The grant for this method and URL. An error if no grant matches.
    fn grant(&self, method: &Method, url: &Url) -> Result<&Grant, HttpError> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HttpError::Denied("a URL may not contain a user name or password".into()));
        }
        let named = |grant: &&Grant| grant.origin.origin() == url.origin();
        let granted = |grant: &&Grant| grant.methods.iter().any(|m| m == method.as_str());
        self.grants
            .iter()
            .filter(named)
            .find(granted)
            .ok_or_else(|| HttpError::Denied(format!("{method} {} is not granted", url.origin().ascii_serialization())))
    }

    async fn follow(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let mut method = method(&request.method)?;
        let mut url = Url::parse(&request.url).map_err(|e| HttpError::Failed(format!("the URL: {e}")))?;
        let mut headers = headers(&request.headers)?;
        let mut body = request.body;
        for _ in 0..=MAX_REDIRECTS {
            let grant = self.grant(&method, &url)?;
            if let Some(length) = body.as_ref().map(Vec::len).filter(|length| *length > grant.max_body) {
                return Err(HttpError::TooLarge(format!(
                    "the request has {length} bytes, but only {} are granted",
                    grant.max_body
                )));
            }
            check_address(&url, grant.reach)?;
            let exchange = Exchange {
                reach: grant.reach,
                method: method.to_string(),
                url: url.to_string(),
                headers: client::pairs(&headers),
                body: body.clone(),
                max_response: grant.max_body,
            };
            let response = self.client.send(exchange).await?;
            let Some(next) = location(&url, &response)? else { return Ok(response) };
            if url.scheme() == "https" && next.scheme() != "https" {
                return Err(HttpError::Denied("a redirect from https to http".into()));
            }
            if next.origin() != url.origin() {
                headers.remove(AUTHORIZATION);
                headers.remove(COOKIE);
            }
            // RFC 9110, section 15.4: 303 becomes GET; for 301 and 302, POST does too.
            let becomes_get = match response.status {
                303 => method != Method::HEAD,
                301 | 302 => method == Method::POST,
                _ => false,
            };
            if becomes_get {
                (method, body) = (Method::GET, None);
                headers.remove(CONTENT_TYPE);
            }
            url = next;
        }
        Err(HttpError::Failed(format!("more than {MAX_REDIRECTS} redirects")))
    }
}

#[async_trait]
impl Http for HookHttp {
    async fn send(&self, scope: &Scope, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        tokio::time::timeout_at(scope.deadline.into(), self.follow(request)).await.unwrap_or(Err(HttpError::Timeout))
    }
}

impl Grant {
    fn new(grant: &HttpGrant) -> Result<Self, HttpError> {
        let details = grant.details();
        let origin = Url::parse(&details.origin).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        Ok(Self {
            origin: origin.ok_or_else(|| HttpError::Failed(format!("`{}` is not an origin", details.origin)))?,
            methods: details.methods,
            reach: if details.private { Reach::Anywhere } else { Reach::Public },
            max_body: usize::try_from(details.max_body_kib).unwrap_or(usize::MAX).saturating_mul(1024),
        })
    }
}

/// Checks a URL whose host is an IP address against `reach`. The URL parser has normalised forms such as `0x7f.1`. The
/// HTTP client checks the addresses of host names.
pub(crate) fn check_address(url: &Url, reach: Reach) -> Result<(), HttpError> {
    let literal = url.host_str().and_then(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().ok());
    match literal.filter(|address| reach == Reach::Public && !is_public(*address)) {
        Some(address) => Err(HttpError::Denied(address::not_public(&address.to_string(), address))),
        None => Ok(()),
    }
}

/// Parses a method. CONNECT (a tunnel) and TRACE (an echo) are never granted.
fn method(name: &str) -> Result<Method, HttpError> {
    match Method::from_bytes(name.as_bytes()) {
        Ok(Method::CONNECT | Method::TRACE) => Err(HttpError::Denied(format!("{name} is never granted"))),
        Ok(method) => Ok(method),
        Err(_) => Err(HttpError::Failed(format!("{name:?} is not a method"))),
    }
}

fn headers(pairs: &[(String, String)]) -> Result<HeaderMap, HttpError> {
    let bytes: usize = pairs.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > MAX_HEADER_BYTES {
        return Err(HttpError::TooLarge(format!(
            "the headers have {bytes} bytes, at most {MAX_HEADER_BYTES} are allowed"
        )));
    }
    let mut map = HeaderMap::new();
    for (name, value) in pairs {
        let bad = |_| HttpError::Failed(format!("{name:?} is not a header name"));
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(bad)?;
        if REFUSED_HEADERS.contains(&header.as_str()) {
            return Err(HttpError::Denied(format!("only the host may set the header `{header}`")));
        }
        let value = HeaderValue::from_str(value)
            .map_err(|_| HttpError::Failed(format!("invalid value for header `{header}`")))?;
        map.append(header, value);
    }
    Ok(map)
}

/// The target of a redirect.
fn location(from: &Url, response: &HttpResponse) -> Result<Option<Url>, HttpError> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some((_, to)) = response.headers.iter().find(|(name, _)| name == "location") else { return Ok(None) };
    from.join(to).map(Some).map_err(|e| HttpError::Failed(format!("the redirect's location: {e}")))
}
