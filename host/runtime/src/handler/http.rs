//! The `http` handler: a POST of the event.

use async_trait::async_trait;
use hookbox_protocol::{Cause, Failure};
use reqwest::{
    Method, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};

use super::{Call, Handler, Report, read_output};
use crate::capability::http::client::{Exchange, Reach, send};

/// An http handler.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    /// Where the event goes.
    pub(crate) url: String,
    /// With these headers.
    pub(crate) headers: Vec<(String, String)>,
}

#[async_trait]
impl Handler for Http {
    async fn call(&self, call: Call<'_>) -> Report {
        let body = post(&self.url, &self.headers, &call.event.raw.to_string()).await;
        body.and_then(|body| read_output(&call, &body)).into()
    }
}

/// Bytes of the answer at most.
const MAX_ANSWER: usize = 1024 * 1024;

/// Posts the event's JSON and returns the body of a 2xx response, which is what a command would have printed.
///
/// Private addresses are allowed: the URL is the configuration's, not a component's. Redirects are not followed. The
/// caller keeps the time: dropping the future ends the exchange.
///
/// # Errors
/// Other statuses and connection errors: [`Cause::Http`]; a body over 1 MiB is
/// [`Cause::OutputTooLarge`].
pub async fn post(url: &str, headers: &[(String, String)], event_json: &str) -> Result<Vec<u8>, Failure> {
    let failed = |message: String| Failure::new(Cause::Http, message);
    let url = Url::parse(url).map_err(|e| failed(format!("the URL: {e}")))?;
    let mut map = HeaderMap::new();
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in headers {
        let header =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| failed(format!("{name:?} is no header name")))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| failed(format!("the value of {name} is none")))?;
        value.set_sensitive(true);
        map.insert(header, value);
    }
    let response = send(Exchange {
        reach: Reach::Anywhere,
        method: Method::POST,
        url,
        headers: map,
        body: Some(event_json.as_bytes().to_vec()),
        max_response: MAX_ANSWER,
    })
    .await
    .map_err(|error| match error {
        crate::capability::HttpError::TooLarge(why) => Failure::new(Cause::OutputTooLarge, why),
        other => failed(other.to_string()),
    })?;
    match response.status {
        200..=299 => Ok(response.body),
        status => Err(failed(format!("status {status}"))),
    }
}
