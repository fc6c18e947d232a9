//! The operator's page: what was decided, live. Everything it needs is in the binary.

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::Body,
    extract::{Query, State},
    http::{HeaderMap, HeaderName, Response, header},
    response::IntoResponse,
    routing::get,
};
use serde::Deserialize;

use crate::{app::App, idle::Line, problem::Problem, routes::bearer, token::Token};

/// Its own files and nothing else; nothing in it is ever taken for code.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The page, its parts, and what it asks for.
pub fn routes() -> Router<Arc<App>> {
    let file = |kind: &'static str, text: &'static str| get(move || async move { secured(kind, text) });
    Router::new()
        .route("/ui", file("text/html; charset=utf-8", include_str!("ui/page.html")))
        .route("/ui/page.js", file("text/javascript; charset=utf-8", include_str!("ui/page.js")))
        .route("/ui/page.css", file("text/css; charset=utf-8", include_str!("ui/page.css")))
        .route("/ui/verdicts", get(verdicts))
}

#[derive(Deserialize)]
struct Wanted {
    #[serde(default)]
    first: u64,
    tenant: Option<String>,
}

/// The last verdicts, for whoever has an operator's token.
async fn verdicts(
    State(app): State<Arc<App>>,
    Query(wanted): Query<Wanted>,
    line: Option<Extension<Arc<Line>>>,
    headers: HeaderMap,
) -> Response<Body> {
    let token = bearer(&headers).map(Token::of);
    if !token.is_some_and(|token| token.is_among(&app.settings.operators)) {
        return Problem::Token.into_response();
    }
    if let Some(Extension(line)) = line {
        line.know();
    }
    let found = app.recent.since(wanted.first, wanted.tenant.as_deref());
    ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], found.to_string())
        .into_response()
}

fn secured(kind: &'static str, text: &'static str) -> Response<Body> {
    let headers: [(HeaderName, &str); 6] = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, text).into_response()
}
