//! What carries out one exchange, without any policy of its own.

use async_trait::async_trait;
use hookbox_sandbox::capability::{HttpError, HttpResponse};
use http::HeaderMap;

/// Sends requests: for the http capability, for `http` handlers and for models behind an HTTP interface.
///
/// The caller has checked method, URL and headers, and keeps the time: dropping the future ends the exchange. A client
/// follows no redirect (it is a response as any other), asks no proxy that would resolve names out of its sight, and keeps
/// no cookies. No connection should be shared between exchanges of different reach.
#[async_trait]
pub trait HttpClient: Send + Sync {
    /// Sends one request and reads the response.
    ///
    /// # Errors
    /// [`HttpError::Denied`] when [`Reach::Public`] is asked for and the name resolves to an address of which
    /// [`is_public`](super::is_public) says no; [`HttpError::TooLarge`] when the body is larger than
    /// [`Exchange::max_response`], of which no more than that may be kept in memory; [`HttpError::Failed`] otherwise.
    async fn send(&self, exchange: Exchange) -> Result<HttpResponse, HttpError>;
}

/// Which addresses an exchange may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Public ones: for URLs that a component chose.
    Public,
    /// All: for URLs that the configuration names.
    Anywhere,
}

/// One request, checked by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Where it may go.
    pub reach: Reach,
    /// For example `GET`.
    pub method: String,
    /// Absolute, `http` or `https`.
    pub url: String,
    /// Names and values, in order; values may be secret.
    pub headers: Vec<(String, String)>,
    /// The body, if any.
    pub body: Option<Vec<u8>>,
    /// Bytes of the response's body at most. What is larger is not read to its end.
    pub max_response: usize,
}

/// Names and values, in order.
pub(crate) fn pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}
