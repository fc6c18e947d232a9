//! The headers of a request.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, header};

use crate::problem::Problem;

/// `Hookbox-Timeout`: the client's timeout in seconds.
const TIMEOUT: HeaderName = HeaderName::from_static("hookbox-timeout");

/// The bearer token of a request.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The client's timeout in the header.
pub fn timeout(headers: &HeaderMap) -> Result<Option<Duration>, Problem> {
    let Some(given) = headers.get(TIMEOUT) else { return Ok(None) };
    let seconds = given.to_str().ok().and_then(|text| text.trim().parse().ok());
    seconds
        .and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| !time.is_zero())
        .map(Some)
        .ok_or_else(|| Problem::Request("`Hookbox-Timeout` is a number of seconds, more than 0".into()))
}
