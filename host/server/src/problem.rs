//! The problems of requests, as `application/problem+json` (RFC 9457). Their types are stable.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
};
use serde_json::{Value, json};
use thiserror::Error;

/// The reason why a request gets no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The body is not a valid event of the dialect.
    #[error("{0}")]
    Event(String),
    /// A header or the query is invalid.
    #[error("{0}")]
    Request(String),
    /// The token is missing or unknown.
    #[error("give the tenant's token: `Authorization: Bearer TOKEN`")]
    Token,
    /// The token belongs to another tenant.
    #[error("this token belongs to another tenant")]
    Foreign,
    /// The path is unknown, or the tenant has no hooks of this dialect.
    #[error("{0}")]
    Unknown(String),
    /// `Host` is neither an IP address nor a known name.
    #[error("unknown host name: add it to `hosts` in serve.json, or use an IP address")]
    Host,
    /// The method is not supported for the path.
    #[error("use POST")]
    Method,
    /// The body exceeds the limit, in KiB.
    #[error("the body is larger than {0} KiB")]
    TooLarge(u32),
    /// The body did not arrive in time.
    #[error("the body did not arrive in time")]
    Slow,
    /// The tenant's quota is exhausted.
    #[error("over quota: {what}")]
    OverQuota {
        /// The exhausted quota.
        what: &'static str,
        /// The time until the quota allows another request.
        after: Duration,
    },
    /// A queue or the memory for bodies is full.
    #[error("{0}")]
    Busy(&'static str),
    /// The daemon is shutting down.
    #[error("the daemon is shutting down")]
    Draining,
    /// The tenant's files are invalid.
    #[error("the tenant's hooks cannot be used: {0}")]
    Unusable(String),
    /// The record of the verdict could not be written, and records are required.
    #[error("the verdict could not be recorded, and `recordsRequired` is set")]
    Unrecorded,
    /// The deadline passed before the verdict.
    #[error("there was no verdict within {0:?}")]
    Deadline(Duration),
}

impl Problem {
    /// The HTTP status.
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::Event(_) | Self::Request(_) => StatusCode::BAD_REQUEST,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::Foreign => StatusCode::FORBIDDEN,
            Self::Unknown(_) => StatusCode::NOT_FOUND,
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::OverQuota { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy(_) | Self::Draining | Self::Unrecorded | Self::Unusable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Deadline(_) => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// The name in `type` and in metrics.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Event(_) => "invalid-event",
            Self::Request(_) => "invalid-request",
            Self::Token => "no-token",
            Self::Foreign => "foreign-token",
            Self::Unknown(_) => "not-found",
            Self::Host => "unknown-host",
            Self::Method => "method",
            Self::TooLarge(_) => "too-large",
            Self::Slow => "slow-body",
            Self::OverQuota { .. } => "over-quota",
            Self::Busy(_) => "busy",
            Self::Draining => "draining",
            Self::Unusable(_) => "unusable",
            Self::Unrecorded => "unrecorded",
            Self::Deadline(_) => "deadline",
        }
    }

    /// Returns true if the problem was detected immediately, and not by a timeout.
    pub const fn is_refusal(&self) -> bool {
        !matches!(self, Self::Slow | Self::Deadline(_) | Self::Draining)
    }

    /// The time after which a retry may succeed.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::OverQuota { after, .. } => Some(*after),
            Self::Busy(_) | Self::Draining => Some(Duration::from_secs(1)),
            _ => None,
        }
    }

    /// The JSON of `application/problem+json`.
    pub fn body(&self) -> Value {
        json!({
            "type": format!("urn:hookbox:problem:{}", self.name()),
            "title": self.status().canonical_reason(),
            "status": self.status().as_u16(),
            "detail": self.to_string(),
        })
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.body().to_string()));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(after) = self.retry_after() {
            // Whole seconds, rounded up.
            headers.insert(
                header::RETRY_AFTER,
                HeaderValue::from(after.as_secs().saturating_add(u64::from(after.subsec_nanos() > 0))),
            );
        }
        if self == Self::Token {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
