//! For whoever runs the daemon: whether it lives, whether it serves, and what it has done.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{Response, StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_util::MetricKindMask;
use serde_json::json;

use crate::{
    app::{App, Phase},
    problem::Problem,
};

/// Seconds; from what a component takes to what a model does.
const SECONDS: [f64; 14] =
    [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];
/// Fuel; up to the default limit and beyond.
const FUEL: [f64; 8] = [1e3, 1e4, 1e5, 1e6, 1e7, 5e7, 1e9, 1e10];
/// A series that nothing was added to for so long is forgotten: that of a tenant or a hook that is gone.
const IDLE: Duration = Duration::from_hours(1);

/// Collects what the library and the daemon count, from now on and for the whole process.
///
/// # Errors
/// Only those of lists of buckets that are empty.
pub fn recorder() -> Result<PrometheusHandle, BuildError> {
    let recorder = PrometheusBuilder::new()
        .idle_timeout(MetricKindMask::ALL, Some(IDLE))
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_fuel".into()), &FUEL)?
        .build_recorder();
    let handle = recorder.handle();
    if metrics::set_global_recorder(recorder).is_err() {
        tracing::warn!("this process has a recorder of metrics already: /metrics shows nothing");
    }
    Ok(handle)
}

/// The three paths that need no token.
pub fn routes() -> Router<Arc<App>> {
    Router::new().route("/metrics", get(metrics)).route("/healthz", get(healthz)).route("/readyz", get(readyz))
}

/// On a listener of their own.
pub fn alone() -> Router<Arc<App>> {
    routes()
        .method_not_allowed_fallback(|| async { Problem::Method })
        .fallback(|| async { Problem::Unknown("here are /metrics, /healthz and /readyz".into()) })
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
    // Of tenants that are known: nobody else makes a series.
    let mut load = app.gate.load();
    for tenant in serving {
        let (waiting, judging) = load.remove(&tenant).unwrap_or_default();
        metrics::gauge!("hookbox_queue_waiting", "tenant" => tenant.clone()).set(number(waiting));
        metrics::gauge!("hookbox_judging", "tenant" => tenant).set(number(judging));
    }
    let loads = app.runtime.loads();
    for (from, count) in [("memory", loads.memory), ("cache", loads.cache), ("compiler", loads.compiler)] {
        metrics::counter!("hookbox_component_loads_total", "from" => from).absolute(count);
    }
    app.metrics.run_upkeep();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.render()).into_response()
}

async fn healthz() -> &'static str {
    "ok\n"
}

/// One tenant's mistake unreadies nobody: it is only named.
async fn readyz(State(app): State<Arc<App>>) -> Response<Body> {
    let phase = *app.phase.borrow();
    let ready = phase == Phase::Serving && app.tenants.is_ready();
    let body = json!({
        "ready": ready,
        "draining": phase > Phase::Serving,
        "tenants": app.tenants.serving().len(),
        "refused": app.tenants.refused(),
    });
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, [(header::CONTENT_TYPE, "application/json")], format!("{body}\n")).into_response()
}
