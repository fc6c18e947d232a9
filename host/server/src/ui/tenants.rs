//! Tenants and their hooks: their state, quotas, usage and errors.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::viewer::Viewer;
use crate::{app::App, tenants::Overview};

/// The timeout for the state sizes of all tenants.
const SIZES: Duration = Duration::from_secs(1);
/// The maximum number of tenants whose state is measured for one response.
const MEASURED: usize = 200;

/// The tenants that a viewer may see: all of them, or only `scope`.
fn seen(app: &App, viewer: &Viewer, scope: Option<&str>) -> Vec<Overview> {
    let mut tenants = app.tenants.overview();
    tenants.retain(|tenant| viewer.may_see(&tenant.name) && scope.is_none_or(|scope| scope == tenant.name));
    tenants.sort_by(|one, other| one.name.cmp(&other.name));
    tenants
}

/// The tenants as JSON.
pub async fn json(app: &App, viewer: &Viewer, scope: Option<&str>, now: i64) -> Value {
    let mut list = Vec::new();
    let (by, load) = (Instant::now() + SIZES, app.gate.load());
    for (index, tenant) in seen(app, viewer, scope).into_iter().enumerate() {
        let state =
            if index < MEASURED { app.runtime.state_bytes(&tenant.name, by).await.ok().flatten() } else { None };
        let (waiting, judging) = load.get(&tenant.name).copied().unwrap_or_default();
        let error = tenant.error.as_ref().map(|error| {
            let text = if viewer.is_operator() { &error.text } else { &error.public_text };
            json!({ "text": text, "since": error.at })
        });
        let sets = tenant.tenant.iter().flat_map(|tenant| &tenant.sets);
        let dialects = sets.map(|(dialect, set)| json!({ "dialect": dialect, "hooks": set.config().hooks.len() }));
        list.push(json!({
            "tenant": tenant.name, "standing": tenant.standing, "error": error, "loaded": tenant.loaded,
            "failClosed": tenant.closed, "dialects": dialects.collect::<Vec<_>>(), "tokens": tokens(app, &tenant),
            "quotas": tenant.tenant.as_ref().map(|tenant| tenant.usage.json()), "stateBytes": state,
            "waiting": waiting, "judging": judging,
            "problems": app.console.as_ref().map(|console| console.history.problems(Some(&tenant.name))),
        }));
    }
    json!({ "now": now, "tenants": list })
}

/// The start of each token's hash, by which its owner can identify it, and the time since when it is known.
fn tokens(app: &App, tenant: &Overview) -> Vec<Value> {
    let tokens = tenant.tokens.iter().map(ToString::to_string);
    tokens
        .map(|hash| {
            let since = app.console.as_ref().and_then(|console| console.token_since(&hash));
            let short: String = hash.chars().take("sha256:".len() + 8).collect();
            json!({ "hash": short, "since": since })
        })
        .collect()
}

/// The hooks as JSON.
pub fn hooks(app: &App, viewer: &Viewer, scope: Option<&str>, now: i64) -> Value {
    let mut list = Vec::new();
    let Some(console) = &app.console else { return Value::Null };
    for tenant in seen(app, viewer, scope) {
        let mut sets: Vec<_> = tenant.tenant.iter().flat_map(|tenant| tenant.sets.values()).collect();
        sets.sort_by_key(|set| set.dialect().name());
        for set in sets {
            let dialect = set.dialect().name();
            list.extend(set.facts().into_iter().map(|facts| {
                let counters = console.hooks.json(&tenant.name, dialect, &facts.pointer, now);
                let mut hook = json!(facts);
                if let Some(hook) = hook.as_object_mut() {
                    hook.insert("tenant".into(), tenant.name.clone().into());
                    hook.insert("dialect".into(), dialect.into());
                    hook.insert("counters".into(), counters);
                }
                hook
            }));
        }
    }
    json!({ "now": now, "hooks": list })
}
