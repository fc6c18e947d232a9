//! The types of the configuration file. Their doc comments are the descriptions in the JSON Schema.

mod authority;
mod handlers;
mod lenient;
mod matchers;
mod words;

use std::collections::BTreeMap;

use hookbox_sandbox::Limits;
use serde::{Deserialize, de::DeserializeOwned};
#[cfg(feature = "schema")]
use {hookbox_sandbox::WEEK, schemars::JsonSchema};

pub(super) use authority::*;
pub(super) use handlers::*;
pub(super) use lenient::{Checked, Ordered};
pub(super) use matchers::MatcherEntry;
pub(super) use words::*;

use super::{HostSettings, Mode};

/// A hookbox configuration, or the settings file of a client: keys that only the client knows are ignored.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", bound = "H: DeserializeOwned")]
#[cfg_attr(feature = "schema", schemars(title = "hookbox configuration"))]
pub(super) struct File<H> {
    /// The hook protocol. Default: `claude`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schema::dialect_names"))]
    #[expect(dead_code, reason = "read before the rest, because the form of `hooks` depends on it")]
    pub(super) dialect: Checked<String>,
    /// The JSON Schema of this file, for editors.
    #[serde(default, rename = "$schema")]
    #[expect(dead_code, reason = "for editors")]
    pub(super) schema: Checked<String>,
    /// Default limits of all hooks.
    #[serde(default)]
    pub(super) limits: Checked<Limits>,
    /// The hooks, in the form of the dialect's own settings.
    #[serde(default)]
    pub(super) hooks: Checked<H>,
    /// Handler of the permission callback, which runs before any hook.
    #[serde(default)]
    pub(super) can_use_tool: Checked<Entry>,
    /// True if a failure of hookbox itself or of a hook blocks what can be blocked.
    #[serde(default)]
    pub(super) fail_closed: Checked<bool>,
    /// Default mode of hooks: they decide (`enforce`), or only run and are recorded (`monitor`).
    #[serde(default)]
    pub(super) mode: Checked<Mode>,
    /// Settings of the host.
    #[serde(default)]
    pub(super) host: Checked<HostSettings>,
    /// Turns every hook off.
    #[serde(default)]
    pub(super) disable_all_hooks: Checked<bool>,
    /// gemini: whether hooks run at all.
    #[serde(default)]
    pub(super) hooks_config: Checked<HooksConfig>,
}

/// claude, codebuddy, blade: event → matcher groups.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Groups {
    /// Runs the hooks. Default: true.
    pub(super) enabled: Option<bool>,
    /// Default timeout of a hook, in seconds (fractions allowed).
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK)))]
    pub(super) default_timeout: Option<f64>,
    /// Result of a hook that runs past its timeout.
    pub(super) timeout_behavior: Option<SpecBehavior>,
    /// Result of a hook that fails.
    pub(super) failure_behavior: Option<SpecBehavior>,
    /// Hooks that run concurrently, at most.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub(super) max_concurrent_hooks: Option<u32>,
    /// The events.
    #[serde(flatten)]
    pub(super) events: Ordered<Checked<Vec<Checked<Group>>>>,
}

/// gemini: what its settings say about all hooks.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("additionalProperties" = true)))]
pub(super) struct HooksConfig {
    /// Runs the hooks. Default: true.
    pub(super) enabled: Option<bool>,
}

/// Handlers with one matcher.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(extend("additionalProperties" = false)))]
pub(super) struct Group {
    /// Which tools (or sources, reasons, …) the handlers are for. Default: all.
    pub(super) matcher: Option<MatcherEntry>,
    /// gemini: makes all hooks of the event run one by one, each seeing what those before it rewrote.
    #[serde(default)]
    pub(super) sequential: bool,
    /// Default timeout of the handlers, in seconds; in milliseconds under gemini.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK)))]
    pub(super) timeout: Option<f64>,
    /// The same in milliseconds.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK * 1000)))]
    pub(super) timeout_ms: Option<f64>,
    /// The handlers.
    pub(super) hooks: Vec<Checked<Entry>>,
}

/// blade-callback: event → handlers.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct Flat {
    /// The events.
    #[serde(flatten)]
    pub(super) events: Ordered<Checked<Vec<Checked<FlatEntry>>>>,
}

/// picoclaw: name → handler, with what its own configuration has beside them.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct Named {
    /// Runs the hooks. Default: true.
    pub(super) enabled: Option<bool>,
    /// Default timeouts of hook processes.
    #[serde(default)]
    pub(super) defaults: Checked<StageTimes>,
    /// Hooks that are part of `PicoClaw`, which hookbox does not run.
    #[serde(default)]
    pub(super) builtins: BTreeMap<String, Checked<BuiltinEntry>>,
    /// Hook processes, as the client's own configuration has them.
    #[serde(default)]
    pub(super) processes: BTreeMap<String, Checked<NamedEntry>>,
    /// The hooks.
    #[serde(flatten)]
    pub(super) hooks: BTreeMap<String, Checked<NamedEntry>>,
}

/// picoclaw: milliseconds for each stage; the client's own times where they are 0 or absent.
#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("additionalProperties" = false)))]
pub(super) struct StageTimes {
    /// Timeout of a notification.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = WEEK * 1000)))]
    #[serde(rename = "observer_timeout_ms")]
    pub(super) observer: Option<f64>,
    /// Timeout of a request.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = WEEK * 1000)))]
    #[serde(rename = "interceptor_timeout_ms")]
    pub(super) interceptor: Option<f64>,
    /// Timeout of an approval.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = WEEK * 1000)))]
    #[serde(rename = "approval_timeout_ms")]
    pub(super) approval: Option<f64>,
}

/// A hook that is part of `PicoClaw`.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("additionalProperties" = true)))]
pub(super) struct BuiltinEntry {
    /// Runs the hook. Default: false.
    #[serde(default)]
    pub(super) enabled: bool,
    /// Lower ones run first. Default: 0.
    #[serde(default)]
    pub(super) priority: i64,
}

/// A handler.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("unevaluatedProperties" = false)))]
pub(super) struct Entry {
    /// Its name in diagnostics.
    pub(super) name: Option<String>,
    #[serde(flatten)]
    pub(super) options: Options,
    #[serde(flatten)]
    pub(super) runs: Runs,
}

/// A handler with its matcher.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("unevaluatedProperties" = false)))]
pub(super) struct FlatEntry {
    /// Which tools the handler is for. Default: all.
    pub(super) matcher: Option<MatcherEntry>,
    #[serde(flatten)]
    pub(super) options: Options,
    #[serde(flatten)]
    pub(super) runs: Runs,
}

/// A handler with its events.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("unevaluatedProperties" = false)))]
pub(super) struct NamedEntry {
    /// True if it runs. Default: true.
    pub(super) enabled: Option<bool>,
    /// Lower ones run first. Default: 0.
    #[serde(default)]
    pub(super) priority: i64,
    /// Kinds of events that it receives as notifications: `turn_start`, `tool_exec_start`, …; `*` for all.
    #[serde(default)]
    pub(super) observe: Vec<String>,
    /// Requests it answers: `before_llm`, `after_llm`, `before_tool`, `after_tool`, `approve_tool`.
    #[serde(default)]
    pub(super) intercept: Vec<String>,
    #[serde(flatten)]
    pub(super) options: Options,
    #[serde(flatten)]
    pub(super) runs: Runs,
}
