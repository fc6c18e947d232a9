//! The trait for HTTP clients. A client sends requests and enforces no policy except the reach.

use async_trait::async_trait;
use hookbox_sandbox::capability::{HttpError, HttpResponse};
use http::HeaderMap;

/// Sends requests for the http capability, for `http` handlers and for models with an HTTP API.
///
/// The caller has checked the method, the URL and the headers. It also enforces the deadline: dropping the future
/// cancels the request. A client must not follow redirects (they are normal responses), use a proxy (which would
/// resolve names unchecked) or keep cookies. Requests of different reach should not share connections.
#[async_trait]
pub trait HttpClient: Send + Sync {
    /// Sends one request and reads the response.
    ///
    /// # Errors
    /// [`HttpError::Denied`] if the reach is [`Reach::Public`] and the name resolves to an address that is not
    /// [public](super::is_public). [`HttpError::TooLarge`] if the body exceeds [`Exchange::max_response`]; the client
    /// must not buffer more than that. [`HttpError::Failed`] otherwise.
    async fn send(&self, exchange: Exchange) -> Result<HttpResponse, HttpError>;
}

/// The addresses that a request may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Only public addresses. For URLs that a component chose.
    Public,
    /// All addresses. For URLs in the configuration.
    Anywhere,
}

/// One request, checked by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The addresses that it may reach.
    pub reach: Reach,
    /// The method, for example `GET`.
    pub method: String,
    /// The absolute URL, `http` or `https`.
    pub url: String,
    /// Header names and values, in order. Values may be secret.
    pub headers: Vec<(String, String)>,
    /// The body, if any.
    pub body: Option<Vec<u8>>,
    /// The maximum size of the response body, in bytes. Reading stops there.
    pub max_response: usize,
}

/// The names and values of headers, in order.
pub(crate) fn pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}
