//! The routes of the console.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Path, Query, State},
    http::{HeaderMap, HeaderName, Response, header},
    response::IntoResponse,
    routing::get,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    assets, attention, health,
    history::{Window, unix_ms},
    now, stream, tenants,
    viewer::Viewer,
};
use crate::{app::App, idle::Line, problem::Problem, token::Token};

/// The header with which a client resumes a stream.
const LAST: HeaderName = HeaderName::from_static("last-event-id");

/// The routes of the page, its files and its data.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .merge(assets::routes())
        .route("/ui/api/me", get(me))
        .route("/ui/api/now", get(numbers))
        .route("/ui/api/attention", get(attention_list))
        .route("/ui/api/hooks", get(hooks))
        .route("/ui/api/tenants", get(tenant_list))
        .route("/ui/api/health", get(health_of))
        .route("/ui/api/verdicts/{id}", get(verdict))
        .route("/ui/api/stream", get(verdicts))
}

/// The maximum time to wait until the folder of tenants is first read.
const FIRST_LOOK: Duration = Duration::from_secs(5);

type Connection = Option<Extension<Arc<Line>>>;

#[derive(Debug, Deserialize)]
struct Asked {
    tenant: Option<String>,
    window: Option<String>,
}

/// The rights of a request. Marks its connection as authenticated. Delays the response to an unknown token.
async fn viewer(app: &App, headers: &HeaderMap, line: Connection) -> Result<(Viewer, Token), Problem> {
    // Until the folder is first read, no tenant's token is known, so no owner must be rejected.
    let _ = tokio::time::timeout(FIRST_LOOK, app.tenants.known("")).await;
    match Viewer::of(app, headers) {
        Ok(viewer) => {
            if let Some(line) = line {
                line.know();
            }
            Ok(viewer)
        }
        Err(problem) => {
            if let Some(line) = line {
                line.done();
            }
            tokio::time::sleep(crate::routes::PACE).await;
            Err(problem)
        }
    }
}

fn answer(found: Result<Value, Problem>) -> Response<Body> {
    match found {
        Ok(found) => {
            let kind = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
            (kind, found.to_string()).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

async fn me(State(app): State<Arc<App>>, line: Connection, headers: HeaderMap) -> Response<Body> {
    answer(viewer(&app, &headers, line).await.map(|(viewer, _)| {
        let own = match &viewer {
            Viewer::Operator => Vec::new(),
            Viewer::Owner(own) => own.clone(),
        };
        json!({ "operator": viewer.is_operator(), "tenants": own, "daemon": health::daemon(&app) })
    }))
}

async fn numbers(
    State(app): State<Arc<App>>,
    query: Query<Asked>,
    line: Connection,
    headers: HeaderMap,
) -> Response<Body> {
    answer(viewer(&app, &headers, line).await.and_then(|(viewer, _)| {
        let window = Window::by_name(query.window.as_deref().unwrap_or_default());
        let scope = viewer.scope(query.tenant.as_deref())?;
        Ok(now::json(&app, &viewer, scope, window, unix_ms()))
    }))
}

async fn attention_list(
    State(app): State<Arc<App>>,
    query: Query<Asked>,
    line: Connection,
    headers: HeaderMap,
) -> Response<Body> {
    let list = async {
        let (viewer, _) = viewer(&app, &headers, line).await?;
        let scope = viewer.scope(query.tenant.as_deref())?;
        Ok(attention::json(&app, &viewer, scope, unix_ms()).await)
    };
    answer(list.await)
}

async fn hooks(
    State(app): State<Arc<App>>,
    query: Query<Asked>,
    line: Connection,
    headers: HeaderMap,
) -> Response<Body> {
    answer(viewer(&app, &headers, line).await.and_then(|(viewer, _)| {
        let scope = viewer.scope(query.tenant.as_deref())?;
        Ok(tenants::hooks(&app, &viewer, scope, unix_ms()))
    }))
}

async fn tenant_list(
    State(app): State<Arc<App>>,
    query: Query<Asked>,
    line: Connection,
    headers: HeaderMap,
) -> Response<Body> {
    let list = async {
        let (viewer, _) = viewer(&app, &headers, line).await?;
        let scope = viewer.scope(query.tenant.as_deref())?;
        Ok(tenants::json(&app, &viewer, scope, unix_ms()).await)
    };
    answer(list.await)
}

async fn health_of(State(app): State<Arc<App>>, line: Connection, headers: HeaderMap) -> Response<Body> {
    let health = async {
        let (viewer, _) = viewer(&app, &headers, line).await?;
        Ok(health::json(&app, &viewer).await)
    };
    answer(health.await)
}

async fn verdict(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    line: Connection,
    headers: HeaderMap,
) -> Response<Body> {
    let found = viewer(&app, &headers, line).await.and_then(|(viewer, _)| {
        let found = app.console.as_ref().and_then(|console| console.feed.find(&id));
        // A viewer must not learn if another tenant's verdict exists.
        found.filter(|entry| viewer.may_see(&entry.tenant)).ok_or_else(|| {
            Problem::Unknown("this verdict is not kept any more: `records` in serve.json keeps all of them".into())
        })
    });
    match found {
        Ok(entry) => {
            let kind = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
            (kind, entry.record.clone()).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

async fn verdicts(State(app): State<Arc<App>>, line: Connection, headers: HeaderMap) -> Response<Body> {
    let (viewer, token) = match viewer(&app, &headers, line).await {
        Ok(viewer) => viewer,
        Err(problem) => return problem.into_response(),
    };
    let place = app.console.as_ref().and_then(|console| console.streams.enter(&viewer));
    let Some(place) = place else { return Problem::Busy("too many streams are open already").into_response() };
    let last = headers.get(LAST).and_then(|id| id.to_str().ok());
    let Some(body) = stream::body(Arc::clone(&app), viewer, token, last, place) else {
        return Problem::Draining.into_response();
    };
    let kind = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Otherwise nginx would buffer the messages.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (kind, body).into_response()
}
