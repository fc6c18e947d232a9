//! The administrator's endpoints: health, readiness and metrics.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{Response, StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use serde_json::{Map, Value, json};

use crate::{
    app::{App, Phase},
    problem::Problem,
    routes::{method, refuse},
};

/// The reason in `/readyz` for a tenant whose files are invalid.
const REFUSED: &str = "its files are invalid; the daemon's log has the reason";

/// The three paths that need no token.
pub fn routes() -> Router<Arc<App>> {
    Router::new().route("/metrics", get(metrics)).route("/healthz", get(healthz)).route("/readyz", get(readyz))
}

/// The router for a separate listener.
pub fn alone() -> Router<Arc<App>> {
    routes().method_not_allowed_fallback(method).fallback(|app, request| {
        refuse(
            app,
            request,
            Problem::Unknown("unknown path: this address serves /metrics, /healthz and /readyz".into()),
        )
    })
}

async fn metrics(State(app): State<Arc<App>>) -> Response<Body> {
    let serving = app.tenants.serving();
    let gauges = [
        ("hookbox_components", app.runtime.components()),
        ("hookbox_pool_running", app.runtime.running()),
        ("hookbox_body_bytes", app.bodies.taken()),
        ("hookbox_tenants", serving.len()),
        ("hookbox_tenants_refused", app.tenants.refused().len()),
    ];
    #[expect(clippy::cast_precision_loss, reason = "a count of what is in memory")]
    let number = |count: usize| count as f64;
    for (name, value) in gauges {
        metrics::gauge!(name).set(number(value));
    }
    // Only known tenants have series, so requests cannot create any.
    let mut load = app.gate.load();
    for tenant in serving {
        let (waiting, judging) = load.remove(&tenant).unwrap_or_default();
        metrics::gauge!("hookbox_queue_waiting", "tenant" => tenant.clone()).set(number(waiting));
        metrics::gauge!("hookbox_judging", "tenant" => tenant).set(number(judging));
    }
    for tenant in app.tenants.overview() {
        if let Some(bytes) = tenant.tenant.as_ref().map(|tenant| tenant.matcher_bytes()) {
            metrics::gauge!("hookbox_matcher_bytes", "tenant" => tenant.name).set(number(bytes));
        }
    }
    let loads = app.runtime.loads();
    for (from, count) in [("memory", loads.memory), ("cache", loads.cache), ("compiler", loads.compiler)] {
        metrics::counter!("hookbox_component_loads_total", "from" => from).absolute(count);
    }
    let own = Arc::clone(&app);
    // With the priority of large events, so that scraping delays no small ones.
    let page = app.processor.share("", usize::MAX, async move {
        own.pages.page(|| {
            own.forget_series();
            own.metrics.render()
        })
    });
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page.await).into_response()
}

async fn healthz() -> &'static str {
    "ok\n"
}

/// Readiness. An invalid file of one tenant does not make the daemon unready; the tenant is only listed.
async fn readyz(State(app): State<Arc<App>>) -> Response<Body> {
    let phase = *app.phase.borrow();
    let ready = phase == Phase::Serving && app.tenants.is_ready();
    let body = json!({
        "ready": ready,
        "draining": phase > Phase::Serving,
        "tenants": app.tenants.serving().len(),
        // This needs no token, so reasons, which may quote files, are only in the log.
        "refused": app.tenants.refused().into_iter().map(|name| (name, REFUSED.into())).collect::<Map<_, Value>>(),
    });
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, [(header::CONTENT_TYPE, "application/json")], format!("{body}\n")).into_response()
}
