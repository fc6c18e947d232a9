//! The `http` handler: sends the event in a POST request.

use std::sync::Arc;

use async_trait::async_trait;
use hookbox_protocol::{Cause, Failure};
use hookbox_sandbox::{Run, capability::HttpError};
use http::{HeaderName, HeaderValue};
use url::Url;

use super::{Call, Handler, bytes, read_output};
use crate::capability::http::{Exchange, HttpClient, Reach, check_address};

/// An `http` handler.
pub(crate) struct Http {
    /// The HTTP client.
    pub(crate) client: Arc<dyn HttpClient>,
    /// The addresses that it may reach.
    pub(crate) reach: Reach,
    /// The URL.
    pub(crate) url: String,
    /// Additional headers.
    pub(crate) headers: Vec<(String, String)>,
    /// The limit of the response body, in KiB.
    pub(crate) output_kib: u32,
}

#[async_trait]
impl Handler for Http {
    async fn call(&self, call: Call<'_>) -> Run {
        let (client, limit) = (self.client.as_ref(), bytes(self.output_kib));
        let body = post_within(self.reach, client, &self.url, &self.headers, call.event.raw.text(), limit).await;
        body.and_then(|body| read_output(&call, &body)).into()
    }
}

/// The default limit of the response body, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// Sends the event's JSON in a POST request. Returns the body of a 2xx response, which is read like a command's stdout.
///
/// Private addresses are allowed, because the URL is in the configuration and not from a component. Redirects are not
/// followed. The caller enforces the deadline: dropping the future cancels the request.
///
/// # Errors
/// [`Cause::Http`] for other statuses and connection errors. [`Cause::OutputTooLarge`] for a body over 1 MiB.
pub async fn post(
    client: &dyn HttpClient,
    url: &str,
    headers: &[(String, String)],
    event_json: &str,
) -> Result<Vec<u8>, Failure> {
    post_within(Reach::Anywhere, client, url, headers, event_json, MAX_ANSWER).await
}

async fn post_within(
    reach: Reach,
    client: &dyn HttpClient,
    url: &str,
    headers: &[(String, String)],
    event_json: &str,
    max_response: usize,
) -> Result<Vec<u8>, Failure> {
    let failed = |message: String| Failure::new(Cause::Http, message);
    let parsed = Url::parse(url).map_err(|e| failed(format!("the URL: {e}")))?;
    check_address(&parsed, reach).map_err(|error| failed(error.to_string()))?;
    let mut all = vec![("content-type".to_owned(), "application/json".to_owned())];
    for (name, value) in headers {
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| failed(format!("{name:?} is not a header name")))?;
        HeaderValue::from_str(value).map_err(|_| failed(format!("invalid value for header {name}")))?;
        // A configured header overrides the default.
        all.retain(|(given, _)| !given.eq_ignore_ascii_case(name));
        all.push((name.clone(), value.clone()));
    }
    let exchange = Exchange {
        reach,
        method: "POST".to_owned(),
        url: url.to_owned(),
        headers: all,
        body: Some(event_json.as_bytes().to_vec()),
        max_response,
    };
    let response = client.send(exchange).await.map_err(|error| match error {
        HttpError::TooLarge(why) => Failure::new(Cause::OutputTooLarge, why),
        other => failed(other.to_string()),
    })?;
    match response.status {
        200..=299 => Ok(response.body),
        status => Err(failed(format!("status {status}"))),
    }
}
