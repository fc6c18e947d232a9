//! The shipped HTTP client.

use std::{
    error::Error,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
};

use async_trait::async_trait;
use hookbox_sandbox::capability::{HttpError, HttpResponse};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use reqwest::{
    Client,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect::Policy,
};
use thiserror::Error as ThisError;

use super::{
    address::{is_public, not_public},
    client::{Exchange, HttpClient, Reach, pairs},
};

/// An [`HttpClient`] over `reqwest` and rustls. It starts with the first request.
#[derive(Debug, Default)]
pub struct ReqwestClient {
    public: OnceLock<Result<Client, String>>,
    anywhere: OnceLock<Result<Client, String>>,
}

impl ReqwestClient {
    fn client(&self, reach: Reach) -> Result<&Client, HttpError> {
        let cell = match reach {
            Reach::Public => &self.public,
            Reach::Anywhere => &self.anywhere,
        };
        cell.get_or_init(|| build(reach)).as_ref().map_err(|why| HttpError::Failed(why.clone()))
    }
}

#[async_trait]
impl HttpClient for ReqwestClient {
    async fn send(&self, exchange: Exchange) -> Result<HttpResponse, HttpError> {
        let Exchange { reach, method, url, headers, body, max_response } = exchange;
        let method = Method::from_bytes(method.as_bytes())
            .map_err(|_| HttpError::Failed(format!("{method:?} is not a method")))?;
        let mut request = self.client(reach)?.request(method, url).headers(header_map(&headers)?);
        if let Some(body) = body {
            request = request.body(body);
        }
        let mut response = request.send().await.map_err(error)?;
        let too_large = || HttpError::TooLarge(format!("the response has more than {max_response} bytes"));
        let announced = response.content_length().unwrap_or_default();
        if usize::try_from(announced).is_ok_and(|length| length > max_response) {
            return Err(too_large());
        }
        let (status, headers) = (response.status().as_u16(), pairs(response.headers()));
        let mut whole = HttpResponse { status, headers, body: Vec::new() };
        while let Some(chunk) = response.chunk().await.map_err(error)? {
            if whole.body.len() + chunk.len() > max_response {
                return Err(too_large());
            }
            whole.body.extend_from_slice(&chunk);
        }
        Ok(whole)
    }
}

fn header_map(headers: &[(String, String)]) -> Result<HeaderMap, HttpError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let bad = || HttpError::Failed(format!("invalid header {name:?}: invalid name or value"));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        map.append(name, value);
    }
    Ok(map)
}

/// Builds a client without redirects (the caller checks each), without a proxy (which would resolve names unchecked),
/// and without kept connections (they would be shared between hooks and skip the address check).
fn build(reach: Reach) -> Result<Client, String> {
    let builder = Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .pool_max_idle_per_host(0)
        .referer(false)
        .user_agent(concat!("hookbox/", env!("CARGO_PKG_VERSION")));
    let builder = match reach {
        Reach::Public => builder.dns_resolver(Arc::new(PublicOnly)),
        Reach::Anywhere => builder,
    };
    builder.build().map_err(|e| chain(&e))
}

/// A DNS resolver that returns only public addresses. The connection uses the addresses that were checked here, which
/// prevents DNS rebinding.
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
#[error("{}", not_public(name, *address))]
struct Private {
    name: String,
    address: IpAddr,
}

fn error(error: reqwest::Error) -> HttpError {
    // The URL may contain secrets.
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

/// An error message with its causes.
fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |inner| (*inner).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
