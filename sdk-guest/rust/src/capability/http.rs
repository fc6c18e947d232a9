//! HTTP exchanges with the hosts on the hook's allow-list.
//!
//! ```
//! use hookbox_guest::prelude::*;
//!
//! # hookbox_guest::testing::host().on_http(|_| Ok(http::Response { status: 204, headers: vec![], body: vec![] }));
//! let response = http::Request::post("https://api.example.com/events").json(&json!({"tool": "Bash"})).send()?;
//! if !response.is_success() {
//!     log::warn(format!("the event was not taken: {}", response.status));
//! }
//! # Ok::<(), Fault>(())
//! ```

use std::fmt;

use serde_json::Value;

use super::host;
use crate::bindings::shared::hookbox::hooks::http as wit;
use crate::{Fault, Json, Result};

pub use wit::{Request, Response};

/// A failed exchange. An error status is not a failure: see [`Response::is_success`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Not on the allow-list, a private address, or a redirect that leaves the list.
    Denied(String),
    /// The request or the response is larger than granted.
    TooLarge(String),
    /// The hook's deadline passed.
    Timeout,
    /// No connection, broken exchange or malformed request.
    Failed(String),
}

impl Request {
    /// Creates a request with this method.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self { method: method.into(), url: url.into(), headers: Vec::new(), body: None }
    }

    /// Creates a `GET` request.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// Creates a `POST` request.
    pub fn post(url: impl Into<String>) -> Self {
        Self::new("POST", url)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body = Some(bytes.into());
        self
    }

    /// Sets the body to JSON, and the content type.
    #[must_use]
    pub fn json(self, value: &Value) -> Self {
        self.header("content-type", "application/json").body(value.to_string())
    }

    /// Sends the request and waits for the response.
    pub fn send(&self) -> Result<Response, Error> {
        Ok(host::http::send(self)?)
    }
}

impl Response {
    /// Returns true for a status from 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the first header with this name. Case does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// Returns the body as text.
    pub fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.body).map_err(|error| Fault::Failed(format!("http: the body is not text: {error}")))
    }

    /// Returns the body as JSON.
    pub fn json(&self) -> Result<Json> {
        serde_json::from_slice::<Value>(&self.body)
            .map(Json::from)
            .map_err(|error| Fault::Failed(format!("http: the body is not JSON: {error}")))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(why) => write!(f, "http: denied: {why}"),
            Self::TooLarge(why) => write!(f, "http: too large: {why}"),
            Self::Timeout => f.write_str("http: no answer in time"),
            Self::Failed(why) => write!(f, "http: {why}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<wit::Error> for Error {
    fn from(error: wit::Error) -> Self {
        match error {
            wit::Error::Denied(why) => Self::Denied(why),
            wit::Error::TooLarge(why) => Self::TooLarge(why),
            wit::Error::Timeout => Self::Timeout,
            wit::Error::Failed(why) => Self::Failed(why),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::failed(error)
    }
}
