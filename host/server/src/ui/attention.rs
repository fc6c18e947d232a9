//! The list of problems for an operator, worst first: each entry names its tenant or hook, and since when.

use serde_json::{Value, json};

use super::{health, viewer::Viewer};
use crate::{app::App, clock::unix_ms, console::history::WINDOWS, tenants::Overview};

/// The maximum number of entries.
const ENTRIES: usize = 100;
/// The time for which a rejection counts as current, in ms.
const PRESENT: i64 = 5 * 60_000;
/// The time before a certificate expires from which it is listed, in ms.
const SOON: i64 = 21 * 24 * 3_600_000;
/// The 99th percentile of a tenant's time from which it counts as slow, in µs.
const SLOW: u64 = 100_000;
/// The number of events from which that percentile is meaningful.
const ENOUGH: u32 = 20;
/// The number of calls after which a monitored hook can be evaluated.
const WATCHED: u64 = 20;

/// The urgency of an entry, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    Bad,
    Warning,
    Note,
}

/// An entry of the list.
#[derive(Debug)]
struct Entry {
    urgency: Urgency,
    since: Option<i64>,
    value: Value,
}

impl Entry {
    fn new(urgency: Urgency, kind: &str, since: Option<i64>, text: String, mut about: Value) -> Self {
        let word = match urgency {
            Urgency::Bad => "bad",
            Urgency::Warning => "warning",
            Urgency::Note => "note",
        };
        if let Some(about) = about.as_object_mut() {
            about.insert("urgency".into(), word.into());
            about.insert("kind".into(), kind.into());
            about.insert("since".into(), since.into());
            about.insert("text".into(), text.into());
        }
        Self { urgency, since, value: about }
    }
}

/// The list as JSON.
pub async fn json(app: &App, viewer: &Viewer, scope: Option<&str>, now: i64) -> Value {
    let mut entries = Vec::new();
    if viewer.is_operator() && scope.is_none() {
        entries.extend(of_daemon(app).await);
    }
    for tenant in app.tenants.overview() {
        if viewer.may_see(&tenant.name) && scope.is_none_or(|scope| scope == tenant.name) {
            entries.extend(of_tenant(app, viewer, &tenant, now));
            entries.extend(of_hooks(app, &tenant, now));
        }
    }
    entries.sort_by_key(|entry| (entry.urgency, entry.since.unwrap_or(now)));
    let all = entries.len();
    let list: Vec<Value> = entries.into_iter().take(ENTRIES).map(|entry| entry.value).collect();
    json!({ "now": now, "all": all, "list": list })
}

fn of_tenant(app: &App, viewer: &Viewer, tenant: &Overview, now: i64) -> Vec<Entry> {
    let mut entries = Vec::new();
    let about = || json!({ "tenant": tenant.name });
    if let Some(error) = &tenant.error {
        let text = if viewer.is_operator() { &error.text } else { &error.public_text };
        let serves = tenant.tenant.is_some();
        let urgency = if serves { Urgency::Warning } else { Urgency::Bad };
        let kept = if serves { "; the previous files stay in use" } else { "" };
        let text = format!("{}{kept}", text.lines().next().unwrap_or_default());
        entries.push(Entry::new(urgency, "load", Some(error.at), text, about()));
    }
    let Some(console) = &app.console else { return entries };
    for (name, (count, last)) in console.history.problems(Some(&tenant.name)) {
        if now - last > PRESENT {
            continue;
        }
        let text = match name {
            "over-quota" => format!("over quota: {count} requests refused since the start"),
            "busy" => format!("queue full: {count} requests refused since the start"),
            "deadline" => format!("no verdict in time: {count} requests since the start"),
            "slow-body" => format!("bodies do not arrive: {count} requests since the start"),
            _ => continue,
        };
        entries.push(Entry::new(Urgency::Bad, name, Some(last), text, about()));
    }
    let [finest, ..] = WINDOWS;
    let sum = console.history.sum(Some(&tenant.name), finest, now);
    if let Some(p99) = sum.times.quantile(0.99).filter(|p99| *p99 >= SLOW && sum.decisions >= ENOUGH) {
        let text = format!("slow: the 99th percentile of its verdicts is {} ms", p99 / 1000);
        entries.push(Entry::new(Urgency::Warning, "slow", None, text, about()));
    }
    entries
}

