//! The page of the console: its files, and its data for each viewer.
//!
//! Everything is bounded and read-only. Labels come from the configuration or from authenticated requests, never from
//! others. A viewer only gets the strings of its own tenants.

mod assets;
mod attention;
mod health;
mod now;
mod stream;
mod tenants;
mod viewer;

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Path, Query, State},
    http::{HeaderMap, HeaderName, Response, header},
    response::IntoResponse,
    routing::{MethodRouter, get},
};
use serde::Deserialize;
use serde_json::{Value, json};

use self::viewer::Viewer;
use crate::{
    app::App, bodies::FREE, clock::unix_ms, console::history::Window, idle::TrackedConnection, problem::Problem,
    tenant::Quotas, token::Token,
};

/// The header with which a client resumes a stream.
const LAST: HeaderName = HeaderName::from_static("last-event-id");

/// The headers of data.
const JSON: [(HeaderName, &str); 2] = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];

/// The routes of the page, its files and its data.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .merge(assets::routes())
        .route("/ui/api/me", get(me))
        .route("/ui/api/now", get(numbers))
        .route(
            "/ui/api/attention",
            view(|app, viewer, scope| async move { attention::json(&app, &viewer, scope.as_deref(), unix_ms()).await }),
        )
        .route(
            "/ui/api/hooks",
            view(|app, viewer, scope| async move { tenants::hooks(&app, &viewer, scope.as_deref(), unix_ms()) }),
        )
        .route(
            "/ui/api/tenants",
            view(|app, viewer, scope| async move { tenants::json(&app, &viewer, scope.as_deref(), unix_ms()).await }),
        )
        .route("/ui/api/health", get(health_of))
        .route("/ui/api/verdicts/{id}", get(verdict))
        .route("/ui/api/stream", get(verdicts))
}

/// The maximum time to wait until the folder of tenants is first read.
const FIRST_LOOK: Duration = Duration::from_secs(5);
/// The owner of the work and memory of operators. It is not a name of a tenant.
const OPERATORS: &str = "/operators";

type Connection = Option<Extension<Arc<TrackedConnection>>>;

#[derive(Debug, Deserialize)]
struct Filter {
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

/// Makes the data of a view as work of its viewer's tenant, so that it delays no other tenant. Its memory is the tenant's
/// until it is sent.
async fn answer<F: Future<Output = Value> + Send>(
    app: Arc<App>,
    (line, headers): (Connection, HeaderMap),
    tenant: Option<String>,
    view: impl FnOnce(Arc<App>, Viewer, Option<String>) -> F + Send + 'static,
) -> Response<Body> {
    let viewer = viewer(&app, &headers, line).await.and_then(|(viewer, _)| {
        let scope = viewer.scope(tenant.as_deref())?.map(str::to_owned);
        Ok((viewer, scope))
    });
    let (viewer, scope) = match viewer {
        Ok(viewer) => viewer,
        Err(problem) => return problem.into_response(),
    };
    let owner = viewer.owner().unwrap_or(OPERATORS).to_owned();
    let own = Arc::clone(&app);
    // With the priority of large events.
    let made = app.processor.share(&owner, usize::MAX, async move { view(own, viewer, scope).await.to_string() });
    let text = made.await;
    let mut held = app.bodies.of(&owner);
    if text.len() > FREE && !held.grow(text.len(), Quotas::default().body_memory()) {
        return Problem::Busy("unread responses use all the memory for them").into_response();
    }
    held.until_sent((JSON, text).into_response())
}

/// A route with the data of a view, of one tenant or of all that its viewer may see.
fn view<F: Future<Output = Value> + Send>(
    make: impl Fn(Arc<App>, Viewer, Option<String>) -> F + Clone + Send + Sync + 'static,
) -> MethodRouter<Arc<App>> {
    get(async move |State(app), Query(Filter { tenant, .. }), line: Connection, headers: HeaderMap| {
        answer(app, (line, headers), tenant, make).await
    })
}

async fn me(State(app): State<Arc<App>>, line: Connection, headers: HeaderMap) -> Response<Body> {
    answer(app, (line, headers), None, |app, viewer, _| async move {
        let own = match &viewer {
            Viewer::Operator => Vec::new(),
            Viewer::Owner(own) => own.clone(),
        };
        json!({ "operator": viewer.is_operator(), "tenants": own, "daemon": health::daemon(&app) })
    })
    .await
}

async fn numbers(
    State(app): State<Arc<App>>,
    Query(Filter { tenant, window }): Query<Filter>,
    line: Connection,
    headers: HeaderMap,
) -> Response<Body> {
    let window = Window::by_name(window.as_deref().unwrap_or_default());
    let make = move |app: Arc<App>, viewer: Viewer, scope: Option<String>| async move {
        now::json(&app, &viewer, scope.as_deref(), window, unix_ms())
    };
    answer(app, (line, headers), tenant, make).await
}

async fn health_of(State(app): State<Arc<App>>, line: Connection, headers: HeaderMap) -> Response<Body> {
    answer(app, (line, headers), None, |app, viewer, _| async move { health::json(&app, &viewer).await }).await
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
            Problem::Unknown("this verdict is no longer available: `records` in serve.json stores all verdicts".into())
        })
    });
    match found {
        Ok(entry) => (JSON, entry.record.clone()).into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn verdicts(State(app): State<Arc<App>>, line: Connection, headers: HeaderMap) -> Response<Body> {
    let (viewer, token) = match viewer(&app, &headers, line).await {
        Ok(viewer) => viewer,
        Err(problem) => return problem.into_response(),
    };
    let owner = viewer.owner().unwrap_or_default();
    let permit = app.console.as_ref().and_then(|console| console.streams.enter(owner));
    let Some(permit) = permit else { return Problem::Busy("too many streams are open already").into_response() };
    let last = headers.get(LAST).and_then(|id| id.to_str().ok());
    let Some(body) = stream::body(Arc::clone(&app), viewer, token, last, permit) else {
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
