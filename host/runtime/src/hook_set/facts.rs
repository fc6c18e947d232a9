//! Facts about hooks, for programs that display them.

use hookbox_protocol::authority::{Authority, Rewrite};
use hookbox_sandbox::permission::{HttpGrant, LlmGrant, Permissions, StateGrant};
use serde::Serialize;

use super::HookSet;
use crate::{
    config::{Handler, Mode},
    hooks::Entry,
};

/// Facts about a hook of a [`HookSet`]: its handler, its events and its rights.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HookFacts {
    /// The hook's name.
    pub hook: String,
    /// Its JSON pointer in the configuration.
    pub pointer: String,
    /// The type of its handler: `wasm`, `command`, …
    pub kind: String,
    /// The names of its events. Empty: all that it handles.
    pub events: Vec<String>,
    /// The matcher as written; `None`: everything.
    pub matcher: Option<String>,
    /// True in monitor mode, in which it decides nothing.
    pub monitored: bool,
    /// The SHA-256 of the component in hexadecimal, if it is loaded.
    pub digest: Option<String>,
    /// The publisher of the component, if it is loaded and their signature was verified.
    pub publisher: Option<String>,
    /// The timeout, in ms.
    pub timeout_ms: u64,
    /// The maximum fuel of one call, for components.
    pub fuel: Option<u64>,
    /// Descriptions of what it may access.
    pub grants: Vec<String>,
    /// Descriptions of what it may decide and change.
    pub authority: Vec<String>,
}

impl HookSet {
    /// The facts about each hook, in configuration order.
    pub fn facts(&self) -> Vec<HookFacts> {
        self.hooks.entries().iter().map(facts).collect()
    }
}

fn facts(entry: &Entry) -> HookFacts {
    let hook = &entry.hook;
    let fuel = match &hook.handler {
        Handler::Wasm(wasm) => Some(wasm.limits.fuel),
        _ => None,
    };
    HookFacts {
        hook: entry.name.to_string(),
        pointer: entry.pointer.to_string(),
        kind: hook.handler.kind().to_owned(),
        events: hook.events.clone(),
        matcher: entry.matcher.as_deref().map(str::to_owned),
        monitored: hook.mode == Mode::Monitor,
        digest: entry.loaded().and_then(|handler| handler.digest()).as_deref().map(str::to_owned),
        publisher: entry.loaded().and_then(|handler| handler.publisher()).as_deref().map(str::to_owned),
        timeout_ms: u64::try_from(hook.timeout.as_millis()).unwrap_or(u64::MAX),
        fuel,
        grants: grants(&hook.handler),
        authority: entry.bounds.as_ref().map_or_else(|| vec!["everything: it is not sandboxed".into()], authority),
    }
}

/// Descriptions of what a handler may access. Command lines and URLs are not quoted, because they may contain secrets.
fn grants(handler: &Handler) -> Vec<String> {
    let text = match handler {
        Handler::Wasm(wasm) => return permissions(&wasm.permissions),
        Handler::Command { .. } => "runs a command with the rights of this process",
        Handler::Process(_) => "runs a process with the rights of this process",
        Handler::Http { .. } => "sends the event to a server",
        Handler::Prompt { .. } => "sends the event to a model",
        Handler::Agent { .. } => "sends the event to a model that reads files",
        _ => return Vec::new(),
    };
    vec![text.to_owned()]
}

fn permissions(granted: &Permissions) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(state) = granted.state.as_ref().and_then(StateGrant::details) {
        let shared = state.namespace.map(|name| format!(", shared as {name}")).unwrap_or_default();
        let session = if state.per_session { " per session" } else { "" };
        words.push(format!("keeps state{session}{shared}"));
    }
    for http in granted.http.iter().map(HttpGrant::details) {
        words.push(format!("HTTP to {} ({})", http.origin, http.methods.join(", ")));
    }
    if let Some(llm) = granted.llm.as_ref().and_then(LlmGrant::details) {
        words.push(format!("calls the model: {} per call, {} tokens", llm.max_calls, llm.max_tokens));
    }
    words.extend(granted.read.iter().map(|(guest, host)| format!("reads {host} as {guest}")));
    words.extend(granted.write.iter().map(|(guest, host)| format!("reads and writes {host} as {guest}")));
    if !granted.env.is_empty() {
        words.push(format!("reads the environment variables {}", granted.env.join(", ")));
    }
    words
}

fn authority(granted: &Authority) -> Vec<String> {
    let mut words = Vec::new();
    let decide: Vec<_> = granted.decide.iter().map(|power| power.word()).collect();
    if !decide.is_empty() {
        words.push(format!("may {}", decide.join(", ")));
    }
    match &granted.rewrite {
        Rewrite::All => words.push("may rewrite everything".into()),
        Rewrite::Only(pointers) if pointers.is_empty() => {}
        Rewrite::Only(pointers) => words.push(format!("may rewrite {}", pointers.join(", "))),
    }
    if granted.context {
        words.push("may add to the model's context".into());
    }
    if granted.system_message {
        words.push("may show the user messages".into());
    }
    if !granted.env.is_empty() {
        words.push(format!("may set the session's {}", granted.env.join(", ")));
    }
    words
}
