//! The file as it is written. Doc comments here are the descriptions in the JSON Schema.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use hookbox_protocol::{Behavior, authority::Power, dialect};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::{Map, Value};

use super::types::{HostSettings, Limits, Permissions, WEEK};

/// A hookbox configuration, or the settings file of a client: keys that only the client knows are left alone.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound = "H: DeserializeOwned")]
#[schemars(title = "hookbox configuration")]
pub(super) struct File<H> {
    /// The hook protocol; `claude` unless given.
    #[serde(default)]
    #[schemars(schema_with = "dialect_names")]
    #[expect(dead_code, reason = "read before the rest, because the form of `hooks` depends on it")]
    pub(super) dialect: Checked<String>,
    /// The JSON Schema of this file, for editors.
    #[serde(default, rename = "$schema")]
    #[expect(dead_code, reason = "for editors")]
    pub(super) schema: Checked<String>,
    /// Limits of every hook that has none of its own.
    #[serde(default)]
    pub(super) limits: Checked<Limits>,
    /// The hooks, in the form of the dialect's own settings.
    #[serde(default)]
    pub(super) hooks: Checked<H>,
    /// What answers the permission callback, before any hook.
    #[serde(default)]
    pub(super) can_use_tool: Checked<Entry>,
    /// Whether a failure of hookbox itself or of a hook blocks what can be blocked.
    #[serde(default)]
    pub(super) fail_closed: Checked<bool>,
    /// Settings of the host.
    #[serde(default)]
    pub(super) host: Checked<HostSettings>,
    /// Turns every hook off.
    #[serde(default)]
    pub(super) disable_all_hooks: Checked<bool>,
}

/// claude, codebuddy, blade: event → matcher groups.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Groups {
    /// Whether any hook runs; yes unless given.
    pub(super) enabled: Option<bool>,
    /// Seconds a hook may take that says nothing of its own.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK))]
    pub(super) default_timeout: Option<f64>,
    /// What a hook that runs past its timeout counts as.
    pub(super) timeout_behavior: Option<SpecBehavior>,
    /// What a hook that fails counts as.
    pub(super) failure_behavior: Option<SpecBehavior>,
    /// Hooks that run at once at most.
    #[schemars(extend("minimum" = 1))]
    pub(super) max_concurrent_hooks: Option<u32>,
    /// The events.
    #[serde(flatten)]
    pub(super) events: Ordered<Checked<Vec<Checked<Group>>>>,
}

/// Handlers with one matcher.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct Group {
    /// Which tools (or sources, reasons, …) the handlers are for; all of them unless given.
    pub(super) matcher: Option<String>,
    /// Seconds each of the handlers may take that says nothing of its own.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK))]
    pub(super) timeout: Option<f64>,
    /// The same in milliseconds.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK * 1000))]
    pub(super) timeout_ms: Option<f64>,
    /// The handlers.
    pub(super) hooks: Vec<Checked<Entry>>,
}

/// blade-callback: event → handlers.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Flat {
    /// The events.
    #[serde(flatten)]
    pub(super) events: Ordered<Checked<Vec<Checked<FlatEntry>>>>,
}

/// picoclaw: name → handler.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Named {
    /// The hooks.
    #[serde(flatten)]
    pub(super) hooks: BTreeMap<String, Checked<NamedEntry>>,
}

/// A handler.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("unevaluatedProperties" = false))]
pub(super) struct Entry {
    #[serde(flatten)]
    pub(super) options: Options,
    #[serde(flatten)]
    pub(super) runs: Runs,
}

/// A handler with its matcher.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("unevaluatedProperties" = false))]
pub(super) struct FlatEntry {
    /// Which tools the handler is for; all of them unless given.
    pub(super) matcher: Option<String>,
    #[serde(flatten)]
    pub(super) options: Options,
    #[serde(flatten)]
    pub(super) runs: Runs,
}

/// A handler with its events.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("unevaluatedProperties" = false))]
pub(super) struct NamedEntry {
    /// Whether it runs; yes unless given.
    pub(super) enabled: Option<bool>,
    /// Lower ones run first; 0 unless given.
    #[serde(default)]
    pub(super) priority: i64,
    /// Kinds of events it is told of: `turn_start`, `tool_exec_start`, …; `*` for all.
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

/// What every kind of handler can say.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = add_unused)]
pub(super) struct Options {
    /// Seconds it may take, fractions allowed.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK))]
    pub(super) timeout: Option<f64>,
    /// The same in milliseconds.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = WEEK * 1000))]
    pub(super) timeout_ms: Option<f64>,
    /// What a failure counts as.
    pub(super) on_failure: Option<OnFailure>,
    /// What running past the timeout counts as; as `onFailure` unless given.
    pub(super) on_timeout: Option<OnFailure>,
}

/// What runs.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Runs {
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
    /// Not run by hookbox: a process that speaks `PicoClaw`'s JSON-RPC.
    Process(NotRun),
}

/// A WebAssembly component.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WasmEntry {
    /// The component's file, relative to this file.
    pub(super) component: String,
    /// What it may call; nothing unless given.
    #[serde(default)]
    pub(super) permissions: Permissions,
    /// What it may decide; `trusted` unless given.
    pub(super) authority: Option<AuthorityEntry>,
    /// What the component gets as its configuration.
    #[serde(default)]
    pub(super) config: Value,
    /// Its own limits, over those of the file.
    #[serde(default)]
    #[schemars(with = "Limits")]
    pub(super) limits: Map<String, Value>,
}

