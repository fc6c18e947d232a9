//! The one HTTP client: of the http capability, the http handler and the language models.

use std::{
    error::Error,
    net::{IpAddr, SocketAddr},
    sync::OnceLock,
};

use reqwest::{
    Client, Method, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::HeaderMap,
    redirect::Policy,
};
use thiserror::Error as ThisError;

use super::address::is_public;
use crate::capability::{HttpError, HttpResponse};

/// Which addresses an exchange may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Public ones: for URLs that a component chose.
    Public,
    /// All: for URLs that the configuration names.
    Anywhere,
}

/// One request, checked by the caller.
pub(crate) struct Exchange {
    pub(crate) reach: Reach,
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
    /// Bytes of the response's body at most. What is larger is not read to its end.
    pub(crate) max_response: usize,
}

/// Sends one request and reads the response. Redirects are responses as any other.
pub(crate) async fn send(exchange: Exchange) -> Result<HttpResponse, HttpError> {
    let Exchange { reach, method, url, headers, body, max_response } = exchange;
    // A resolver is asked about names only. The URL parser has made plain addresses of forms such as `0x7f.1`.
    let literal = url.host_str().and_then(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().ok());
    if let Some(address) = literal.filter(|address| reach == Reach::Public && !is_public(*address)) {
        return Err(HttpError::Denied(Private { name: address.to_string(), address }.to_string()));
    }
    let mut request = client(reach)?.request(method, url).headers(headers);
    if let Some(body) = body {
        request = request.body(body);
    }
    let mut response = request.send().await.map_err(error)?;
    let too_large = || HttpError::TooLarge(format!("the response has more than {max_response} bytes"));
    let announced = response.content_length().unwrap_or_default();
    if usize::try_from(announced).is_ok_and(|length| length > max_response) {
        return Err(too_large());
    }
    let headers = response
        .headers()
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let mut whole = HttpResponse { status: response.status().as_u16(), headers: headers.collect(), body: Vec::new() };
    while let Some(chunk) = response.chunk().await.map_err(error)? {
        if whole.body.len() + chunk.len() > max_response {
            return Err(too_large());
        }
        whole.body.extend_from_slice(&chunk);
    }
    Ok(whole)
}

fn client(reach: Reach) -> Result<&'static Client, HttpError> {
    static PUBLIC: OnceLock<Result<Client, String>> = OnceLock::new();
    static ANYWHERE: OnceLock<Result<Client, String>> = OnceLock::new();
    let cell = match reach {
        Reach::Public => &PUBLIC,
        Reach::Anywhere => &ANYWHERE,
    };
    cell.get_or_init(|| build(reach)).as_ref().map_err(|why| HttpError::Failed(why.clone()))
}

/// No redirects (the caller checks each), no proxy from the environment (it would resolve names where we cannot check
/// them), and no connection kept: none is shared between hooks, and each one's address is checked.
fn build(reach: Reach) -> Result<Client, String> {
    let builder = Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .pool_max_idle_per_host(0)
        .referer(false)
        .user_agent(concat!("hookbox/", env!("CARGO_PKG_VERSION")));
    let builder = match reach {
        Reach::Public => builder.dns_resolver(std::sync::Arc::new(PublicOnly)),
        Reach::Anywhere => builder,
    };
    builder.build().map_err(|e| chain(&e))
}

/// Resolves names to public addresses. The connection is made to the addresses returned here, so a name cannot be
/// another one when it is checked than when it is used (DNS rebinding).
struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            match found.iter().find(|address| !is_public(address.ip())) {
                Some(address) => Err(Private { name: name.as_str().to_owned(), address: address.ip() }.into()),
                None => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

#[derive(Debug, ThisError)]
#[error("{name} is the address {address}, which is not public")]
struct Private {
    name: String,
    address: IpAddr,
}

fn error(error: reqwest::Error) -> HttpError {
    // The URL may hold what is secret.
    let error = error.without_url();
    let mut source = error.source();
    while let Some(inner) = source {
        if let Some(private) = inner.downcast_ref::<Private>() {
            return HttpError::Denied(private.to_string());
        }
        source = inner.source();
    }
    HttpError::Failed(chain(&error))
}

/// An error with its causes.
fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |inner| (*inner).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
