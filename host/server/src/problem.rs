//! What goes wrong with a request, as `application/problem+json` (RFC 9457). The types are stable.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
};
use serde_json::{Value, json};
use thiserror::Error;

/// Why a request gets no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The body is not an event of the dialect.
    #[error("{0}")]
    Event(String),
    /// A header or the query says what cannot be.
    #[error("{0}")]
    Request(String),
    /// No token, or one that is nobody's.
    #[error("give the tenant's token: `Authorization: Bearer TOKEN`")]
    Token,
    /// The token is another tenant's.
    #[error("this token is not the tenant's")]
    Foreign,
    /// There is no such path, or the tenant has no hooks of this dialect.
    #[error("{0}")]
    Unknown(String),
    /// `Host` names neither an IP address nor a known name.
    #[error("this host name is not known here: add it to `hosts` in serve.json, or ask by an IP address")]
    Host,
    /// The path takes other methods.
    #[error("use POST")]
    Method,
    /// The body is larger than it may be.
    #[error("the body is larger than {0} KiB")]
    TooLarge(u32),
    /// The body did not come in time.
    #[error("the body did not arrive in time")]
    Slow,
    /// The tenant has used what it may.
    #[error("over quota: {what}")]
    OverQuota {
        /// Of what.
        what: &'static str,
        /// When there is some again.
        after: Duration,
    },
    /// Too much waits already.
    #[error("{0}")]
    Busy(&'static str),
    /// The daemon ends.
    #[error("the daemon is shutting down")]
    Draining,
    /// The tenant's files cannot be used.
    #[error("the tenant's hooks cannot be used: {0}")]
    Unusable(String),
    /// The verdict could not be recorded, and had to be.
    #[error("the verdict could not be recorded, and `recordsRequired` is set")]
    Unrecorded,
    /// The deadline came first.
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

    /// Its name, in `type` and in metrics.
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

    /// Returns true if it was found at once, and not when some time was over.
    pub const fn is_refusal(&self) -> bool {
        !matches!(self, Self::Slow | Self::Deadline(_) | Self::Draining)
    }

    /// When it is worth trying again.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::OverQuota { after, .. } => Some(*after),
            Self::Busy(_) | Self::Draining => Some(Duration::from_secs(1)),
            _ => None,
        }
    }

    /// As `application/problem+json` has it.
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
            // Whole seconds, and not too early.
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
