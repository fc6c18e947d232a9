//! The HTTP routes for clients.

mod answers;
mod batch;
mod headers;

mod path;
mod refuse;
mod request;

use std::{sync::Arc, time::Instant};

use axum::{
    Router,
    body::Body,
    extract::{Path, Query, Request, State, rejection::QueryRejection},
    http::{Response, request::Parts},
    response::IntoResponse,
    routing::post,
};
use serde::Deserialize;
use tracing::Instrument;

use self::{
    batch::batch,
    path::Names,
    refuse::{answered, pace},
    request::TenantRequest,
};
pub use self::{
    headers::bearer,
    refuse::{PACE, method, refuse},
};
use crate::{
    answer::Answer,
    app::App,
    bodies::{FREE, Read},
    event::TenantEvent,
    problem::Problem,
};

/// The routes for clients.
pub fn api() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/{tenant}/{dialect}", post(one))
        .route("/v1/{tenant}/{dialect}/batch", post(batch))
        .method_not_allowed_fallback(method)
        .fallback(|app, request| refuse(app, request, Problem::Unknown(path::UNKNOWN.into())))
}

/// The query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryParameters {
    /// The event's name, if its JSON does not carry it.
    event: Option<String>,
}

/// Decides on one event.
async fn one(
    State(app): State<Arc<App>>,
    names: Names,
    query: Result<Query<QueryParameters>, QueryRejection>,
    incoming: Request,
) -> Response<Body> {
    let Ok(Path(names)) = names else {
        return refuse(State(app), incoming, Problem::Unknown(path::UNKNOWN.into())).await;
    };
    let began = Instant::now();
    let (Parts { headers, extensions, .. }, body) = incoming.into_parts();
    let found = TenantRequest::find(&app, &names, &headers, began).await;
    let mut held = None;
    let answer = match &found {
        Err(problem) => Answer::Problem(problem.clone()),
        Ok(request) => {
            let deciding = async {
                let (name, invalid) = match query {
                    Ok(Query(QueryParameters { event })) => (event, request.invalid_header.clone()),
                    Err(error) => (None, Some(Problem::Request(error.body_text()))),
                };
                let connection = request.mark_connection(&extensions);
                let Read { wire, problem, held: mut memory } = request.body(&app, body, connection.as_ref()).await;
                let request = request.when_loaded(&app).await?;
                let event = TenantEvent { wire, name, time: request.time };
                let answer = request.decide(&app, &event, problem.or(invalid)).await;
                let answer = if answer.bytes() > FREE {
                    let (answer, bytes) = request.take_memory(&event, answer, &mut memory);
                    memory.shrink_to(bytes);
                    held = Some(memory);
                    answer
                } else {
                    answer
                };
                Ok(answer)
            };
            let decided = deciding.instrument(request.span(&headers)).await;
            decided.unwrap_or_else(|problem| request.undecided(&app, problem))
        }
    };
    if answer.problem().is_some_and(Problem::is_refusal) {
        pace(&app, &headers, &extensions, began).await;
    }
    answered(TenantRequest::label(&found), began, &answer);
    let response = answer.into_response();
    match held {
        Some(held) => held.until_sent(response),
        None => response,
    }
}
