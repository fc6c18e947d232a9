//! The answer to one event, and its HTTP response.

use axum::{
    body::Body,
    http::{self, HeaderName, HeaderValue, header},
    response::IntoResponse,
};
use hookbox::{ErrorKind, Response};

use crate::problem::Problem;

/// `Hookbox-Verdict`: the outcome in one word.
pub const VERDICT: HeaderName = HeaderName::from_static("hookbox-verdict");
/// `Hookbox-Problem`: the problem because of which the response is a block.
pub const PROBLEM: HeaderName = HeaderName::from_static("hookbox-problem");

/// The response to a client.
#[derive(Debug)]
pub enum Answer {
    /// The verdict of the hooks.
    Decided(Box<Response>),
    /// A block in the dialect's JSON, because of a problem.
    Blocked(Problem, Box<Response>),
    /// A problem of the daemon or of the request.
    Problem(Problem),
}

impl Answer {
    /// The answer for a response. `problem` is the reason why no hooks ran.
    pub fn of(response: Response, problem: Option<Problem>) -> Self {
        let own = response.error.as_ref().map(|error| match error.kind {
            ErrorKind::Event => Problem::Event(error.message.clone()),
            _ => Problem::Unusable(error.message.clone()),
        });
        match problem.or(own) {
            None => Self::Decided(Box::new(response)),
            // The failure policies of the hooks do not always block.
            Some(problem) if response.restricts => Self::Blocked(problem, Box::new(response)),
            Some(problem) => Self::Problem(problem),
        }
    }

    /// The bytes of the text that the client gets.
    pub const fn bytes(&self) -> usize {
        match self {
            Self::Decided(response) | Self::Blocked(_, response) => response.stdout.len(),
            Self::Problem(_) => 0,
        }
    }

    /// The problem, if there is one.
    pub const fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Decided(_) => None,
            Self::Blocked(problem, ..) | Self::Problem(problem) => Some(problem),
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> http::Response<Body> {
        match self {
            Self::Decided(response) => body(*response),
            Self::Blocked(problem, response) => {
                let mut response = body(*response);
                response.headers_mut().insert(PROBLEM, HeaderValue::from_static(problem.name()));
                response
            }
            Self::Problem(problem) => problem.into_response(),
        }
    }
}

/// The HTTP response: the dialect's JSON or text as the body, and the outcome in the header.
fn body(response: Response) -> http::Response<Body> {
    let kind = match (response.stdout.is_empty(), response.is_text) {
        (true, _) => None,
        (false, true) => Some("text/plain; charset=utf-8"),
        (false, false) => Some("application/json"),
    };
    let outcome = HeaderValue::from_str(&response.outcome);
    let mut answer = http::Response::new(Body::from(response.stdout));
    answer.headers_mut().extend(outcome.map(|outcome| (VERDICT, outcome)));
    answer.headers_mut().extend(kind.map(|kind| (header::CONTENT_TYPE, HeaderValue::from_static(kind))));
    answer
}
