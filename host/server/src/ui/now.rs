//! The numbers of the start page: of a window, of the last minute, and of each tenant.

use serde_json::{Value, json};

use super::{health, viewer::Viewer};
use crate::{
    app::App,
    console::history::{Point, WINDOWS, Window},
};

/// The last minute, in milliseconds.
const MINUTE: i64 = 60_000;
/// The number of points in a tenant's small chart.
const PARTS: i64 = 60;

/// The numbers of one tenant or of all.
pub fn json(app: &App, viewer: &Viewer, scope: Option<&str>, window: Window, now: i64) -> Value {
    let Some(console) = &app.console else { return Value::Null };
    let history = &console.history;
    let load = app.gate.load();
    let mut names: Vec<String> = app.tenants.overview().into_iter().map(|tenant| tenant.name).collect();
    names.retain(|name| viewer.may_see(name) && scope.is_none_or(|scope| scope == name));
    names.sort();
    let tenants: Vec<Value> = names
        .iter()
        .map(|name| {
            let (waiting, judging) = load.get(name).copied().unwrap_or_default();
            json!({
                "tenant": name, "sum": history.sum(Some(name), window, now).json(),
                "minute": minute(app, Some(name), now), "shape": history.shape(name, window, PARTS, now),
                "waiting": waiting, "judging": judging, "problems": history.problems(Some(name)),
            })
        })
        .collect();
    json!({
        "now": now, "window": window.name, "daemon": health::daemon(app),
        "columns": history.columns(scope, window, now),
        "sum": history.sum(scope, window, now).json(), "minute": minute(app, scope, now),
        "starts": history.starts(now - window.step * window.length), "tenants": tenants,
    })
}

/// The counts of the last minute, and the seconds of it in which the daemon ran.
fn minute(app: &App, tenant: Option<&str>, now: i64) -> Value {
    let Some(console) = &app.console else { return Value::Null };
    let [finest, ..] = WINDOWS;
    let there = (now - console.started).clamp(1000, MINUTE);
    let point: Point = console.history.since(tenant, finest, now - there);
    let mut counts = point.json();
    if let Some(counts) = counts.as_object_mut() {
        counts.insert("seconds".into(), (there / 1000).into());
    }
    counts
}
