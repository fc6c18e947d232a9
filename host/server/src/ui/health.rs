//! The health of the daemon: its version, load and errors.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::viewer::Viewer;
use crate::{
    app::{App, Phase},
    clock::unix_ms,
    console::feed::KEPT,
    traces::Exports,
};

/// The timeout of the store.
const STORE: Duration = Duration::from_secs(2);

/// The daemon's identity.
pub fn daemon(app: &App) -> Value {
    let console = app.console.as_ref();
    json!({
        "name": app.settings.name.clone().unwrap_or_else(host_name), "version": env!("CARGO_PKG_VERSION"),
        "started": console.map(|console| console.started), "epoch": console.map(|console| console.feed.epoch().to_owned()),
    })
}

/// The name of this machine.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok());
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "hookbox".into())
}

/// The resident memory of this process in bytes, if the operating system reports it.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().split(' ').next()?.parse::<u64>();
    kib.ok()?.checked_mul(1024)
}

/// Checks that the store responds.
pub async fn store(app: &App) -> Result<(), String> {
    // No tenant has this name.
    let asked = app.runtime.state_bytes("", Instant::now() + STORE).await;
    asked.map(|_| ()).map_err(|error| error.to_string())
}

/// The health as JSON. An owner gets the version and the readiness, an operator everything.
pub async fn json(app: &App, viewer: &Viewer) -> Value {
    let phase = *app.phase.borrow();
    let ready = phase == Phase::Serving && app.tenants.is_ready();
    let (engine, daemon) = (hookbox::sandbox::ENGINE, daemon(app));
    let mut health = json!({
        "now": unix_ms(), "daemon": daemon, "engine": engine, "ready": ready, "draining": phase > Phase::Serving,
    });
    if let (true, Some(health)) = (viewer.is_operator(), health.as_object_mut()) {
        health.extend(full(app).await.as_object().cloned().unwrap_or_default());
    }
    health
}

/// The collector of traces: its address and how it answered.
fn collector(to: &str, app: &App) -> Value {
    let exported = app.exports.as_ref().map(Exports::so_far).unwrap_or_default();
    let (error, since) = exported.error.unzip();
    let to = reqwest::Url::parse(to).ok().map(|mut url| {
        // Fails only for addresses that cannot have a password.
        let _ = url.set_password(None).and_then(|()| url.set_username(""));
        url.to_string()
    });
    json!({
        "to": to, "accepted": exported.accepted, "failed": exported.failed, "last": exported.last,
        "error": error, "since": since,
    })
}

async fn full(app: &App) -> Value {
    let settings = &app.settings;
    let (waiting, judging) =
        app.gate.load().values().fold((0, 0), |(waiting, judging), (w, j)| (waiting + w, judging + j));
    let loads = app.runtime.loads();
    let metric = |name: &str| app.metrics.value(name);
    let store = store(app).await;
    let kind = match &settings.state {
        Some(state) if state.contains("://") => "a server",
        Some(_) => "a SQLite file",
        None => "a SQLite file in the user's state folder",
    };
    let refused: Vec<Value> = app
        .tenants
        .overview()
        .into_iter()
        .filter_map(|tenant| {
            let error = tenant.error?;
            Some(json!({ "tenant": tenant.name, "text": error.text, "since": error.at, "serves": tenant.tenant.is_some() }))
        })
        .collect();
    let console = app.console.as_ref().map(|console| {
        let (verdicts, bytes) = console.feed.size();
        json!({ "verdicts": verdicts, "most": KEPT, "bytes": bytes, "streams": console.streams.open() })
    });
    json!({
        "listen": settings.listen.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "tenants": app.tenants.serving().len(), "refused": refused,
        "pool": { "running": app.runtime.running(), "most": settings.max_instances },
        "components": {
            "loaded": app.runtime.components(), "memory": loads.memory, "cache": loads.cache, "compiler": loads.compiler,
        },
        "queue": { "waiting": waiting, "judging": judging, "most": settings.concurrency },
        "memory": memory(), "bodies": { "taken": app.bodies.taken(), "most": settings.body_memory() },
        "connections": {
            "open": metric("hookbox_connections"), "most": settings.max_connections,
            "madeRoom": metric("hookbox_connections_made_room_total"),
            "refused": metric("hookbox_connections_refused_total"),
        },
        "store": { "kind": kind, "error": store.err() },
        "records": {
            "to": settings.records.as_ref().map(|path| path.display().to_string()), "required": settings.records_required,
            "lost": metric("hookbox_records_lost_total"), "logLost": metric("hookbox_log_lines_lost_total"),
        },
        "collector": settings.otlp.as_ref().map(|to| collector(to, app)),
        "certificate": app.tls.as_ref().map(|tls| json!({ "ends": tls.ends() })),
        "problems": app.metrics.by_label("hookbox_requests_total", "outcome"),
        "console": console,
    })
}