/// A command.
#[derive(Deserialize, JsonSchema)]
pub(super) struct CommandEntry {
    /// The command line for `sh -c`; the executable when there are `args`.
    pub(super) command: String,
    /// Arguments, without a shell.
    pub(super) args: Option<Vec<String>>,
}

/// An http endpoint.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HttpEntry {
    /// Where the event is posted to.
    pub(super) url: String,
    /// With these headers; `$NAME` and `${NAME}` are replaced by variables named in `allowedEnvVars`.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    /// Environment variables that headers may name.
    #[serde(default)]
    pub(super) allowed_env_vars: Vec<String>,
}

/// A question.
#[derive(Deserialize, JsonSchema)]
pub(super) struct PromptEntry {
    /// The question, with `$ARGUMENTS` for the event.
    pub(super) prompt: String,
    /// The model; the host's default unless given.
    pub(super) model: Option<String>,
}

/// A question to a model with tools.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentEntry {
    /// The question, with `$ARGUMENTS` for the event.
    pub(super) prompt: String,
    /// The model; the host's default unless given.
    pub(super) model: Option<String>,
    /// Turns at most; 10 unless given.
    #[schemars(extend("minimum" = 1))]
    pub(super) max_turns: Option<u32>,
}

/// A handler of a real client that hookbox leaves out, with a warning.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub(super) struct NotRun {}

/// A preset, or in detail.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum AuthorityEntry {
    /// A preset.
    Preset(Preset),
    /// In detail.
    Detailed(AuthorityDetails),
}

/// What a hook may decide, in a word.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Preset {
    /// Deny, ask, and add context.
    Gate,
    /// As `gate`, and rewrite everything.
    Rewriter,
    /// Everything.
    Trusted,
}

/// What a hook may decide, in detail. What is not given is not granted.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AuthorityDetails {
    /// The decisions it may make.
    #[serde(default)]
    pub(super) decide: Vec<PowerWord>,
    /// What it may rewrite.
    #[serde(default)]
    pub(super) rewrite: RewriteEntry,
    /// Whether it may add to the model's context.
    #[serde(default)]
    pub(super) context: bool,
    /// Whether it may show the user a message.
    #[serde(default)]
    pub(super) system_message: bool,
}

/// `"all"`, or JSON pointers.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum RewriteEntry {
    /// Everything.
    All(AllWord),
    /// What these JSON pointers point at, and what is below.
    Pointers(Vec<String>),
}

impl Default for RewriteEntry {
    fn default() -> Self {
        Self::Pointers(Vec::new())
    }
}

/// `"all"`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum AllWord {
    /// Everything.
    All,
}

/// An enum of words, each of which stands for a value of the protocol crate.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident => $target:ty { $($(#[$word_doc:meta])* $word:ident => $value:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Deserialize, JsonSchema)]
        #[serde(rename_all = "lowercase")]
        pub(super) enum $name { $($(#[$word_doc])* $word,)* }

        impl From<$name> for $target {
            fn from(word: $name) -> Self {
                match word { $($name::$word => Self::$value,)* }
            }
        }
    };
}

words! {
    /// What a failure counts as, in hookbox's words.
    OnFailure => Behavior {
        /// As if the hook had said nothing.
        Ignore => Ignore,
        /// As if it had refused.
        Block => Deny,
        /// As if it had asked for the user.
        Ask => Ask,
    }
}

words! {
    /// What a failure counts as, in the words of blade's specification.
    SpecBehavior => Behavior {
        /// As if the hook had said nothing.
        Ignore => Ignore,
        /// As if it had refused.
        Deny => Deny,
        /// As if it had asked for the user.
        Ask => Ask,
    }
}

words! {
    /// A decision.
    PowerWord => Power {
        /// Deny, or block.
        Deny => Deny,
        /// Ask the user.
        Ask => Ask,
        /// Allow without asking the user.
        Allow => Allow,
        /// Leave the call out.
        Skip => Skip,
        /// Give the tool's result.
        Respond => Respond,
        /// End the turn or the session.
        Abort => Abort,
    }
}

/// Fields of handlers that real clients know and hookbox does not use, with what they are for there.
const UNUSED: &[(&str, &str)] = &[
    ("if", "a permission rule that has to match"),
    ("once", "only once in a session"),
    ("async", "in the background"),
    ("asyncRewake", "in the background, waking the agent when it blocks"),
    ("rewakeMessage", "what a background hook says when it blocks"),
    ("rewakeSummary", "what the user sees of that"),
    ("continueOnBlock", "go on after a block"),
    ("statusMessage", "shown while the hook runs"),
    ("shell", "another shell"),
    ("description", "for people"),
];

/// Adds [`UNUSED`] to the schema, marked for the validator.
fn add_unused(schema: &mut Schema) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (name, meaning) in UNUSED {
        let property =
            serde_json::json!({ "description": "Known to a client, not used by hookbox.", "x-unused": meaning });
        properties.insert((*name).into(), property);
    }
}

fn dialect_names(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<_> = dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    json_schema!({ "type": "string", "enum": names })
}

/// A part that may be wrong without hiding what is wrong elsewhere; `None` when absent.
pub(super) struct Checked<T>(pub(super) Option<serde_json::Result<T>>);

impl<T> Default for Checked<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Checked<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|value| Self(Some(serde_json::from_value(value))))
    }
}

impl<T: JsonSchema> JsonSchema for Checked<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Keys and values in the order in which they were written.
pub(super) struct Ordered<T>(pub(super) Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Ordered<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        <BTreeMap<String, T>>::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <BTreeMap<String, T>>::json_schema(generator)
    }
}
