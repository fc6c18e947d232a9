//! The options of each type of handler.

use std::collections::BTreeMap;

use hookbox_sandbox::Permissions;
use serde::Deserialize;
use serde_json::{Map, Value};
#[cfg(feature = "schema")]
use {
    hookbox_sandbox::{Limits, WEEK},
    schemars::JsonSchema,
};

use super::{AuthorityEntry, OnFailure};
use crate::config::Mode;

/// Fields that every kind of handler has.
#[derive(Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(transform = crate::config::schema::add_unused))]
pub(in crate::config) struct Options {
    /// Its name in diagnostics, records and metrics. Default: the file name of what runs.
    pub(in crate::config) name: Option<String>,
    /// True if it decides (`enforce`), or only runs and is recorded (`monitor`). Default: as the file says.
    pub(in crate::config) mode: Option<Mode>,
    /// Seconds it may take, fractions allowed; milliseconds under gemini.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK)))]
    pub(in crate::config) timeout: Option<f64>,
    /// The same in milliseconds.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK * 1000)))]
    pub(in crate::config) timeout_ms: Option<f64>,
    /// The result of a failure.
    pub(in crate::config) on_failure: Option<OnFailure>,
    /// The result of a timeout. Default: as `onFailure`.
    pub(in crate::config) on_timeout: Option<OnFailure>,
}

/// The kind of a handler, and its own fields.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::config) enum Runs {
    /// A WebAssembly component.
    Wasm(Box<WasmEntry>),
    /// A command that reads the event from stdin and writes the dialect's output JSON.
    Command(CommandEntry),
    /// A POST of the event.
    Http(HttpEntry),
    /// A single-turn question to a model.
    Prompt(PromptEntry),
    /// A model with read-only tools.
    Agent(AgentEntry),
    /// Not run by hookbox: a tool of an MCP server.
    McpTool(NotRun),
    /// A process that lives as long as the hooks do and speaks `PicoClaw`'s JSON-RPC on its stdin and stdout.
    Process(Box<ProcessEntry>),
    /// Not run by hookbox: a hook that is part of the client, which no entry can name.
    #[serde(skip)]
    Builtin,
    /// A handler type of the embedder; the validator knows the registered ones.
    #[serde(untagged)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Own(OwnEntry),
}

/// A handler of the embedder's own.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(in crate::config) struct OwnEntry {
    /// Its type.
    #[serde(rename = "type")]
    pub(in crate::config) kind: String,
    /// Its authority over decisions and rewrites. Default: all.
    pub(in crate::config) authority: Option<AuthorityEntry>,
    /// All else.
    #[serde(flatten)]
    pub(in crate::config) options: Map<String, Value>,
}

/// A WebAssembly component.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::config) struct WasmEntry {
    /// The component's file, relative to this file, or its reference in a registry (`oci://HOST/REPOSITORY:TAG`), which
    /// `hookbox lock` pins.
    pub(in crate::config) component: String,
    /// Its grants. Default: none.
    #[serde(default)]
    pub(in crate::config) permissions: Permissions,
    /// Its authority over decisions and rewrites. Default: `gate`.
    pub(in crate::config) authority: Option<AuthorityEntry>,
    /// The component's own configuration.
    #[serde(default)]
    pub(in crate::config) config: Value,
    /// Its own limits, over those of the file.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Limits"))]
    pub(in crate::config) limits: Map<String, Value>,
}

/// A command.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(in crate::config) struct CommandEntry {
    /// The command line for `sh -c`; the executable when there are `args`.
    pub(in crate::config) command: String,
    /// Arguments, without a shell.
    pub(in crate::config) args: Option<Vec<String>>,
}

/// An http endpoint.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::config) struct HttpEntry {
    /// The URL that receives the event.
    pub(in crate::config) url: String,
    /// With these headers; `$NAME` and `${NAME}` are replaced by variables named in `allowedEnvVars`.
    #[serde(default)]
    pub(in crate::config) headers: BTreeMap<String, String>,
    /// Environment variables that headers may name.
    #[serde(default)]
    pub(in crate::config) allowed_env_vars: Vec<String>,
    /// Its authority over decisions and rewrites. Default: all.
    pub(in crate::config) authority: Option<AuthorityEntry>,
}

/// A question.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(in crate::config) struct PromptEntry {
    /// The question, with `$ARGUMENTS` for the event.
    pub(in crate::config) prompt: String,
    /// The model. Default: the host's default.
    pub(in crate::config) model: Option<String>,
}

/// A question to a model with tools.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::config) struct AgentEntry {
    /// The question, with `$ARGUMENTS` for the event.
    pub(in crate::config) prompt: String,
    /// The model. Default: the host's default.
    pub(in crate::config) model: Option<String>,
    /// Turns at most. Default: 10.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub(in crate::config) max_turns: Option<u32>,
}

/// A hook process, as `PicoClaw`'s own configuration names it.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::config) struct ProcessEntry {
    /// The executable and its arguments, without a shell.
    #[cfg_attr(feature = "schema", schemars(extend("minItems" = 1)))]
    pub(in crate::config) command: Vec<String>,
    /// Its working directory, relative to this file. Default: that of this file.
    pub(in crate::config) dir: Option<String>,
    /// Environment variables it gets, beside `PATH`, `HOME`, `TMPDIR`, `TZ` and those of the language.
    #[serde(default)]
    pub(in crate::config) env: BTreeMap<String, String>,
    /// Variables of hookbox's own environment that it gets too.
    #[serde(default)]
    pub(in crate::config) allowed_env_vars: Vec<String>,
    /// Its transport.
    #[expect(dead_code, reason = "there is one way")]
    pub(in crate::config) transport: Option<Transport>,
    /// Seconds until it must have answered `hook.hello`. Default: 5.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK)))]
    pub(in crate::config) start_timeout: Option<f64>,
    /// Seconds for a notification. Default: `timeout`, or else 0.5.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK)))]
    pub(in crate::config) observer_timeout: Option<f64>,
    /// Seconds for a request. Default: `timeout`, or else 5.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK)))]
    pub(in crate::config) interceptor_timeout: Option<f64>,
    /// Seconds for an approval. Default: `timeout`, or else 60.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK)))]
    pub(in crate::config) approval_timeout: Option<f64>,
}

/// The transport of a hook process.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(in crate::config) enum Transport {
    /// Through its stdin and stdout.
    Stdio,
}

/// A handler of a real client that hookbox leaves out, with a warning.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("additionalProperties" = true)))]
pub(in crate::config) struct NotRun {}
