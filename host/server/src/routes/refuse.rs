//! Rejects requests, and counts all responses.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{Extensions, HeaderMap, Response, request::Parts},
    response::IntoResponse,
};

use super::headers;
use crate::{answer::Answer, app::App, event::TimeLimit, idle::TrackedConnection, problem::Problem};

/// The delay of a rejection.
pub const PACE: Duration = Duration::from_millis(50);

/// Rejects a request whose path has no such method.
pub async fn method(app: State<Arc<App>>, request: Request) -> Response<Body> {
    refuse(app, request, Problem::Method).await
}

/// Rejects a request for which there is no tenant, and counts it.
pub async fn refuse(State(app): State<Arc<App>>, request: Request, problem: Problem) -> Response<Body> {
    let began = Instant::now();
    let (Parts { headers, extensions, .. }, _) = request.into_parts();
    pace(&app, &headers, &extensions, began).await;
    let answer = Answer::Problem(problem);
    answered("", began, &answer);
    answer.into_response()
}

/// Delays a rejection slightly, but not beyond the deadline. Otherwise a client that retries immediately would use the
/// CPU time of others.
pub(super) async fn pace(app: &App, headers: &HeaderMap, extensions: &Extensions, began: Instant) {
    // The connection may be closed during the delay.
    if let Some(connection) = extensions.get::<Arc<TrackedConnection>>() {
        connection.done();
    }
    let limit = headers::timeout(headers).ok().flatten().unwrap_or(app.settings.timeout);
    let _ = tokio::time::timeout_at(TimeLimit { began, limit }.deadline(), tokio::time::sleep(PACE)).await;
}

/// Counts a response. `tenant` is empty unless the request was authenticated, because the path of other requests is
/// untrusted text.
pub(super) fn answered(tenant: &str, began: Instant, answer: &Answer) {
    let outcome = answer.problem().map_or("judged", Problem::name);
    let tenant = tenant.to_owned();
    metrics::histogram!("hookbox_request_seconds", "tenant" => tenant.clone()).record(began.elapsed().as_secs_f64());
    metrics::counter!("hookbox_requests_total", "tenant" => tenant, "outcome" => outcome).increment(1);
}