fn of_hooks(app: &App, tenant: &Overview, now: i64) -> Vec<Entry> {
    let mut entries = Vec::new();
    let (Some(console), Some(loaded)) = (&app.console, &tenant.tenant) else { return entries };
    for set in loaded.sets.values() {
        let dialect = set.dialect().name();
        for facts in set.facts() {
            let counters = console.hooks.json(&tenant.name, dialect, &facts.pointer, now);
            let number = |name: &str| counters.get(name).and_then(Value::as_u64).unwrap_or_default();
            let about = || {
                json!({
                    "tenant": tenant.name, "dialect": dialect, "pointer": facts.pointer, "hook": facts.hook,
                })
            };
            if let Some(failing) = counters.get("failing").filter(|failing| failing.is_object()) {
                let text = |name: &str| failing.get(name).and_then(Value::as_str).unwrap_or_default();
                let count = failing.get("count").and_then(Value::as_u64).unwrap_or_default();
                let urgency = if facts.monitored { Urgency::Warning } else { Urgency::Bad };
                let public_text = format!("fails ({}): {count} times: {}", text("cause"), text("message"));
                let since = failing.get("since").and_then(Value::as_i64);
                entries.push(Entry::new(urgency, "failing", since, public_text, about()));
            }
            let (calls, would, asks) = (number("calls"), number("denied"), number("asked"));
            if facts.monitored && calls >= WATCHED {
                let asked = if asks > 0 { format!(", and asked the user about {asks}") } else { String::new() };
                let text = format!("monitored: would have denied {would} of {calls}{asked}");
                entries.push(Entry::new(Urgency::Note, "monitored", None, text, about()));
            }
            let half = facts.timeout_ms.saturating_mul(500);
            if calls >= u64::from(ENOUGH) && number("p99") >= half {
                let text = format!("near its timeout: {} of {} ms", number("p99") / 1000, facts.timeout_ms);
                entries.push(Entry::new(Urgency::Warning, "near-timeout", None, text, about()));
            }
        }
    }
    entries
}

async fn of_daemon(app: &App) -> Vec<Entry> {
    let mut entries = Vec::new();
    let about = || json!({});
    if let Some(end) = app.tls.as_ref().and_then(|tls| tls.ends())
        && end - unix_ms() < SOON
    {
        let days = (end - unix_ms()).div_euclid(24 * 3_600_000);
        let (urgency, text) = if days < 0 {
            (Urgency::Bad, "the certificate has expired".to_owned())
        } else {
            (Urgency::Warning, format!("the certificate expires in {days} days"))
        };
        entries.push(Entry::new(urgency, "certificate", None, text, about()));
    }
    for (metric, text) in [
        ("hookbox_records_lost_total", "verdicts could not be recorded"),
        ("hookbox_log_lines_lost_total", "log lines were lost"),
        ("hookbox_connections_refused_total", "connections were refused: `maxConnections` reached"),
    ] {
        let count = app.metrics.value(metric);
        if count > 0.0 {
            entries.push(Entry::new(Urgency::Warning, "lost", None, format!("{count} {text}"), about()));
        }
    }
    if let Some((error, since)) = app.exports.as_ref().and_then(|exports| exports.so_far().error) {
        let text = format!("the collector does not accept traces: {error}");
        entries.push(Entry::new(Urgency::Warning, "collector", Some(since), text, about()));
    }
    if let Err(error) = health::store(app).await {
        let text = format!("the state store does not respond: {error}");
        entries.push(Entry::new(Urgency::Bad, "store", None, text, about()));
    }
    entries
}
