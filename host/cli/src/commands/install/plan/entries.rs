//! The entries that an installation writes.

use std::time::Duration;

use hookbox_protocol::EventKind;
use serde_json::{Value, json};

use super::Target;
use crate::{
    clients::{Form, Scope, entry, plugin::Installed, settings::Settings, wiring::Wiring},
    exit::Exit,
};

/// The entries for the client's settings.
pub(super) fn entries(
    target: &Target,
    wiring: &Wiring,
    known: &[(String, Duration)],
    settings: &Settings,
) -> anyhow::Result<Vec<(String, Value)>> {
    let Target { client, scope, project, config, .. } = target;
    let words = entry::command_words(client, wiring, entry::program()?, config.to_string_lossy().into_owned());
    if client.form == Form::Process {
        return Ok(if known.is_empty() {
            Vec::new()
        } else {
            vec![("hookbox".into(), process(wiring, words, settings))]
        });
    }
    let line = entry::command_line(client, *scope, project, &words);
    let of = |(event, time): &(String, Duration)| {
        (event.clone(), entry::entry(client, wiring, &entry::fail_closed(client, wiring, event, &line), *time))
    };
    Ok(known.iter().map(of).collect())
}

/// `PicoClaw`'s entry: the requests and notifications that it gets, and the client's timeouts if its settings have any.
fn process(wiring: &Wiring, mut words: Vec<String>, settings: &Settings) -> Value {
    let dialect = wiring.config.dialect;
    let short = |name: &str| name.strip_prefix("hook.").unwrap_or(name).to_owned();
    let (mut intercept, mut observe): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for hook in &wiring.config.hooks {
        if hook.observe_only {
            observe.extend(hook.matcher_text.iter().flat_map(|kinds| kinds.split('|')).map(str::to_owned));
        } else if hook.events.is_empty() {
            let all = dialect.specs().iter().filter(|spec| spec.kind != EventKind::AgentEvent && spec.blockable);
            intercept.extend(all.map(|spec| short(spec.name)));
        }
        if !hook.observe_only {
            intercept.extend(hook.events.iter().map(|event| short(event)));
        }
    }
    for names in [&mut intercept, &mut observe] {
        names.sort();
        names.dedup();
    }
    let settings = settings.value();
    for (key, option) in [
        ("observer_timeout_ms", "--observer-timeout"),
        ("interceptor_timeout_ms", "--interceptor-timeout"),
        ("approval_timeout_ms", "--approval-timeout"),
    ] {
        let given = settings.pointer(&format!("/hooks/defaults/{key}")).and_then(Value::as_f64);
        if let Some(milliseconds) = given.filter(|milliseconds| *milliseconds > 0.0) {
            words.extend([option.to_owned(), (milliseconds / 1000.0).to_string()]);
        }
    }
    json!({
        "enabled": true, "priority": 100, "transport": "stdio",
        "command": words, "observe": observe, "intercept": intercept,
    })
}

/// The plugin with the settings of this installation.
pub(super) fn plugin(target: &Target, known: &[(String, Duration)]) -> anyhow::Result<String> {
    let below = target.config.strip_prefix(&target.project).ok().filter(|_| target.scope == Scope::Project);
    let config = below.unwrap_or(&target.config).to_string_lossy().into_owned();
    let longest = known.iter().map(|(_, time)| *time).max().unwrap_or_default();
    let milliseconds = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX).max(10_000);
    let installed = Installed { command: entry::program()?, config, timeout: milliseconds };
    installed.plugin().ok_or_else(|| Exit::Software.error("the plugin has no placeholder for its settings"))
}
